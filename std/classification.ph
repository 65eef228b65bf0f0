// Losses of logits `x` ([R, C]) against classes, beyond plain cross-entropy: options of training, focal losses, hits.
// A class column `t` is [R, 1] of integers. A logit of -inf is a masked class: as if it were not there.

/// Whether each row counts: its class `t` is a column of `x` and is not `ignore_index`; a `[R, 1]` column of bools.
/// `where(is_class(x, t), loss, 0.0)` leaves rows out: their loss and gradient are exactly 0, whatever their logits
/// are.
///
/// Domain: any. Equals `t != ignore_index`, the rows that `torch` keeps; it raises for a class outside, and so do debug
/// builds.
fn is_class(x, t, ignore_index = -100) {
  let inside = t >= 0 && t < extent(x, 1)
  assert t == ignore_index || inside, "neither a class nor the ignored one"
  return t != ignore_index && inside
}

/// A weight times a loss, both of any shape that broadcast: `w * loss`, and exactly 0 where the weight is 0, also for a
/// loss that is infinite or NaN there. For weights of tokens, of classes, of rows.
///
/// Domain: any. Equals `torch.mul(loss, w)`, which gives NaN for 0 times inf.
fn weighted(loss, w) {
  // A finite loss keeps its slope in a weight of 0.
  return where(w != 0.0 || isfinite(loss), w * loss, 0.0)
}

/// Soft cap of logits: `cap * tanh(x / cap)`, which lies between `-cap` and `cap`; any shape. A masked class, `-inf`,
/// stays one (the formula would bring it back at `-cap`).
///
/// Domain: any `x`, `cap > 0`. Equals `cap * torch.tanh(x / cap)` above `-inf`.
fn softcap(x, cap) = where(x == -inf, x, cap * tanh(x / cap))

/// Penalty of the softmax's normaliser, the `[R, 1]` column `beta * logsumexp(x)^2`; a `beta` of 0 gives 0.
///
/// Domain: any logits below `+inf`, `|logsumexp(x)| < 1.8e19`. Equals `beta * torch.logsumexp(x, -1) ** 2`.
fn z_loss(x, beta) = weighted(square(logsumexp(x)), beta)

/// Cross-entropy with label smoothing: the `[R, 1]` column `(1 - s) (lse - x[t]) + s mean(lse - x)`, `lse` the row's
/// logsumexp, `s` the smoothing. The mean is over the classes that are not masked (PyTorch's is `inf` if one is).
///
/// Domain: logits below `+inf`, `0 <= s <= 1`, a class outside `0 .. C - 1` picks 0. Shifted logits keep their
/// accuracy. Equals `torch.nn.functional.cross_entropy(x, t, label_smoothing=s, reduction="none")`.
fn cross_entropy_smooth(x, t, smoothing) {
  return _mixed(cross_entropy(x, t), _uniform(x, 1.0), smoothing)
}

/// Cross-entropy with label smoothing and weights of the classes, `w` (`[C]` or `[1, C]`): the `[R, 1]` column
/// `(1 - s) w[t] (lse - x[t]) + s mean(w (lse - x))`. A mean over a batch divides by the sum of `pick(w, t)`.
///
/// Domain: as for three arguments. Equals
/// `torch.nn.functional.cross_entropy(x, t, weight=w, label_smoothing=s, reduction="none")`.
fn cross_entropy_smooth(x, t, smoothing, w) {
  return _mixed(cross_entropy_weighted(x, t, w), _uniform(x, w), smoothing)
}

/// `(1 - s) hard + s spread`; a side that counts nothing is not looked at, an infinite one too.
fn _mixed(hard, spread, s) = where(s < 1.0, (1.0 - s) * hard, 0.0) + where(s > 0.0, s * spread, 0.0)

/// The mean over the classes that are not masked of `w (lse - x)`: every term is the difference of near numbers.
fn _uniform(x, w) {
  let classes = rowsum(where(x == -inf, 0.0, 1.0))
  return rowsum(where(x == -inf, 0.0, w * (logsumexp(x) - x))) / classes
}

