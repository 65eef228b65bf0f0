// A block may be a stripe of columns as well: `:` is every row, and colmean reduces over the first axis.
kernel column_mean(X: tensor<f32|f16|bf16>[M, C], Mean: tensor<f32>[1, C]) {
  let c = ctx.block.x * 64
  Mean[:, c :+ 64] = colmean(X[:, c :+ 64])
}
