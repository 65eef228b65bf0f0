// expect: E0515 at 1:1
//! sandbox 0

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
