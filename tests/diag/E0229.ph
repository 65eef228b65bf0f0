// expect: E0229 at 5:10
import "lib/private.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = _hidden(A[:])
}
