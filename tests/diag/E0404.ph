// expect: E0404 at 5:3
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8, :])
  A[0 :+ 8, :] = 0.0
}
