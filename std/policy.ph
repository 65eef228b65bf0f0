// Policies and preferences: losses of log-probabilities, which `class_logp(x, t)` gives a token. Elementwise: a value a
// token for PPO and GRPO, a value a pair of answers for the others, of any shapes that broadcast ([R, 1] mostly). The
// log-probability of an answer is the sum over its tokens, or, for SimPO and ORPO, the mean.

/// Direct preference optimisation: `-log sigmoid(z)`, `z = beta ((chosen - rejected) - (ref_chosen - ref_rejected))`.
/// With a smoothing `s`, the chance that the labels are swapped, `(1 - s) softplus(-z) + s softplus(z)`.
///
/// Domain: finite log-probabilities, `0 <= s <= 1`. PyTorch has none; equals
/// `-torch.nn.functional.logsigmoid(z) * (1 - s) - torch.nn.functional.logsigmoid(-z) * s`.
fn dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta = 0.1, smoothing = 0.0) {
  let z = beta * ((chosen - rejected) - (ref_chosen - ref_rejected))
  return (1.0 - smoothing) * softplus(-z) + smoothing * softplus(z)
}

/// SimPO: `-log sigmoid(beta (chosen - rejected) - gamma)` of mean log-probabilities, without a reference.
///
/// Domain: finite log-probabilities. PyTorch has none; equals
/// `-torch.nn.functional.logsigmoid(beta * (chosen - rejected) - gamma)`.
fn simpo_loss(chosen, rejected, beta = 2.0, gamma = 1.0) = softplus(gamma - beta * (chosen - rejected))

/// ORPO: the chosen answer's negative log-likelihood and a log of odds, `-chosen - beta log sigmoid(log odds(chosen) -
/// log odds(rejected))`, of mean log-probabilities, `log odds(l) = l - log(1 - e^l)`.
///
/// Domain: log-probabilities at most 0 (also 0, where the odds are infinite). PyTorch has none; equals
/// `-chosen - beta * torch.nn.functional.logsigmoid(log_odds)`.
fn orpo_loss(chosen, rejected, beta = 0.1) {
  let log_odds = (chosen - rejected) - (_log1mexp(chosen) - _log1mexp(rejected))
  return beta * softplus(-log_odds) - chosen
}

/// `log(1 - e^l)` for `l <= 0`, accurate for small and for large `l`; finite at 0.
fn _log1mexp(l) {
  let near = log(-expm1(min(l, -1.0e-30)))
  return where(l > -0.6931471805599453, near, log1p(-exp(l)))
}

/// KTO: how far an answer is from what its label wants. `sigmoid(-g)` for a desirable one (`y` is 1) and `sigmoid(g)` for
/// an undesirable one (`y` is 0), `g = beta ((logp - ref_logp) - kl)`. `kl`, the batch's estimate, is a constant. The
/// weights multiply either side.
///
/// Domain: finite log-probabilities. PyTorch has none; equals `w * torch.sigmoid(beta * s * (kl - r))`, `s` 1 or -1.
fn kto_loss(logp, ref_logp, kl, y, beta = 0.1, desirable = 1.0, undesirable = 1.0) {
  let is_desirable = y > 0.5
  let gain = beta * ((logp - ref_logp) - stop_grad(kl))
  return where(is_desirable, desirable, undesirable) * sigmoid(where(is_desirable, -gain, gain))
}

/// PPO's clipped objective, negated: `-min(ratio a, clamp(ratio, 1 - low, 1 + high) a)`, `ratio = e^(logp - old)`, `a`
/// the advantage. Where the clip holds the gradient is exactly 0, and an advantage of 0 gives 0 whatever the ratio is.
///
/// Domain: finite log-probabilities; a ratio that overflows is clipped for `a > 0`, and `inf` for `a < 0`. PyTorch has
/// none; equals `-torch.min(ratio * a, torch.clamp(ratio, 1 - low, 1 + high) * a)`.
fn ppo_loss(logp, old, advantage, low = 0.2, high = 0.2) {
  let ratio = exp(logp - old)
  let is_clipped = advantage > 0.0 && ratio > 1.0 + high || advantage < 0.0 && ratio < 1.0 - low
  let bound = where(advantage > 0.0, 1.0 + high, 1.0 - low)
  return where(is_clipped, -bound * advantage, weighted(-ratio, advantage))
}

/// Estimate of the KL divergence from a reference, one token at a time, never negative: `e^d - d - 1`, `d = ref - logp`
/// (the "k3" estimator). Around 0, where the difference would cancel, by its series.
///
/// Domain: finite log-probabilities, `d < 88`. PyTorch has none; equals `torch.exp(d) - d - 1`.
fn kl_estimate(logp, ref) {
  let d = ref - logp
  let high = 0.0083333333333 + d * (0.0013888888889 + d * (0.00019841269841 + d * 0.000024801587302))
  let near = d * d * (0.5 + d * (0.16666666666667 + d * (0.041666666666667 + d * high)))
  return where(abs(d) < 0.4, near, expm1(d) - d)
}

/// GRPO's loss of a token: `ppo_loss` with the group's advantage, and `beta` times `kl_estimate` against a reference.
///
/// Domain: as for its parts. PyTorch has none; equals `ppo + beta * (torch.exp(d) - d - 1)`.
fn grpo_loss(logp, old, ref, advantage, beta = 0.04, low = 0.2, high = 0.2) {
  return ppo_loss(logp, old, advantage, low, high) + beta * kl_estimate(logp, ref)
}
