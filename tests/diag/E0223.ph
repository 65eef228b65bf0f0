// expect: E0223 at 2:8
import "/lib/my.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
