// expect: E0108 at 3:7
kernel k(A: tensor<f32>[M]) {
  let new = A[:]
  A[:] = 0.0
}
