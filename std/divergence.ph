// Divergences between distributions over the classes of a row, from their logarithms or their logits ([R, C]), one
// value a row. A class that both sides leave out (-inf) adds 0.

/// KL divergence of `q` from `p`, both given by logarithms: the `[R, 1]` column `sum q (log q - log p)`. A `q` of 0
/// adds 0, also where `logp` is `-inf`. The mean over the rows is PyTorch's `reduction="batchmean"`.
///
/// Domain: `logq <= 0`, any `logp`.
/// Equals the row sums of `torch.nn.functional.kl_div(logp, logq, reduction="none", log_target=True)`.
fn kl_div_log_target(logp, logq) {
  let q = exp(logq)
  return rowsum(where(q != 0.0, q * (logq - logp), 0.0))
}

/// Jensen-Shannon divergence of `p` and `q`, given by logarithms, and its generalisation to a mixture
/// `m = beta p + (1 - beta) q`: the `[R, 1]` column `sum beta p log(p / m) + (1 - beta) q log(q / m)`. At most log 2;
/// symmetric for a `beta` of 0.5. Absolute errors are roundings of log 2, however small the probabilities.
///
/// Domain: `logp <= 0`, `logq <= 0`, `0 < beta < 1`. PyTorch has none; equals the sum of two
/// `torch.nn.functional.kl_div(log(m), logp, log_target=True)` with weights `beta` and `1 - beta`.
fn js_div(logp, logq, beta = 0.5) {
  let p = exp(logp)
  let q = exp(logq)
  let d = logp - logq
  let log_beta = log(beta)
  let log_rest = log1p(-beta)
  // log(m / p) = logaddexp(log beta, log(1 - beta) - d), log(m / q) is that plus d: both share the logarithm.
  let tail = log1p(exp(-abs(d + (log_beta - log_rest))))
  let of_p = where(p != 0.0, p * (max(log_beta, log_rest - d) + tail), 0.0)
  let of_q = where(q != 0.0, q * (max(log_beta + d, log_rest) + tail), 0.0)
  return -rowsum(beta * of_p + (1.0 - beta) * of_q)
}

/// Distillation: `T^2` times the KL divergence of the teacher's softmax from the student's at temperature `T`, both
/// from logits: the `[R, 1]` column `T^2 sum q (log q - log p)`, `p = softmax(student / T)`, `q = softmax(teacher /
/// T)`. A class that the teacher masks adds 0.
///
/// Domain: logits below `+inf`, `temperature > 0`. Equals `T ** 2` times the row sums of
/// `torch.nn.functional.kl_div(log_softmax(student / T), log_softmax(teacher / T), reduction="none", log_target=True)`.
fn distillation_loss(student, teacher, temperature = 1.0) {
  let x = student / temperature
  let theirs = log_softmax(teacher / temperature)
  let q = exp(theirs)
  // sum q (theirs - x) + logsumexp(x), both from the row's maximum: the gradient needs no sum of q, which is 1.
  let top = stop_grad(rowmax(x))
  return square(temperature) * (rowsum(where(q != 0.0, q * (theirs - (x - top)), 0.0)) + (logsumexp(x) - top))
}
