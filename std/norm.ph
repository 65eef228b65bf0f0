// Normalisations over the last axis. A row of a [R, D] tile is one sample; weights and biases are [D], [1, D] or a
// scalar.

/// Layer normalisation of each row of `x` (`[R, D]`): `(x - mean(x)) / sqrt(var(x) + eps) * w + b`, `[R, D]`, where the
/// variance divides by `D`. Without `w` and `b` only the normalisation.
///
/// Domain: finite `x`, `eps > 0`; squares of `x - mean(x)` must stay finite (`|x - mean(x)| < 1.8e19`).
/// Equals `torch.nn.functional.layer_norm(x, (D,), w, b, eps)`.
fn layer_norm(x, w = 1.0, b = 0.0, eps = 1e-5) = (x - rowmean(x)) * rsqrt(rowvar(x) + eps) * w + b

/// Root mean square normalisation of each row of `x` (`[R, D]`): `x / sqrt(mean(x^2) + eps) * w`, `[R, D]`. Without
/// `w` only the normalisation. The default `eps` is f32's, which is PyTorch's default too.
///
/// Domain: `|x| < 1.8e19`, `eps > 0`. Equals `torch.nn.functional.rms_norm(x, (D,), w, eps)`.
fn rms_norm(x, w = 1.0, eps = 1.1920929e-7) = x * rsqrt(rowmean(square(x)) + eps) * w

/// Each row of `x` (`[R, D]`) divided by its Euclidean length, or by `eps` where that is larger: `x / max(|x|, eps)`,
/// `[R, D]`. A row of zeros stays zeros.
///
/// Domain: row lengths between 1e-19 and 1.8e19, or rows of zeros: the squares of others leave f32's range.
/// Equals `torch.nn.functional.normalize(x, p=2, dim=-1, eps=eps)`.
fn normalize(x, eps = 1e-12) = x / max(sqrt(rowsum(square(x))), eps)

/// Batch normalisation with known statistics, as in evaluation: `(x - mean) / sqrt(variance + eps) * w + b`, `[R, D]`,
/// for per-feature `mean`, `variance`, `w` and `b` (`[D]` or `[1, D]`).
///
/// Domain: finite values, `variance >= 0`, `eps > 0`.
/// Equals `torch.nn.functional.batch_norm(x, mean, variance, w, b, training=False, eps=eps)`.
fn batch_norm(x, mean, variance, w = 1.0, b = 0.0, eps = 1e-5) = (x - mean) * rsqrt(variance + eps) * w + b

/// Cosine of the angle between each row of `a` and the same row of `b` (`[R, D]`): the `[R, 1]` column
/// `a . b / (max(|a|, eps) max(|b|, eps))`.
///
/// Domain: row lengths as for `normalize`. Equals `torch.nn.functional.cosine_similarity(a, b, dim=-1, eps=eps)`.
fn cosine_similarity(a, b, eps = 1e-8) {
  let length_a = max(sqrt(rowsum(square(a))), eps)
  let length_b = max(sqrt(rowsum(square(b))), eps)
  return rowsum(a * b) / length_a / length_b
}
