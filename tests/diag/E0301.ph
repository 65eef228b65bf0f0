// expect: E0301 at 3:10
kernel add(A: tensor<i32>[M], B: tensor<u32>[M], C: tensor<i32>[M]) {
  C[:] = A[:] + B[:]
}
