// expect: E0303 at 3:10
kernel both(A: tensor<i32>[M], B: tensor<i32>[M], C: tensor<bool>[M]) {
  C[:] = A[:] && B[:]
}
