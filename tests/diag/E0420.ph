// expect: E0420 at 5:17
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  A[i :+ 256] = grad(square(a), a)
}
