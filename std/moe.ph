// Mixtures of experts: what keeps a router's logits small and its experts busy. A row of `x` ([R, E]) is a token.

/// Router z-loss of each token: the `[R, 1]` column `logsumexp(x)^2`; its mean over tokens is the loss.
///
/// Domain: as for `z_loss`. PyTorch has none; equals `torch.logsumexp(x, -1) ** 2`.
fn router_z_loss(x) = square(logsumexp(x))

/// Load balance over the tokens of the tile: the scalar `E sum over experts of f P`, `f` the share of the tokens that
/// chose an expert, `P` its mean probability. `chosen` (`[R, E]`) is 1 for a token's experts and 0 elsewhere, and a
/// constant. 1 if all are equally busy with one expert a token.
///
/// Domain: logits below `+inf`. PyTorch has none; equals
/// `E * (chosen.mean(0) * torch.softmax(x, -1).mean(0)).sum()`.
fn load_balance_loss(x, chosen) {
  let shares = colmean(stop_grad(chosen)) * colmean(softmax(x))
  return f32(extent(x, 1)) * sum(shares)
}

/// Load balance of a router that sends each token to its first largest logit, as the Switch transformer does: a scalar.
///
/// Domain: logits below `+inf`. PyTorch has none; equals `load_balance_loss` with
/// `torch.nn.functional.one_hot(torch.argmax(x, -1), E)`.
fn load_balance_loss(x) {
  let shares = colmean(onehot(rowargmax(x), extent(x, 1))) * colmean(softmax(x))
  return f32(extent(x, 1)) * sum(shares)
}
