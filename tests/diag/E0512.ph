// expect: E0512 at 2:8
kernel k(A: tensor<f32>[M, N]) {
  let r = ctx.block.x
  var x = A[r :+ 1, :]
<<200 "  x = x - rowmax(x)\n">>
  A[r :+ 1, :] = x
}
