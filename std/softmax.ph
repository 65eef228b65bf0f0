// The softmax family over the last axis. Each is an expression, softmax(x), and a statement, softmax(out, t).

/// Log of the sum of exponentials of each row of `t` (`[R, C]`), into `out` (`[R, 1]`): `log(sum(e^t))`, computed from
/// the row's maximum, so that it neither overflows nor underflows. The expression `logsumexp(x)` is built in.
///
/// Domain: any `t`. A row of only `-inf` gives `-inf`, a row with `+inf` gives `+inf`.
/// Equals `torch.logsumexp(t, dim=-1, keepdim=True)`.
fn logsumexp(out, t) {
  out = logsumexp(t)
}

/// Probabilities of the logits `x` (`[R, C]`), row by row: `e^x / sum(e^x)`, `[R, C]`.
///
/// Domain: any logits below `+inf`; `-inf` is a masked class of probability exactly 0; a row of only `-inf` gives NaN.
/// Relative accuracy holds for small probabilities too, and for logits shifted by any constant.
/// Equals `torch.nn.functional.softmax(x, dim=-1)`.
fn softmax(x) {
  // Not exp(x - logsumexp(x)): at logits near 1e4 the rounding of logsumexp alone costs 5e-4 of every probability.
  let shifted = exp(x - rowmax(x))
  return shifted / rowsum(shifted)
}

/// Probabilities of the logits `t` (`[R, C]`), row by row, into `out` (`[R, C]`): the statement form of `softmax(x)`.
///
/// Domain and accuracy as for `softmax(x)`. Equals `torch.nn.functional.softmax(t, dim=-1)`.
fn softmax(out, t) {
  out = softmax(t)
}

/// Log-probabilities of the logits `x` (`[R, C]`), row by row: `x - logsumexp(x)`, `[R, C]`.
///
/// Domain: any logits below `+inf`; a masked class, `-inf`, stays `-inf`; a row of only `-inf` gives NaN.
/// Equals `torch.nn.functional.log_softmax(x, dim=-1)`.
fn log_softmax(x) = x - logsumexp(x)

/// Log-probabilities of the logits `t` (`[R, C]`), row by row, into `out` (`[R, C]`): the statement form of
/// `log_softmax(x)`.
///
/// Domain and accuracy as for `log_softmax(x)`. Equals `torch.nn.functional.log_softmax(t, dim=-1)`.
fn log_softmax(out, t) {
  out = log_softmax(t)
}

/// Probabilities of the negated scores `x` (`[R, C]`), row by row: `e^-x / sum(e^-x)`, `[R, C]`.
///
/// Domain: any scores above `-inf`; `+inf` is a masked class. Equals `torch.nn.functional.softmin(x, dim=-1)`.
fn softmin(x) = softmax(-x)
