// expect: E0430 at 5:25
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let y = square(A[i :+ 256])
  A[i :+ 256] = grad(y, A[i :+ 256])
}
