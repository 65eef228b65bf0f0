// One step of an optimiser over tiles of any one shape, in place: the first arguments are places (a `var` or a span of
// a tensor) that hold the parameters and the optimiser's state and are overwritten, `g` is the gradient.

/// Gradient descent with momentum: `v = momentum v + (g + decay p)`, `p = p - lr v`. `v` starts at 0.
///
/// Domain: finite values. Equals a step of `torch.optim.SGD(lr, momentum, weight_decay=decay)`.
fn sgd_step(p, v, g, lr, momentum = 0.9, decay = 0.0) {
  v = momentum * v + _decayed(g, p, decay)
  p = p - lr * v
}

/// `g + decay p`; without a decay the parameter is not looked at.
fn _decayed(g, p, decay) = where(decay != 0.0, g + decay * p, g)

/// Gradient descent with Nesterov's momentum: `v = momentum v + (g + decay p)`, `p = p - lr (g + decay p + momentum
/// v)`.
///
/// Domain: finite values. Equals a step of `torch.optim.SGD(lr, momentum, weight_decay=decay, nesterov=True)`.
fn nesterov_step(p, v, g, lr, momentum = 0.9, decay = 0.0) {
  let whole = _decayed(g, p, decay)
  v = momentum * v + whole
  p = p - lr * (whole + momentum * v)
}

/// AdamW, with its decay apart from the gradient. `m` and `v`, the moments, start at 0; `step`, an integer, at 1.
///
/// Domain: `0 <= beta < 1`, `|g| < 1.8e19`. Equals a step of `torch.optim.AdamW(lr, (beta1, beta2), eps, decay)`.
fn adamw_step(p, m, v, g, lr, step, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 0.01) {
  m = beta1 * m + (1.0 - beta1) * g
  v = beta2 * v + (1.0 - beta2) * square(g)
  let size = sqrt(v / _bias(beta2, step)) + eps
  p = p * (1.0 - lr * decay) - lr * (m / _bias(beta1, step)) / size
}

/// `1 - beta^step`, without the cancellation that costs the first steps half their digits.
fn _bias(beta, step) = -expm1(f32(step) * log(beta))

/// Lion: a step of one size whose sign a running mean chooses: `p = p (1 - lr decay) - lr sign(beta1 m + (1 - beta1)
/// g)`, then `m = beta2 m + (1 - beta2) g`. `m` starts at 0.
///
/// Domain: finite values. PyTorch has none; equals the formula in `torch.sign`.
fn lion_step(p, m, g, lr, beta1 = 0.9, beta2 = 0.99, decay = 0.0) {
  p = p * (1.0 - lr * decay) - lr * sign(beta1 * m + (1.0 - beta1) * g)
  m = beta2 * m + (1.0 - beta2) * g
}

/// Norm of a gradient of any shape: the scalar `sqrt(sum(g^2))`. That of several tensors is the root of the sum of
/// their squares.
///
/// Domain: `|g| < 1.8e19`. Equals `torch.linalg.vector_norm(g)`.
fn gradient_norm(g) = sqrt(sum(square(g)))

/// What gradients of that norm are multiplied by so that it is at most `most`: `min(most / (norm + 1e-6), 1)`.
///
/// Domain: `norm >= 0`, `most > 0`; a NaN stays. Equals the factor of `torch.nn.utils.clip_grad_norm_`.
fn clip_factor(norm, most = 1.0) = min(most / (norm + 1e-6), 1.0)
