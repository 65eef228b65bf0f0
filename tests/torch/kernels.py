"""Kernels that the tests turn into functions of tensors."""

from __future__ import annotations

from functools import cache
from typing import Any

import tilec

SOURCE = """
/// Cross-entropy, one value a row; it knows nothing of classes to ignore.
kernel plain(Logits: tensor<f32|f16|bf16>[M, V], Target: tensor<i32|i64>[M], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  Loss[r :+ 8, new] = logsumexp(x) - pick(x, Target[r :+ 8, new])
}

/// The same as a column, with a class to ignore.
kernel ignoring(Logits: tensor<f32|f16|bf16>[M, V], Target: tensor<i32|i64>[M, 1], Loss: tensor<f32>[M, 1],
                alpha: f32 = 0.0, ignore_index: i32 = -100) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  let t = Target[r :+ 8, :]
  let lse = logsumexp(x)
  let loss = lse - (1.0 - alpha) * pick(x, t) - where(alpha > 0.0, alpha * rowmean(x), 0.0)
  Loss[r :+ 8, :] = where(t == ignore_index, 0.0, loss)
}

/// A distance of rows, differentiable on both sides.
kernel distance(X: tensor<f32|f16>[M, V], Y: tensor<f32|f16>[M, V], Loss: tensor<f32>[M], Largest: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let d = X[r :+ 8, :] - Y[r :+ 8, :]
  Loss[r :+ 8, new] = rowmean(square(d))
  Largest[r :+ 8, new] = rowmax(abs(d))
}

kernel updating(X: tensor<f32>[N], Loss: tensor<f32>[N]) {
  let i = ctx.block.x * 64
  Loss[i :+ 64] = square(X[i :+ 64])
  X[i :+ 64] = 0.0
}

kernel two_targets(X: tensor<f32>[M, V], A: tensor<i32>[M], B: tensor<i32>[M], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  Loss[r :+ 8, new] = pick(x, A[r :+ 8, new]) - pick(x, B[r :+ 8, new])
}

kernel total(Logits: tensor<f32>[M, V], Target: tensor<i32>[M], Loss: tensor<f32>[1]) {
  let x = Logits[:, :]
  Loss[0] = sum(logsumexp(x) - pick(x, Target[:, new]))
}
"""


@cache
def kernels() -> Any:
    return tilec.compile(source=SOURCE)
