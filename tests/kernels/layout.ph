// Reads and writes beside the block's own place.

/// The total variation of each row: neighbours' distances.
kernel total_variation(X: tensor<f32|f16|bf16>[M, C], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, new] = rowsum(abs(X[r :+ 8, 1 : C] - X[r :+ 8, 0 : C - 1]))
}

/// A three-point mean with zeros outside.
kernel smooth_rows(X: tensor<f32|f16|bf16>[M, C], Y: tensor<f32>[M, C]) {
  let r = ctx.block.x * 4
  let c = ctx.block.y * 64
  let left = X[r :+ 4, c - 1 :+ 64] else 0.0
  let right = X[r :+ 4, c + 1 :+ 64] else 0.0
  Y[r :+ 4, c :+ 64] = (left + X[r :+ 4, c :+ 64] + right) / 3.0
}

/// A gated linear unit whose two halves lie side by side.
kernel packed_swiglu<T: f32|f16|bf16>(X: tensor<T>[M, D], Y: tensor<T>[M, div(D, 2)]) {
  require D % 2 == 0, "the halves must be equal"
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = silu(X[r :+ 8, 0 :+ div(D, 2)]) * X[r :+ 8, div(D, 2) :+ div(D, 2)]
}

/// Rotary embedding in place: the halves of a row turn by the position's angles.
kernel rotary<T: f32|f16|bf16>(X: tensor<T>[M, 2 * D], Cos: tensor<f32>[M, D], Sin: tensor<f32>[M, D]) {
  let r = ctx.block.x * 4
  let a = X[r :+ 4, 0 :+ D]
  let b = X[r :+ 4, D :+ D]
  let c = Cos[r :+ 4, :]
  let s = Sin[r :+ 4, :]
  X[r :+ 4, 0 :+ D] = a * c - b * s
  X[r :+ 4, D :+ D] = b * c + a * s
}

/// A bias per column and a residual, in the residual's place.
kernel add_bias(X: tensor<f32|f16|bf16>[M, C], Bias: tensor<f32>[C], Residual: tensor<f32|f16|bf16>[M, C]) {
  let r = ctx.block.x * 8
  Residual[r :+ 8, :] += X[r :+ 8, :] + Bias[:]
}
