// Classification losses with everything that training code asks of them.

/// Cross-entropy with class and row weights, label smoothing, z-loss, a soft cap of the logits, and the top-1 hit.
kernel weighted_ce(Logits: tensor<f32|f16|bf16>[M, V], Target: tensor<i32|i64>[M], ClassWeight: tensor<f32>[V],
                   RowWeight: tensor<f32>[M], Loss: tensor<f32>[M], ZLoss: tensor<f32>[M], Hit: tensor<u8>[M],
                   smoothing: f32 = 0.0, z: f32 = 0.0, cap: f32 = 0.0, ignore_index: i32 = -100) {
  let r = ctx.block.x * 8
  let raw = Logits[r :+ 8, :]
  let t = Target[r :+ 8, new]
  let counts = t != ignore_index && t >= 0 && t < V
  var x = raw
  if cap > 0.0 {
    x = softcap(raw, cap)
  }
  let w = ClassWeight[:]
  let lse = logsumexp(x)
  let hard = pick(w, t) * (lse - pick(x, t))
  let smooth = rowsum(w * (lse - x)) / f32(V)
  let penalty = z * square(lse)
  let loss = (1.0 - smoothing) * hard + smoothing * smooth + penalty
  Loss[r :+ 8, new] = where(counts, RowWeight[r :+ 8, new] * loss, 0.0)
  ZLoss[r :+ 8, new] = where(counts, penalty, 0.0)
  Hit[r :+ 8, new] = u32(counts && rowargmax(raw) == t)
}

/// Focal loss of a softmax: sure and right rows count little.
kernel softmax_focal(X: tensor<f32|f16|bf16>[M, C], T: tensor<i32>[M, 1], Alpha: tensor<f32>[C],
                     Loss: tensor<f32>[M, 1], gamma: f32 = 2.0) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  let t = T[r :+ 8, :]
  let logp = pick(x, t) - logsumexp(x)
  Loss[r :+ 8, :] = where(t >= 0, -pick(Alpha[:], t) * pow(-expm1(logp), gamma) * logp, 0.0)
}

/// Focal loss of a sigmoid an element, for detection; labels are flags.
kernel sigmoid_focal(X: tensor<f32|f16|bf16>[M, C], Y: tensor<bool>[M, C], Loss: tensor<f32>[M, 1], alpha: f32 = 0.25,
                     gamma: f32 = 2.0) {
  let r = ctx.block.x * 16
  let y = Y[r :+ 16, :]
  let wrong = where(y, -X[r :+ 16, :], X[r :+ 16, :])
  let weight = where(y, alpha, 1.0 - alpha)
  Loss[r :+ 16, :] = rowsum(weight * pow(sigmoid(wrong), gamma) * softplus(wrong))
}

/// Cross-entropy of a causal language model: position t is scored against token t + 1, the last one against nothing.
kernel shifted_lm_loss(Logits: tensor<f32|f16|bf16>[B, T, V], Ids: tensor<i32|i64>[B, T], Loss: tensor<f32>[B, T]) {
  let b = ctx.block.y
  let r = ctx.block.x * 4
  let x = Logits[b, r :+ 4, :]
  let following = Ids[b, r + 1 :+ 4, new] else -100
  Loss[b, r :+ 4, new] = where(following >= 0, cross_entropy(x, following), 0.0)
}

/// The same over the whole batch in one block: the mean over the rows that count.
kernel mean_ce(X: tensor<f32|f16|bf16>[M, V], T: tensor<i32>[M], Mean: tensor<f32>[1], Count: tensor<i32>[1]) {
  let t = T[:, new]
  let counts = t >= 0 && t < V
  let count = sum(counts)
  Mean[0] = sum(where(counts, cross_entropy(X[:, :], t), 0.0)) / max(f32(count), 1.0)
  Count[0] = count
}
