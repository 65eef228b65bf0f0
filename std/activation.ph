// Activations, element by element: any shape in, the same shape out.
// Where the limit at -inf is finite they give it: PyTorch gives NaN for the gated ones there (-inf * 0). At a kink the
// slope is PyTorch's, of the function that each equals: `max(x, 0.0)` has half a slope at 0, `relu(x)` none.

/// Rectified linear unit: `max(x, 0)`.
///
/// Domain: any `x`. Equals `torch.nn.functional.relu(x)`.
fn relu(x) = where(x <= 0.0, 0.0, x)

/// Rectified linear unit, capped: `min(max(x, 0), 6)`.
///
/// Domain: any `x`. Equals `torch.nn.functional.relu6(x)`.
fn relu6(x) = hardtanh(x, 0.0, 6.0)

/// Leaky rectified linear unit: `x` where `x > 0`, else `negative_slope * x`.
///
/// Domain: any `x` (at `-inf` with a slope of 0 it is NaN). Equals `torch.nn.functional.leaky_relu(x, negative_slope)`.
fn leaky_relu(x, negative_slope = 0.01) = where(x > 0.0, x, negative_slope * x)

/// Leaky rectified linear unit with a learned slope, `weight` (anything that broadcasts against `x`).
///
/// Domain: any `x` (at `-inf` with a weight of 0 it is NaN). Equals `torch.nn.functional.prelu(x, weight)`.
fn prelu(x, weight) = where(x > 0.0, x, weight * x)

/// Threshold: `x` where `x > bound`, else `value`; NaN stays NaN.
///
/// Domain: any `x`. Equals `torch.nn.functional.threshold(x, bound, value)`.
fn threshold(x, bound, value) = where(x <= bound, value, x)

/// Exponential linear unit: `x` where `x > 0`, else `alpha (e^x - 1)`.
///
/// Domain: any `x`. Equals `torch.nn.functional.elu(x, alpha)`.
fn elu(x, alpha = 1.0) = where(x > 0.0, x, alpha * expm1(x))

/// Scaled exponential linear unit: `1.0507... x` where `x > 0`, else `1.0507... * 1.6733... (e^x - 1)`, the constants
/// for which mean 0 and variance 1 are a fixed point.
///
/// Domain: any `x`. Equals `torch.nn.functional.selu(x)`.
fn selu(x) = where(x > 0.0, 1.0507009873554805 * x, 1.7580993408473766 * expm1(x))

/// Continuously differentiable exponential linear unit: `x` where `x > 0`, else `alpha (e^(x / alpha) - 1)`.
///
/// Domain: any `x`, `alpha > 0`. Equals `torch.nn.functional.celu(x, alpha)`.
fn celu(x, alpha = 1.0) = where(x > 0.0, x, alpha * expm1(x / alpha))

/// Gaussian error linear unit: `x P(x)`, where `P(x) = 0.5 (1 + erf(x / sqrt 2))` is the normal distribution function.
///
/// Domain: any `x`; small values for large negative `x` keep their relative accuracy, which `1 + erf` would lose.
/// Equals `torch.nn.functional.gelu(x)`.
fn gelu(x) {
  let tail = _normal_tail(min(abs(x), 15.0))
  return where(x < 0.0, max(x, -15.0) * tail, x * (1.0 - tail))
}

/// Probability that a normal variable exceeds `a`, `0 <= a <= 15`: `e^(-a^2 / 2)` times a polynomial in `s`,
/// `s = 1 / (1 + 0.35 a)`, a least-maximum fit of relative error 3.3e-8. At 15 it is 0 in f32.
fn _normal_tail(a) {
  let s = 1.0 / (1.0 + 0.35 * a)
  let high = 0.159391667 + s * (-0.255900732 + s * (0.144060237 - s * 0.0291638066))
  let low = 0.139621259 + s * (0.139864326 + s * (0.119815576 + s * (0.105574474 + s * (-0.0232630168 + s * high))))
  return exp(-0.5 * a * a) * (s * low)
}

/// Gaussian error linear unit by its tanh approximation: `0.5 x (1 + tanh(u))`, `u = sqrt(2 / pi) (x + 0.044715 x^3)`,
/// computed as `x sigmoid(2 u)`, which keeps the relative accuracy of small values.
///
/// Domain: any `x`. Equals `torch.nn.functional.gelu(x, approximate="tanh")`.
fn gelu_tanh(x) {
  // Beyond 15 the sigmoid is exactly 0 or 1 in f32, and the cube cannot overflow.
  let c = clamp(x, -15.0, 15.0)
  return max(x, -15.0) * sigmoid(1.5957691216057308 * (c + 0.044715 * c * c * c))
}

