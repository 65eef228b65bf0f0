// expect: E0214 at 3:10
kernel k(A: tensor<f32>[M]) {
  A[:] = a * 2.0
  let a = A[:]
  A[:] = a
}
