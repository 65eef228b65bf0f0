// expect: E0511 at 276:3
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let x0 = A[i :+ 256]
  var x = x0
<<120 "  for j in range(0, 60) {\n    x = x * exp(x) + sin(x) + cos(x) + tanh(x)\n  }\n">>
  B[i :+ 256] = grad(x, x0)
}
