// expect: E0133 at 3:16
kernel k(A: tensor<f32>[M]) {
  require M > 0
  A[:] = 0.0
}
