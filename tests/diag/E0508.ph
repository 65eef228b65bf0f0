// expect: E0508 at 1:8
//! chain 70
import "deep/0.ph"

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
