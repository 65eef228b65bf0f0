// One function of the library over blocks of rows. T is chosen by the array given: arithmetic is f32 whatever it is,
// and each result is rounded once, when it is stored.
kernel softmax_rows<T: f32|f16|bf16>(X: tensor<T>[M, C], Y: tensor<T>[M, C]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = softmax(X[r :+ 8, :])
}
