// expect: E0316 at 5:30
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  B[r :+ 8, :] = rowsum(x[:, 0 :+ 4])
}
