// expect: E0310 at 4:17
kernel quant(X: tensor<f32>[M], Q: tensor<i8>[M]) {
  let i = ctx.block.x * 256
  Q[i :+ 256] = X[i :+ 256] * 127.0
}
