// expect: E0226 at 1:1
// café, in Latin-1
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
