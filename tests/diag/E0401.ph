// expect: E0401 at 4:3
kernel k(A: tensor<f32>[M], B: tensor<f32>[N]) {
  A[ctx.block.x * 8 :+ 8] = 0.0
  B[ctx.block.x * 4 :+ 4] = 0.0
}
