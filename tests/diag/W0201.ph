// expect: W0201 at 3:7
kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  A[:] = 0.0
}
