// expect: E0513 at 8:8
fn step(y) {
  var z = y
  if z > 1.0 { z = z * 2.0 }
  return z
}

kernel k(A: tensor<f32>[M, N], B: tensor<f32>[M, N], s: f32) {
  let r = ctx.block.x * 8
  var y = s
<<1100 "  y = step(step(y))\n">>
  B[r :+ 8, :] = A[r :+ 8, :] * y
}
