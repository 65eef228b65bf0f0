// expect: E0224 at 2:8
import "../secret.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
