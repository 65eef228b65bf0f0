// expect: E0313 at 3:17
kernel k(A: tensor<f32>[1], s: f32) {
  A[0] = rowsum(s)
}