/// Cross-entropy with weights of the classes, `w` (`[C]` or `[1, C]`): the `[R, 1]` column `w[t] (lse - x[t])`, 0 where
/// the weight is 0. A mean over a batch divides by the sum of `pick(w, t)`.
///
/// Domain: logits below `+inf`. Equals `torch.nn.functional.cross_entropy(x, t, weight=w, reduction="none")`.
fn cross_entropy_weighted(x, t, w) = weighted(cross_entropy(x, t), pick(w, t))

/// Cross-entropy against probabilities of the classes, `q` (`[R, C]`): the `[R, 1]` column `sum q (lse - x)`. A `q` of
/// 0 adds 0, also for a masked class.
///
/// Domain: logits below `+inf`, `q >= 0`.
/// Equals `torch.nn.functional.cross_entropy(x, q, reduction="none")` for floats `q`.
fn cross_entropy_soft(x, q) = rowsum(where(q == 0.0 && x == -inf, 0.0, q * (logsumexp(x) - x)))

/// All that the loss of a language model has: label smoothing, z-loss of weight `z`, ignored rows (`is_class`), which
/// have loss and gradient exactly 0. A `[R, 1]` column; times one over `sum(is_class(x, t))` it sums to the mean.
///
/// Domain: as for its parts. Without `z` equals
/// `torch.nn.functional.cross_entropy(x, t, ignore_index=i, label_smoothing=s, reduction="none")`.
fn training_cross_entropy(x, t, smoothing = 0.0, z = 0.0, ignore_index = -100) {
  let counts = is_class(x, t, ignore_index)
  return where(counts, cross_entropy_smooth(x, t, smoothing) + z_loss(x, z), 0.0)
}

/// How far the classes other than `t` lie above it, together: `logsumexp of the others - x[t]`. Its softplus is the
/// cross-entropy and its sigmoid is `1 - p[t]`, both accurate where `p[t]` is nearly 1. -1e4 for no other class.
fn _others_above(x, t) {
  assert t < extent(x, 1), "there are not so many classes"
  let above = logsumexp(where(iota(1, extent(x, 1)) == t, -inf, x)) - pick(x, t)
  return where(above < -1.0e4, -1.0e4, above)
}

/// Focal loss of a softmax: the `[R, 1]` column `-(1 - p)^gamma log p`, `p` the probability of the row's class. Small
/// values keep their relative accuracy, and the slope is finite at `p = 1` for any `gamma`. Class weights are
/// `weighted(focal_loss(x, t), pick(w, t))`.
///
/// Domain: logits below `+inf`, classes in `0 .. C - 1`, `gamma >= 0` (0 is cross-entropy). PyTorch has none; equals
/// `(1 - p) ** gamma * torch.nn.functional.cross_entropy(x, t, reduction="none")`.
fn focal_loss(x, t, gamma = 2.0) {
  let above = _others_above(x, t)
  return exp(-gamma * softplus(-above)) * softplus(above)
}

/// Focal loss of a sigmoid, each row's mean: the `[R, 1]` column of means of `-a (1 - p)^gamma log p`, `p` the
/// probability of an element's own label: `sigmoid(x)` and `a = alpha` where `y` is 1, `sigmoid(-x)` and
/// `a = 1 - alpha` where it is 0. A negative `alpha` weighs nothing.
///
/// Domain: finite `x`, `y` 0 or 1 (`[R, C]`), `gamma >= 0`. Equals the row means of torchvision's
/// `sigmoid_focal_loss(x, y, alpha, gamma)`; PyTorch itself has none.
fn sigmoid_focal_loss(x, y, alpha = 0.25, gamma = 2.0) {
  let is_one = y > 0.5
  let wrong = where(is_one, -x, x)
  let weight = where(alpha < 0.0, 1.0, where(is_one, alpha, 1.0 - alpha))
  return rowmean(weight * exp(-gamma * softplus(-wrong)) * softplus(wrong))
}

