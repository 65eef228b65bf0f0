// expect: E0433 at 9:13
kernel k(A: tensor<f32>[M, 1]) {
  let r = ctx.block.x
  let a = A[r, 0]
  var y = a
  while y < 100.0 {
    y = y * 2.0 + a
  }
  A[r, 0] = grad(y, a)
}
