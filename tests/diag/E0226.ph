// expect: E0226 at 1:1
//! encode latin-1
// café
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