/// Sigmoid linear unit, or swish: `x sigmoid(x)`.
///
/// Domain: any `x`. Equals `torch.nn.functional.silu(x)`.
fn silu(x) {
  // Below -200 the product is 0 in f32; the max keeps -inf from meeting that 0.
  return max(x, -200.0) * sigmoid(x)
}

/// Mish: `x tanh(softplus(x))`, computed as `x n / (n + 2)` with `n = e^x (e^x + 2)`, which needs no tanh and keeps the
/// relative accuracy of small values.
///
/// Domain: any `x`. Equals `torch.nn.functional.mish(x)`.
fn mish(x) {
  // From 20 on the factor is 1 in f32, and below -200 it is 0.
  let e = exp(clamp(x, -200.0, 20.0))
  let n = e * (e + 2.0)
  return max(x, -200.0) * (n / (n + 2.0))
}

/// Hard tanh: `x` clamped to `low .. high`.
///
/// Domain: any `x`, `low <= high`. Equals `torch.nn.functional.hardtanh(x, low, high)`.
fn hardtanh(x, low = -1.0, high = 1.0) = where(x <= low, low, where(x >= high, high, x))

/// Hard sigmoid: `min(max(x + 3, 0), 6) / 6`.
///
/// Domain: any `x`. Equals `torch.nn.functional.hardsigmoid(x)`.
fn hardsigmoid(x) = hardtanh(x + 3.0, 0.0, 6.0) / 6.0

/// Hard swish: `x min(max(x + 3, 0), 6) / 6`.
///
/// Domain: any `x`. Equals `torch.nn.functional.hardswish(x)`.
fn hardswish(x) = max(x, -3.0) * hardsigmoid(x)

/// Hard shrinkage: 0 where `-bound <= x <= bound`, else `x`.
///
/// Domain: any `x`, `bound >= 0`. Equals `torch.nn.functional.hardshrink(x, bound)`.
fn hardshrink(x, bound = 0.5) = where(x >= -bound && x <= bound, 0.0, x)

/// Soft shrinkage: `x` moved towards 0 by `bound`, stopping there.
///
/// Domain: any `x`, `bound >= 0`. Equals `torch.nn.functional.softshrink(x, bound)`.
fn softshrink(x, bound = 0.5) = x - clamp(x, -bound, bound)

/// Soft sign: `x / (1 + |x|)`.
///
/// Domain: any `x`; 1 and -1 at the infinities. Equals `torch.nn.functional.softsign(x)`.
fn softsign(x) {
  let c = clamp(x, -1.0e18, 1.0e18)           // beyond 1e8 the quotient is exactly 1 in f32
  return c / (1.0 + abs(c))
}

/// Tanh shrinkage: `x - tanh(x)`. Around 0, where the difference would cancel, by `x^3` times a polynomial in `x^2`, a
/// least-maximum fit of relative error 6.3e-8.
///
/// Domain: any `x`. Equals `torch.nn.functional.tanhshrink(x)`.
fn tanhshrink(x) {
  let a = abs(x)
  let n = where(a <= 1.0, a, 1.0)             // and not min(a, 1.0), whose slope is a half at 1
  let s = n * n
  let high = -0.0216602784 + s * (0.00821923251 + s * (-0.00251073279 + s * 0.000420785941))
  let near = n * s * (0.333333313 + s * (-0.133331289 + s * (0.0539348277 + s * high)))
  let far = (a - 1.0) + 2.0 * sigmoid(-2.0 * a)
  let size = where(a <= 1.0, near, far)
  return where(x < 0.0, -size, size)
}

/// Log of the sigmoid: `-log(1 + e^-x)`, without overflow on either side.
///
/// Domain: any `x`. Equals `torch.nn.functional.logsigmoid(x)`.
fn logsigmoid(x) = -softplus(-x)

/// Softplus with a sharpness: `log(1 + e^(beta x)) / beta`. `softplus(x)` is built in.
///
/// Domain: any `x`, `beta > 0`. Equals `torch.nn.functional.softplus(x, beta)` but for its cut at `beta x > 20`, where
/// PyTorch returns `x`.
fn softplus(x, beta) = softplus(beta * x) / beta

/// Gated linear unit: `a sigmoid(b)` for two tiles of one shape.
///
/// Domain: any `a`, `b`. Equals `torch.nn.functional.glu` of the two side by side.
fn glu(a, b) = a * sigmoid(b)
