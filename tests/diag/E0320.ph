// expect: E0320 at 3:24
kernel k(A: tensor<f32>[M]) {
  for i in range(8, 0, -1) {
    A[i] = 0.0
  }
}
