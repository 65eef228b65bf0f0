// Reinforcement learning from token log-probabilities.

/// Clipped policy objective of each token with the k3 penalty against a reference, straight from the logits.
kernel grpo(Logits: tensor<f32|bf16>[B, T, V], Ids: tensor<i32>[B, T], Old: tensor<f32>[B, T], Ref: tensor<f32>[B, T],
            Advantage: tensor<f32>[B], Loss: tensor<f32>[B, T], Clipped: tensor<u8>[B, T], temperature: f32 = 1.0,
            low: f32 = 0.2, high: f32 = 0.2, beta: f32 = 0.04) {
  let b = ctx.block.y
  let r = ctx.block.x * 4
  let id = Ids[b, r :+ 4, new]
  let advantage = Advantage[b]
  let z = Logits[b, r :+ 4, :] / temperature
  let logp = pick(z, id) - logsumexp(z)
  let ratio = exp(logp - Old[b, r :+ 4, new])
  let gain = min(ratio * advantage, clamp(ratio, 1.0 - low, 1.0 + high) * advantage)
  let d = Ref[b, r :+ 4, new] - logp
  Loss[b, r :+ 4, new] = where(id >= 0, beta * (expm1(d) - d) - gain, 0.0)
  let beyond = ratio < 1.0 - low && advantage < 0.0 || ratio > 1.0 + high && advantage > 0.0
  Clipped[b, r :+ 4, new] = u32(beyond && id >= 0)
}

/// Preference loss of whole answers: a block is a pair of sequences.
kernel dpo(Chosen: tensor<f32|bf16>[B, T, V], Rejected: tensor<f32|bf16>[B, T, V], ChosenIds: tensor<i32>[B, T],
           RejectedIds: tensor<i32>[B, T], Ref: tensor<f32>[B], Loss: tensor<f32>[B], beta: f32 = 0.1) {
  let b = ctx.block.x
  let c = ChosenIds[b, :, new]
  let d = RejectedIds[b, :, new]
  let good = sum(where(c >= 0, -cross_entropy(Chosen[b, :, :], c), 0.0))
  let bad = sum(where(d >= 0, -cross_entropy(Rejected[b, :, :], d), 0.0))
  Loss[b] = softplus(-beta * (good - bad - Ref[b]))
}
