// expect: E0228 at 3:1
import "lib/one.ph"
import "lib/two.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = shared(A[:])
}
