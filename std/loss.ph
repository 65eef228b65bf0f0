// Losses, one value a row. A row of a [R, C] tile is one sample; a loss leaves the [R, 1] column of the samples'
// losses. PyTorch reduces over the batch as well (reduction="mean" or "sum"): a kernel does that itself, often
// together with the rows of other blocks, so this library stops at the row.

/// Cross-entropy of the logits `t` (`[R, C]`) against the class of each row, `target` (`[R, 1]`, integer):
/// `logsumexp(t) - t[target]`, into `out` (`[R, 1]`). `t` is left unchanged.
///
/// Domain: any logits below `+inf`; `-inf` is a masked class. Exact to rounding for logits shifted by any constant. A
/// class outside `0 .. C - 1` picks 0: a caller that ignores rows wraps the call in `where`. Debug builds assert that no
/// class is `C` or more. Equals `torch.nn.functional.cross_entropy(t, target, reduction="none")`.
fn cross_entropy(out, t, target) {
  assert target < extent(t, 1), "there are not so many classes"
  logsumexp(out, t)
  out = out - rowsum(where(iota(1) == target, t, 0.0))
}

/// Cross-entropy as an expression: the `[R, 1]` column `logsumexp(x) - x[t]` of the logits `x` (`[R, C]`) and the
/// classes `t` (`[R, 1]`, integer).
///
/// Domain and accuracy as for the statement `cross_entropy(out, t, target)`.
/// Equals `torch.nn.functional.cross_entropy(x, t, reduction="none")`.
fn cross_entropy(x, t) {
  assert t < 0 || _has_column(x, t), "there are not so many classes"
  return logsumexp(x) - pick(x, t)
}

/// Whether `t` is a column of `x`; tiles without rows have columns too.
fn _has_column(x, t) = pick(x == x || x != x, t)

/// Negative log-likelihood of each row's class `target` (`[R, 1]`, integer) under the log-probabilities `logp` (`[R,
/// C]`), as `log_softmax` leaves them: the `[R, 1]` column `-logp[target]`.
///
/// Domain: any `logp`; a class outside `0 .. C - 1` gives 0. Debug builds assert that none is `C` or more.
/// Equals `torch.nn.functional.nll_loss(logp, target, reduction="none")`.
fn nll_loss(logp, target) {
  assert target < extent(logp, 1), "there are not so many classes"
  return -rowsum(where(iota(1) == target, logp, 0.0))
}

/// Mean squared error of each row of `a` and `b` (`[R, C]`): the `[R, 1]` column `mean((a - b)^2)`.
///
/// Domain: `|a - b| < 1.8e19`, beyond which the square is `inf`.
/// Equals the row means of `torch.nn.functional.mse_loss(a, b, reduction="none")`.
fn mse_loss(a, b) = rowmean(square(a - b))

/// Mean absolute error of each row of `a` and `b` (`[R, C]`): the `[R, 1]` column `mean(|a - b|)`.
///
/// Domain: any finite `a` and `b`.
/// Equals the row means of `torch.nn.functional.l1_loss(a, b, reduction="none")`.
fn l1_loss(a, b) = rowmean(abs(a - b))

/// Smooth L1 error of each row of `a` and `b` (`[R, C]`): the `[R, 1]` column of means of `0.5 d^2 / beta` where
/// `|d| < beta` and `|d| - 0.5 beta` elsewhere, `d = a - b`: the L1 loss with a quadratic bowl around 0, Fast R-CNN's.
///
/// Domain: any finite `a` and `b`, `beta >= 0` (at 0 it is the L1 loss).
/// Equals the row means of `torch.nn.functional.smooth_l1_loss(a, b, beta=beta, reduction="none")`.
fn smooth_l1_loss(a, b, beta) = rowmean(_smooth_l1(a - b, beta))

/// The elementwise term of `smooth_l1_loss` for a difference `d`. `d * (d / beta)` and not `d^2 / beta`: the square of
/// a small difference would underflow before a small `beta` brings it back.
fn _smooth_l1(d, beta) {
  let size = abs(d)
  return where(size < beta, 0.5 * size * (size / beta), size - 0.5 * beta)
}

/// KL divergence of each row of `q` from `p`, `p` given by its log-probabilities `logp` (both `[R, C]`): the `[R, 1]`
/// column `sum q (log q - logp)`, a `q` of 0 adding 0, also where `logp` is `-inf`.
///
/// Domain: `q >= 0`, any `logp`. The mean over the rows is PyTorch's `reduction="batchmean"`.
/// Equals the row sums of `torch.nn.functional.kl_div(logp, q, reduction="none")`.
fn kl_div(logp, q) {
  // The max only touches subnormal q: a device may flush those to 0 inside log and not in the comparison.
  return rowsum(where(q > 0.0, q * (log(max(q, 1.2e-38)) - logp), 0.0))
}

/// Binary cross-entropy of the logits `x` against the targets `y` in `[0, 1]` (both `[R, C]`), each row's mean: the
/// `[R, 1]` column of means of `max(x, 0) - x y + log(1 + e^-|x|)`, a form that neither overflows nor loses a small
/// probability.
///
/// Domain: finite `x`, `0 <= y <= 1`.
/// Equals the row means of `torch.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="none")`.
fn binary_cross_entropy_with_logits(x, y) = rowmean(max(x, 0.0) - x * y + log1p(exp(-abs(x))))
