// expect: E0313 at 2:29
kernel k(A: tensor<f32>[1], s: f32) {
  A[0] = rowsum(s)
}
