// expect: E0333 at 3:5
kernel k(A: tensor<i32>[M]) {
  A[ctx.block] = 1
}
