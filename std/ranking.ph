// Margins and rankings: how far one score should lie above another. One value a row. Where a margin is just kept the
// slope is PyTorch's: that of the violation where its function clamps, 0 where it compares.

/// `max(d, 0)` with the slope of `torch.clamp(d, min=0)`, which passes at 0; `relu(d)` has none there.
fn _positive(d) = where(d < 0.0, 0.0, d)

/// Hinge loss of scores `x` against signs `y`, 1 or -1 (both `[R, C]`): the `[R, 1]` column of means of
/// `max(1 - y x, 0)`.
///
/// Domain: any finite `x`. PyTorch has none; equals the row means of `torch.clamp(1 - y * x, min=0)`.
fn hinge_loss(x, y) = rowmean(_positive(1.0 - y * x))

/// Squared hinge loss: the `[R, 1]` column of means of `max(1 - y x, 0)^2`.
///
/// Domain: `|x| < 1.8e19`. PyTorch has none; equals the row means of `torch.clamp(1 - y * x, min=0) ** 2`.
fn squared_hinge_loss(x, y) = rowmean(square(_positive(1.0 - y * x)))

/// Hinge loss of distances `x` against signs `y`, 1 or -1 (both `[R, C]`): the `[R, 1]` column of means of `x` where
/// `y` is 1 and `max(margin - x, 0)` elsewhere.
///
/// Domain: any finite `x`.
/// Equals the row means of `torch.nn.functional.hinge_embedding_loss(x, y, margin=margin, reduction="none")`.
fn hinge_embedding_loss(x, y, margin = 1.0) = rowmean(where(y > 0.0, x, _positive(margin - x)))

/// Logistic loss of scores `x` against signs `y`, 1 or -1 (both `[R, C]`): the `[R, 1]` column of means of
/// `log(1 + e^(-y x))`.
///
/// Domain: any finite `x`. Equals the row means of `torch.nn.functional.soft_margin_loss(x, y, reduction="none")`.
fn soft_margin_loss(x, y) = rowmean(softplus(-y * x))

/// Margin loss of scores `x` (`[R, C]`) against the class of each row, `t` (`[R, 1]`): the `[R, 1]` column
/// `sum over the others of max(margin - x[t] + x, 0) / C`.
///
/// Domain: finite scores, `-inf` for a class that is not there (it counts in `C`); classes in `0 .. C - 1`.
/// Equals `torch.nn.functional.multi_margin_loss(x, t, margin=margin, reduction="none")`.
fn multi_margin_loss(x, t, margin = 1.0) = rowmean(_violation(x, t, margin))

/// Margin loss with squares: the `[R, 1]` column `sum over the others of max(margin - x[t] + x, 0)^2 / C`.
///
/// Domain: as for `multi_margin_loss`, `|x| < 9e18`.
/// Equals `torch.nn.functional.multi_margin_loss(x, t, p=2, margin=margin, reduction="none")`.
fn squared_multi_margin_loss(x, t, margin = 1.0) = rowmean(square(_violation(x, t, margin)))

/// How far each class but `t` lies inside the margin.
fn _violation(x, t, margin) {
  assert t < extent(x, 1), "there are not so many classes"
  return where(iota(1, extent(x, 1)) == t, 0.0, relu(margin - (pick(x, t) - x)))
}

/// Margin loss of several labels: scores `x` and flags `y`, 1 for a row's labels and 0 elsewhere (both `[R, C]`): the
/// `[R, 1]` column `sum over labels i and others j of max(1 - (x[i] - x[j]), 0) / C`. Takes time `C^2`.
///
/// Domain: any finite `x`. Equals `torch.nn.functional.multilabel_margin_loss(x, labels, reduction="none")`, whose
/// labels are lists of classes.
fn multilabel_margin_loss(x, y) {
  let is_label = y > 0.5
  var total = f32(rowsum(is_label)) * 0.0
  for j in range(0, extent(x, 1)) {
    let inside = rowsum(where(is_label, relu(1.0 - (x - pick(x, j))), 0.0))
    total += where(pick(y, j) > 0.5, 0.0, inside)
  }
  return total / f32(extent(x, 1))
}

/// Logistic loss of several labels: logits `x` and flags `y` in `[0, 1]` (both `[R, C]`): the `[R, 1]` column of means
/// of `y softplus(-x) + (1 - y) softplus(x)`.
///
/// Domain: any `x`, `0 <= y <= 1`.
/// Equals `torch.nn.functional.multilabel_soft_margin_loss(x, y, reduction="none")`.
fn multilabel_soft_margin_loss(x, y) = binary_cross_entropy_with_logits(x, y, 1.0)

/// Ranking loss of scores `a` and `b` that should be in the order `y`, 1 for `a > b` and -1 for `b > a` (all `[R, C]`):
/// the `[R, 1]` column of means of `max(margin - y (a - b), 0)`.
///
/// Domain: any finite scores.
/// Equals the row means of `torch.nn.functional.margin_ranking_loss(a, b, y, margin=margin, reduction="none")`.
fn margin_ranking_loss(a, b, y, margin = 0.0) = rowmean(_positive(margin - y * (a - b)))

/// Triplet loss of anchors `a`, the near `p` and the far `n` (`[R, D]`): the `[R, 1]` column
/// `max(|a - p| - |a - n| + margin, 0)`, lengths Euclidean of differences to which `eps` is added.
///
/// Domain: differences below 1.8e19; `eps > 0` keeps the slope at equal rows finite.
/// Equals `torch.nn.functional.triplet_margin_loss(a, p, n, margin=margin, eps=eps, reduction="none")`.
fn triplet_margin_loss(a, p, n, margin = 1.0, eps = 1e-6) {
  let near = sqrt(rowsum(square(a - p + eps)))
  let far = sqrt(rowsum(square(a - n + eps)))
  return _positive(near - far + margin)
}

/// Cosine loss of rows `a` and `b` (`[R, D]`) that should agree where `y` (`[R, 1]`) is 1 and not where it is -1: the
/// `[R, 1]` column `1 - cos` or `max(cos - margin, 0)`. Rows of zeros have cosine 0 and a finite slope.
///
/// Domain: row lengths below 4e9 (their squares are multiplied).
/// Equals `torch.nn.functional.cosine_embedding_loss(a, b, y, margin=margin, reduction="none")`.
fn cosine_embedding_loss(a, b, y, margin = 0.0) {
  let cosine = rowsum(a * b) * rsqrt(rowsum(square(a)) + 1e-12) * rsqrt(rowsum(square(b)) + 1e-12)
  return where(y > 0.0, 1.0 - cosine, _positive(cosine - margin))
}
