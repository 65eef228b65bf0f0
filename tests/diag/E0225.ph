// expect: E0225 at 2:8
import "no_such_file.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
