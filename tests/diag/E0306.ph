// expect: E0306 at 3:14
kernel k(A: tensor<i32>[1]) {
  A[0] = sum(iota(0))
}
