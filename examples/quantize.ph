// Rows as 8-bit integers and one scale each. A float needs i32() on its way into an integer tensor; an 8-bit element is
// widened when it is read. How four of them share a word is never visible.
kernel quantize(X: tensor<f32|f16|bf16>[M, C], Q: tensor<i8>[M, C], Scale: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  let scale = max(rowmax(abs(x)) / 127.0, 1e-12)       // a row of zeros must not divide by 0
  Scale[r :+ 8, :] = scale
  Q[r :+ 8, :] = i32(round(x / scale))
}

kernel dequantize(Q: tensor<i8>[M, C], Scale: tensor<f32>[M, 1], X: tensor<f32|f16|bf16>[M, C]) {
  let r = ctx.block.x * 8
  X[r :+ 8, :] = f32(Q[r :+ 8, :]) * Scale[r :+ 8, :]
}
