// expect: W0404 at 4:3
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 8
  B[i :+ 4] = A[i :+ 4]
}