/// Binary cross-entropy of the logits `x` against `y` in `[0, 1]` (both `[R, C]`) where positive labels weigh
/// `pos_weight` (anything that broadcasts): the `[R, 1]` column of means of `pos_weight y softplus(-x) +
/// (1 - y) softplus(x)`. All terms are positive, so that small losses keep their relative accuracy.
///
/// Domain: any `x` (infinite ones too), `0 <= y <= 1`. Equals the row means of
/// `torch.nn.functional.binary_cross_entropy_with_logits(x, y, pos_weight=w, reduction="none")`.
fn binary_cross_entropy_with_logits(x, y, pos_weight) {
  let tail = log1p(exp(-abs(x)))
  return rowmean(weighted(max(-x, 0.0) + tail, pos_weight * y) + weighted(max(x, 0.0) + tail, 1.0 - y))
}

/// Binary cross-entropy of the probabilities `p` against `y` in `[0, 1]` (both `[R, C]`), each row's mean: the `[R, 1]`
/// column of means of `-(y log p + (1 - y) log(1 - p))`. A logarithm of 0 counts as -100, with a slope of 1e12, as
/// PyTorch has them; prefer the form with logits.
///
/// Domain: `0 <= p <= 1`, `0 <= y <= 1`.
/// Equals the row means of `torch.nn.functional.binary_cross_entropy(p, y, reduction="none")`.
fn binary_cross_entropy(p, y) {
  // Subnormal p counts as 0: a device may flush it.
  let of_one = where(p > 1.2e-38, log(p), 1.0e12 * p - 100.0)
  let of_zero = where(p < 1.0, log1p(-p), 1.0e12 * (1.0 - p) - 100.0)
  return -rowmean(y * of_one + (1.0 - y) * of_zero)
}

/// InfoNCE, the contrastive loss: similarities `s` (`[R, N]`) of each row to `N` candidates, of which column `t`
/// (`[R, 1]`) is the right one: the `[R, 1]` column `logsumexp(s / temperature) - s[t] / temperature`.
///
/// Domain: similarities below `+inf` (`-inf` leaves a candidate out), `temperature > 0`.
/// Equals `torch.nn.functional.cross_entropy(s / temperature, t, reduction="none")`.
fn info_nce(s, t, temperature = 0.07) = cross_entropy(s / temperature, t)

/// Entropy of the softmax of each row: the `[R, 1]` column `-sum p log p`, a masked class adding 0.
///
/// Domain: logits below `+inf`. Equals `torch.distributions.Categorical(logits=x).entropy()`.
fn softmax_entropy(x) {
  // log sum e^d - sum p d, d from the row's maximum: the gradient needs no sum of p, which is 1.
  let top = stop_grad(rowmax(x))
  let d = x - top
  return (logsumexp(x) - top) - rowsum(where(d == -inf, 0.0, softmax(x) * d))
}

/// Log-probability of each row's class: the `[R, 1]` column `x[t] - logsumexp(x)`.
///
/// Domain: as for `cross_entropy`.
/// Equals `-torch.nn.functional.cross_entropy(x, t, reduction="none")`.
fn class_logp(x, t) = -cross_entropy(x, t)

/// Top-1 hit of each row: the `[R, 1]` column that is 1 where the first largest logit is the class `t`, else 0.
///
/// Domain: any; a class outside is never hit. Equals `(torch.argmax(x, -1) == t).float()`.
fn top1_hit(x, t) = f32(rowargmax(x) == t)

/// Accuracy over the rows that count (`is_class`): hits over their number, a scalar; 0 where no row counts.
///
/// Domain: any. Equals `(torch.argmax(x, -1) == t)[t != ignore_index].float().mean()`.
fn token_accuracy(x, t, ignore_index = -100) {
  let counts = is_class(x, t, ignore_index)
  return f32(sum(counts && rowargmax(x) == t)) / max(f32(sum(counts)), 1.0)
}
