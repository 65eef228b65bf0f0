// expect: E0405 at 4:31
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  A[i :+ 256] = A[i :+ 256] + A[0]
}
