// expect: E0314 at 4:25
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  B[r :+ 8, :] = rowsum(A[r :+ 8])
}
