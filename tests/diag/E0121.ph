// expect: E0121 at 2:13
kernel k(A: tensor<f32>) {
  A[0] = 0.0
}
