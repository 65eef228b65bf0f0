// Reductions of every shape.

/// Mean and variance of each column, rows in chunks of 128: the last chunk may be ragged.
kernel column_statistics(X: tensor<f32|f16|bf16>[M, C], Mean: tensor<f32>[C], Variance: tensor<f32>[C]) {
  let c = ctx.block.x * 32
  var total: tile<f32>[1, 32] = 0.0
  for r in range(0, M, 128) {
    total += colsum(X[r :+ 128, c :+ 32])
  }
  let mean = total / f32(M)
  var squares: tile<f32>[1, 32] = 0.0
  for r in range(0, M, 128) {
    squares += colsum(square(X[r :+ 128, c :+ 32] - mean))
  }
  Mean[c :+ 32] = mean
  Variance[c :+ 32] = squares / f32(M)
}

/// Everything that a row can tell at once.
kernel row_facts(X: tensor<f32|f16|bf16>[M, C], Most: tensor<f32>[M], Least: tensor<f32>[M], At: tensor<i32>[M, 2],
                 Any: tensor<bool>[M], All: tensor<bool>[M], Variance: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  Most[r :+ 8, new] = rowmax(x)
  Least[r :+ 8, new] = rowmin(x)
  At[r :+ 8, 0 :+ 1] = rowargmax(x)
  At[r :+ 8, 1 :+ 1] = rowargmin(x)
  Any[r :+ 8, new] = rowany(x > 2.0)
  All[r :+ 8, new] = rowall(x > -2.0)
  Variance[r :+ 8, new] = rowvar(x)
}

/// The whole tensor in one block: total, mean, extremes and where the largest is.
kernel whole_tensor(X: tensor<f32|f16|bf16>[M, C], Total: tensor<f32>[1], Mean: tensor<f32>[1], Range: tensor<f32>[2],
                    At: tensor<i32>[1]) {
  let x = X[:, :]
  Total[0] = sum(x)
  Mean[0] = mean(x)
  Range[0] = amin(x)
  Range[1] = amax(x)
  At[0] = argmax(x)
}

/// How many rows have each class, over the batch.
kernel class_counts(T: tensor<i32>[M], Count: tensor<i32>[C]) {
  Count[:] = sum(i32(T[:, new] == iota(1, C)), axis: 0)
}

/// The middle axis of a tensor of rank 3, averaged.
kernel middle_mean(X: tensor<f32|f16>[A, B, C], Mean: tensor<f32>[A, C]) {
  let a = ctx.block.x * 2
  Mean[a :+ 2, new, :] = mean(X[a :+ 2, :, :], axis: 1)
}

/// A gate's load against its mean probability, over all tokens.
kernel load_balance(X: tensor<f32|bf16>[T, E], Loss: tensor<f32>[1], coefficient: f32 = 0.01) {
  let x = X[:, :]
  let chosen = colmean(f32(iota(1, E) == rowargmax(x)))
  Loss[0] = coefficient * f32(E) * sum(chosen * colmean(softmax(x)))
}
