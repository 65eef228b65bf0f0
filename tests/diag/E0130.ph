// expect: E0130 at 3:12
kernel k(A: tensor<f32>[M]) {
  for i in range(M) {
    A[i] = 0.0
  }
}
