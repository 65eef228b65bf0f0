// expect: E0432 at 6:17
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  let y = square(A[i :+ 256])
  A[i :+ 256] = grad(y, a)
}
