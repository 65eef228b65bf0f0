// expect: E0514 at 4:3
//! seconds 0
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
