// W[:] is one row of weights, [D]. It meets the [8, D] tile as NumPy would have it: the row serves each of the eight.
kernel layer_norm_rows<T: f32|f16|bf16>(X: tensor<T>[M, D], W: tensor<f32>[D], B: tensor<f32>[D], Y: tensor<T>[M, D],
                                        eps: f32 = 1e-5) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = layer_norm(X[r :+ 8, :], W[:], B[:], eps)
}
