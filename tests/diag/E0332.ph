// expect: E0332 at 5:38
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let b = B[i :+ 256]
  B[i :+ 256] = A[i + 1 :+ 256] else b
}
