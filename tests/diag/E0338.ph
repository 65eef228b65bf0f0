// expect: E0338 at 5:31
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  B[r :+ 8, :] = x[:, :] else 0.0
}
