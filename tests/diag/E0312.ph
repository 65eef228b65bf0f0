// expect: E0312 at 4:18
kernel k(A: tensor<f32>[M, 16], B: tensor<f32>[M, 24], C: tensor<f32>[M, 16]) {
  let r = ctx.block.x * 8
  C[r :+ 8, :] = A[r :+ 8, :] + B[r :+ 8, :]
}
