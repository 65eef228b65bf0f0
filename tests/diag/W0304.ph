// expect: W0304 at 5:23
kernel k(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  A[i :+ 256] = where(a == nan, 0.0, a)
}
