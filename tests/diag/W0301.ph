// expect: W0301 at 4:26
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M], C: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  C[r :+ 8, :] = rowmean(rowsum(A[r :+ 8, :]) - B[r :+ 8])
}
