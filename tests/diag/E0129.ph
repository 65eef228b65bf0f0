// expect: E0129 at 3:12
kernel k(A: tensor<f32>[M]) {
  for i in M {
    A[i] = 0.0
  }
}
