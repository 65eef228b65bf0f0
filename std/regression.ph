// Losses of predictions `a` against numbers `b`, one value a row: both are [R, C] and each row's mean is taken.

/// Huber loss of each row: the `[R, 1]` column of means of `0.5 d^2` where `|d| <= delta`, else
/// `delta (|d| - 0.5 delta)`, `d = a - b`.
///
/// Domain: any finite `a` and `b`, `delta > 0`.
/// Equals the row means of `torch.nn.functional.huber_loss(a, b, delta=delta, reduction="none")`.
fn huber_loss(a, b, delta = 1.0) {
  let size = abs(a - b)
  return rowmean(where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)))
}

/// Logarithm of the hyperbolic cosine of the difference: the `[R, 1]` column of means of `log cosh d`, `d = a - b`:
/// `d^2 / 2` for small and `|d| - log 2` for large ones, accurate for both.
///
/// Domain: any finite `a` and `b`. PyTorch has none; equals the row means of `torch.log(torch.cosh(a - b))`.
fn log_cosh_loss(a, b) {
  let size = abs(a - b)
  // cosh(d) - 1 = e^2 / (2 (1 + e)), e = e^d - 1: no small difference of near numbers.
  let e = expm1(min(size, 1.0))
  let near = log1p(0.5 * e * (e / (1.0 + e)))
  let far = (size - 0.6931471805599453) + log1p(exp(-2.0 * size))
  return rowmean(where(size < 1.0, near, far))
}

/// Quantile loss, or pinball loss, of predictions `a` of the quantile `q`: the `[R, 1]` column of means of
/// `max(q d, (q - 1) d)`, `d = b - a`.
///
/// Domain: any finite `a` and `b`, `0 <= q <= 1`. PyTorch has none; equals the row means of
/// `torch.maximum(q * d, (q - 1) * d)`.
fn quantile_loss(a, b, q = 0.5) {
  let d = b - a
  return rowmean(max(q * d, (q - 1.0) * d))
}

/// Gaussian negative log-likelihood of `b` for means `a` and variances `v` (`[R, C]`, or anything that broadcasts): the
/// `[R, 1]` column of means of `0.5 (log v + (a - b)^2 / v)`. A variance below `eps` counts as `eps`, but is pulled up
/// by the slope at `eps`, as in PyTorch. The constant `0.5 log(2 pi)` is left out.
///
/// Domain: `|a - b| < 1.8e19`, `v >= 0`, `eps > 0`. Equals the row means of
/// `torch.nn.functional.gaussian_nll_loss(a, b, v, eps=eps, reduction="none")`.
fn gaussian_nll_loss(a, b, v, eps = 1e-6) {
  let variance = where(v < eps, eps + (v - stop_grad(v)), v)
  return rowmean(0.5 * (log(variance) + square(a - b) / variance))
}

/// Poisson negative log-likelihood of the counts `b` for logarithms `a` of rates: the `[R, 1]` column of means of
/// `e^a - b a`; a count of 0 at a rate of 0 adds 0. The logarithm of `b!` is left out.
///
/// Domain: `a < 88`, `b >= 0`.
/// Equals the row means of `torch.nn.functional.poisson_nll_loss(a, b, reduction="none")`.
fn poisson_nll_loss(a, b) = rowmean(exp(a) - weighted(a, b))

/// Poisson negative log-likelihood of the counts `b` for rates `a` themselves: the `[R, 1]` column of means of
/// `a - b log(a + eps)`; a count of 0 adds its rate.
///
/// Domain: `a >= 0`, `b >= 0`, `eps >= 0`. Equals the row means of
/// `torch.nn.functional.poisson_nll_loss(a, b, log_input=False, eps=eps, reduction="none")`.
fn poisson_rate_nll_loss(a, b, eps = 1e-8) = rowmean(a - weighted(log(a + eps), b))
