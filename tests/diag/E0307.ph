// expect: E0307 at 4:11
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, W], C: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let i = iota(1)
  C[r :+ 8, :] = rowsum(f32(i) * A[r :+ 8, :]) + rowsum(f32(i) * B[r :+ 8, :])
}
