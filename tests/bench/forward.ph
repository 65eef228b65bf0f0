// Forward kernels that the benchmarks run, a function of the library each, over blocks of rows.

kernel softmax_rows<T: f32|f16|bf16>(X: tensor<T>[M, V], Y: tensor<T>[M, V]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = softmax(X[r :+ 8, :])
}

kernel log_softmax_rows<T: f32|f16|bf16>(X: tensor<T>[M, V], Y: tensor<T>[M, V]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = log_softmax(X[r :+ 8, :])
}

kernel layer_norm_rows<T: f32|f16|bf16>(X: tensor<T>[M, V], W: tensor<T>[V], B: tensor<T>[V], Y: tensor<T>[M, V]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = layer_norm(X[r :+ 8, :], W[:], B[:])
}

kernel rms_norm_rows<T: f32|f16|bf16>(X: tensor<T>[M, V], W: tensor<T>[V], Y: tensor<T>[M, V]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = rms_norm(X[r :+ 8, :], W[:], 1e-6)
}

kernel mse_rows<T: f32|f16|bf16>(A: tensor<T>[M, V], B: tensor<T>[M, V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, new] = mse_loss(A[r :+ 8, :], B[r :+ 8, :])
}

kernel kl_rows<T: f32|f16|bf16>(LogP: tensor<T>[M, V], Q: tensor<T>[M, V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, new] = kl_div(LogP[r :+ 8, :], Q[r :+ 8, :])
}

kernel bce_rows<T: f32|f16|bf16>(X: tensor<T>[M, V], Y: tensor<T>[M, V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, new] = binary_cross_entropy_with_logits(X[r :+ 8, :], Y[r :+ 8, :])
}
