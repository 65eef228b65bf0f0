// expect: W0302 at 4:3
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  B[i :+ 256] = A[i + 1 :+ 256]
}
