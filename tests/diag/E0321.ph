// expect: E0321 at 5:9
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var acc = 0.0
  acc = acc + rowsum(A[r :+ 8, :])
  B[r :+ 8, :] = acc
}
