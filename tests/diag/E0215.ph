// expect: E0215 at 4:3
kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  a = a * 2.0
  A[:] = a
}
