// expect: E0139 at 4:10
kernel k(A: tensor<f32>[M], B: tensor<f32>[1]) {
  let a = A[:]
  B[0] = a.sum()
}
