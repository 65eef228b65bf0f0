// expect: E0315 at 5:28
kernel k(A: tensor<f32>[M, V], T: tensor<i32>[M, 1], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let t = T[r :+ 8, :]
  B[r :+ 8, :] = A[r :+ 8, t]
}
