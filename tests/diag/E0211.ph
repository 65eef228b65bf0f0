// expect: E0211 at 4:7
kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  let a = a * 2.0
  A[:] = a
}
