// expect: E0319 at 3:24
kernel k(A: tensor<f32>[M], n: i32) {
  for i in range(0, M, n) {
    A[i] = 0.0
  }
}
