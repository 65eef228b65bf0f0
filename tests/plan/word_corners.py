"""Kernels of `test_corners` whose stores share words with others, or that read and write between vectors."""

from __future__ import annotations

WORDS = {
    "halves of words from an odd column on": ("""
kernel run(X: tensor<f32>[M, 32], Y: tensor<f16>[M, 32]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, 1 :+ 8] = X[r :+ 4, 0 :+ 8]
}
""", {"M": 6}),
    "whole words and halves of one tensor": ("""
kernel run(X: tensor<f32>[M, 32], Y: tensor<f16>[M, 32]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, 0 :+ 8] = X[r :+ 4, 0 :+ 8]
  Y[r :+ 4, 9 :+ 8] = X[r :+ 4, 0 :+ 8]
}
""", {"M": 6}),
    "an odd number of halves beside one that another block reads": ("""
@disjoint(Y)
kernel run(X: tensor<f32>[K], Y: tensor<f16>[K], S: tensor<f32>[ceildiv(K, 10)]) {
  let b = ctx.block.x
  Y[b * 10 :+ 9] = X[b * 10 :+ 9]
  S[b] = f32(Y[b * 10 - 1])
}
""", {"K": 47}),
    "halves of words that each are a job": ("""
kernel run(X: tensor<f32>[M, 32], Y: tensor<f16>[1, 32]) {
  Y[:, :] = colsum(X[:, :])
}
""", {"M": 40}),
    "one element of a row that is read as vectors": ("""
kernel run(X: tensor<f32>[M, 32]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  X[r :+ 4, 3 :+ 1] = rowsum(x)
}
""", {"M": 6}),
    "a span between vectors": ("""
kernel run(X: tensor<f32>[M, V], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  S[r :+ 4, :] = rowsum(X[r :+ 4, 1 :+ 16])
}
""", {"M": 6, "V": 32}),
    "rows in turn from the second on": ("""
kernel run(X: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8 + 1
  X[r :+ 8, :] = X[r :+ 8, :] * 2.0
}
""", {"M": 20, "V": 45}),
}  # fmt: skip
