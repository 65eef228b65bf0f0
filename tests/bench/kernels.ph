// What the benchmarks run, for rows of any length.

/// Cross-entropy of each row, as in examples/token_loss.ph.
kernel token_loss(Logits: tensor<f32>[M, V], Target: tensor<i32>[M, 1], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var x = Logits[r :+ 8, :]
  cross_entropy(Loss[r :+ 8, :], x, Target[r :+ 8, :])
}

/// Cross-entropy with label smoothing `alpha` and a penalty `beta` on the squared logsumexp; the logits become the
/// loss's gradient.
kernel train_loss(
  Logits: tensor<f32>[M, V], Target: tensor<i32>[M, 1], Loss: tensor<f32>[M, 1], alpha: f32, beta: f32, scale: f32
) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  let t = Target[r :+ 8, :]
  let lse = logsumexp(x)
  Loss[r :+ 8, :] = lse - (1.0 - alpha) * pick(x, t) - alpha * rowmean(x) + beta * lse * lse
  let wanted = (1.0 - alpha) * onehot(t, extent(x, 1)) + alpha / f32(extent(x, 1))
  Logits[r :+ 8, :] = (softmax(x) * (1.0 + 2.0 * beta * lse) - wanted) * scale
}
