// Losses between two distributions.

/// KL divergence where both sides are log-probabilities; a class of log-probability -inf adds nothing.
kernel kl_log_target(LogP: tensor<f32|bf16>[M, C], LogQ: tensor<f32|bf16>[M, C], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let q = LogQ[r :+ 8, :]
  Loss[r :+ 8, :] = rowsum(where(isfinite(q), exp(q) * (q - LogP[r :+ 8, :]), 0.0))
}

/// Distillation: T^2 KL(teacher || student) at temperature T, mixed with the student's own cross-entropy.
kernel distillation(Student: tensor<f32|f16|bf16>[M, V], Teacher: tensor<f32|f16|bf16>[M, V], Target: tensor<i32>[M, 1],
                    Loss: tensor<f32>[M, 1], temperature: f32 = 2.0, mix: f32 = 0.5) {
  let r = ctx.block.x * 4
  let s = Student[r :+ 4, :]
  let ours = log_softmax(s / temperature)
  let theirs = log_softmax(Teacher[r :+ 4, :] / temperature)
  let soft = square(temperature) * rowsum(exp(theirs) * (theirs - ours))
  Loss[r :+ 4, :] = mix * soft + (1.0 - mix) * cross_entropy(s, Target[r :+ 4, :])
}

/// A similarity matrix's columns: the log-sum-exp of each, stripes of 32 columns a block.
kernel clip_columns(S: tensor<f32|f16|bf16>[N, N], ColumnLse: tensor<f32>[N]) {
  let c = ctx.block.x * 32
  ColumnLse[c :+ 32] = logsumexp(S[:, c :+ 32], axis: 0)
}

/// Symmetric contrastive loss of each pair, from the row and the column that meet on the diagonal.
kernel clip_rows(S: tensor<f32|f16|bf16>[N, N], ColumnLse: tensor<f32>[N], Loss: tensor<f32>[N]) {
  let r = ctx.block.x * 8
  let s = S[r :+ 8, :]
  let own = rowsum(where(iota(1) == r + iota(0), s, 0.0))
  Loss[r :+ 8, new] = 0.5 * ((logsumexp(s) - own) + (ColumnLse[r :+ 8, new] - own))
}

/// Both in one block, for small batches.
kernel clip_whole(S: tensor<f32>[N, N], Loss: tensor<f32>[1], scale: f32 = 1.0) {
  let z = scale * S[:, :]
  let diagonal = sum(where(iota(0) == iota(1), z, 0.0))
  Loss[0] = (sum(logsumexp(z)) + sum(logsumexp(z, axis: 0)) - 2.0 * diagonal) / (2.0 * f32(N))
}
