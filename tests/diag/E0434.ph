// expect: E0434 at 9:13
kernel k(A: tensor<f32>[M, 1]) {
  let r = ctx.block.x
  let a = A[r, 0]
  var y = a
  for i in range(0, 5000) {
    y = sin(y) + a
  }
  A[r, 0] = grad(y, a)
}
