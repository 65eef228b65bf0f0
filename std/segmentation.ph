// Overlaps of masks: probabilities `p` against labels `y` in [0, 1], one mask a row (both [R, C], C its pixels).

/// Dice loss of each mask: the `[R, 1]` column `1 - (2 sum p y + smooth) / (sum p + sum y + smooth)`.
///
/// Domain: `p >= 0`, `y >= 0`, and `smooth > 0` where a mask may be empty on both sides. PyTorch has none; equals the
/// formula in `torch.sum`.
fn dice_loss(p, y, smooth = 1.0) = 1.0 - (2.0 * rowsum(p * y) + smooth) / (rowsum(p) + rowsum(y) + smooth)

/// Tversky loss of each mask, which weighs false positives `alpha` and false negatives `beta`: the `[R, 1]` column `1 -
/// (both + smooth) / (both + alpha sum p (1 - y) + beta sum (1 - p) y + smooth)`, `both = sum p y`. With 0.5 and 0.5 it
/// is Dice's (of half the `smooth`), with 1 and 1 Jaccard's.
///
/// Domain: `0 <= p <= 1`, `0 <= y <= 1`, `smooth` as for `dice_loss`. PyTorch has none; equals the formula in
/// `torch.sum`.
fn tversky_loss(p, y, alpha = 0.5, beta = 0.5, smooth = 1.0) {
  let both = rowsum(p * y)
  let extra = rowsum(p * (1.0 - y))
  let missed = rowsum((1.0 - p) * y)
  // What is missing over the whole, and not 1 less a quotient near 1.
  let wrong = alpha * extra + beta * missed
  return wrong / (both + wrong + smooth)
}
