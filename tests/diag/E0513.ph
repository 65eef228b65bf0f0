// expect: E0513 at 2:8
kernel k(A: tensor<f32>[M, N], B: tensor<f32>[M, N], t: i32) {
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  var y = 0.0 * rowsum(x)
<<2100 "  y = y + pick(x * y, t)\n">>
  B[r :+ 8, :] = y
}
