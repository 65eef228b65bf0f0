// The mean loss of a whole batch and its gradient over the logits, as one kernel: no `ctx.block`, so that one block is
// the whole tensor. The compiler runs it as several dispatches, with as many workgroups as the rows want.

/// Cross-entropy averaged over the rows with a target of 0 and more; the logits become the gradient of that mean.
kernel batch_loss(X: tensor<f32>[M, V], T: tensor<i32>[M], Mean: tensor<f32>[1]) {
  let x = X[:, :]
  let t = T[:, new]
  let valid = t >= 0
  let mean = sum(where(valid, logsumexp(x) - pick(x, t), 0.0)) / max(f32(sum(valid)), 1.0)
  Mean[0] = mean
  X[:, :] = grad(mean, x)
}
