// The loss of a language model and its gradient over the logits, in one kernel: label smoothing, z-loss, ignored rows.
// The gradient is derived from the loss by the compiler and overwrites the logits, in one read and one write of a row
// that fits on the chip.

/// Label-smoothed cross-entropy with z-loss, one value a row: `lse - (1 - alpha) x[t] - alpha mean(x) + beta lse^2`.
fn smooth_ce(x, t, alpha, beta) {
  let lse = logsumexp(x)
  let smooth = where(alpha > 0.0, alpha * rowmean(x), 0.0)      // alpha 0 must not meet a -inf logit
  return lse - (1.0 - alpha) * pick(x, t) - smooth + beta * square(lse)
}

/// Writes each row's loss, and its gradient times `inv_norm` over the logits. A row whose target is `ignore_index`, or
/// outside `0 .. V - 1`, has loss and gradient 0, whatever its logits are.
kernel train_loss<T: f32|f16|bf16>(Logits: tensor<T>[M, V], Target: tensor<i32|i64>[M], Loss: tensor<f32>[M],
                                   alpha: f32 = 0.0, beta: f32 = 0.0, inv_norm: f32 = 1.0, ignore_index: i32 = -100) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  let t = Target[r :+ 8, new]
  let loss = where(t != ignore_index && t >= 0 && t < V, smooth_ce(x, t, alpha, beta), 0.0)
  Loss[r :+ 8, new] = loss
  Logits[r :+ 8, :] = grad(loss, x) * inv_norm
}

/// How many rows count: `inv_norm` is one over this for the mean over them.
kernel count_valid(Target: tensor<i32|i64>[M], Count: tensor<i32>[1], V: i32, ignore_index: i32 = -100) {
  let t = Target[:]
  Count[0] = sum(t != ignore_index && t >= 0 && t < V)
}

/// The sum of a vector of any length, always in the same order.
kernel sum_losses(Loss: tensor<f32>[M], Total: tensor<f32>[1]) {
  Total[0] = sum(Loss[:])
}
