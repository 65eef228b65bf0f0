// expect: E0325 at 3:10
kernel k(A: tensor<i32>[M]) {
  A[:] = 3000000000
}
