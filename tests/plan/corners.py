"""The kernels of `test_corners`: the text of each, and its sizes."""

from __future__ import annotations

from tests.plan.flow_corners import FLOW
from tests.plan.masked_corners import MASKED
from tests.plan.overwritten import OVERWRITTEN
from tests.plan.word_corners import WORDS

KERNELS = OVERWRITTEN | MASKED | FLOW | WORDS | {
    "one element beside rows": ("""
kernel run(X: tensor<f32>[40, V], Flag: tensor<f32>[3], S: tensor<f32>[40, 1], alpha: f32) {
  Flag[1] = alpha
  S[:, :] = rowsum(X[:, :])
}
""", {"V": 5}),
    "a pick of a lane outside the tensor": ("""
kernel run(A: tensor<f32>[M, V], T: tensor<i32>[M, 1], Y: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = pick(A[r :+ 8, 4 :+ 16] + 9.0, T[r :+ 8, :])
}
""", {"M": 19, "V": 11}),
    "a grid of three axes with a loop": ("""
kernel run(X: tensor<f32>[B, M, V], Y: tensor<f32>[B, M, V]) {
  let x = X[ctx.block.z, ctx.block.y * 2 :+ 2, ctx.block.x * 4 :+ 4]
  var s = 0.0
  for i in range(0, 3) {
    s = s * 0.5 + sum(x)
  }
  Y[ctx.block.z, ctx.block.y * 2 :+ 2, ctx.block.x * 4 :+ 4] = x + s
}
""", {"B": 3, "M": 5, "V": 10}),
    "classes of 64 bits and vectors of every rank": ("""
kernel run(X: tensor<f32>[M, V], T: tensor<i64>[M], W: tensor<f32>[V], Y: tensor<f32>[M, 1], Z: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :] * W[:]
  Y[r :+ 4, :] = pick(x, T[r :+ 4, new]) + rowsum(W[new, :])
  Z[r :+ 4, :] = x
}
""", {"M": 7, "V": 12}),
    "halves of which the last has no neighbour": ("""
kernel run(X: tensor<f16>[N], S: tensor<f32>[1]) {
  let x = X[:]
  S[0] = amax(-abs(x) - 1.0)
  X[:] = x * 2.0
}
""", {"N": 37}),
    "a row outside that would be stored as a vector": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[V], S: tensor<f32>[1]) {
  S[0] = sum(Y[:])
  Y[:] = X[9 :+ 1, :]
}
""", {"M": 5, "V": 12}),
    "rows that data counts": ("""
kernel run(X: tensor<f32>[M, V], I: tensor<i32>[1], Y: tensor<f32>[M, V], S: tensor<f32>[M, 1]) {
  let n = I[0] % 5
  Y[0 :+ n, :] = X[0 :+ n, :] * 2.0
  S[0 :+ n, :] = rowsum(X[0 :+ n, :])
}
""", {"M": 8, "V": 30}),
    "columns that data counts": ("""
kernel run(X: tensor<f32>[M, V], I: tensor<i32>[1], S: tensor<f32>[M, 1], T: tensor<f32>[1]) {
  let n = I[0]
  S[:, :] = rowmax(X[:, n - 20 :+ n])
  T[0] = sum(X[:, 0 :+ n])
}
""", {"M": 8, "V": 30}),
    "a fill that is overwritten": ("""
kernel run(X: tensor<f32>[M, V], F: tensor<f32>[ceildiv(M, 4)], Y: tensor<f32>[M, V], S: tensor<f32>[M, 1]) {
  let b = ctx.block.x
  let f = F[b]
  let x = X[b * 4 + 1 :+ 4, :] else f
  S[b * 4 :+ 4, :] = rowsum(x)
  Y[b * 4 :+ 4, :] = x * f
  F[b] = 3.0
}
""", {"M": 18, "V": 30}),
    "the index of the largest of a whole tile": ("""
kernel run(X: tensor<f32>[M, V], I: tensor<i32>[ceildiv(M, 4)]) {
  I[ctx.block.x] = argmax(X[ctx.block.x * 4 :+ 4, :])
}
""", {"M": 10, "V": 21}),
    "lanes of a stretched row that does not exist": ("""
kernel run(X: tensor<f32>[M, V], W: tensor<f32>[M, V], Y: tensor<f32>[ceildiv(M, 8), V], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :] + W[r + 5 :+ 1, :]
  Y[ctx.block.x :+ 1, :] = colmax(x)
  S[r :+ 8, :] = rowmax(x)
}
""", {"M": 11, "V": 6}),
    "points outside": ("""
kernel run(X: tensor<f32>[N], W: tensor<f32>[K], Y: tensor<f32>[N]) {
  let b = ctx.block.x
  Y[b * 4 :+ 4] = X[b * 4 :+ 4] + W[b - 2] * 10.0
}
""", {"N": 26, "K": 3}),
    "points stored outside": ("""
kernel run(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let b = ctx.block.x
  Y[b * 3 + 2] = sum(X[b * 3 :+ 3])
}
""", {"N": 16}),
    "what stands before and behind a tensor": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, :] = (X[r - 1 :+ 4, :] else 3.0) - (X[r + 1 :+ 4, :] else 5.0)
}
""", {"M": 10, "V": 7}),
    "a span that begins before the tensor": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8 - 3
  Y[r :+ 8, :] = X[r :+ 8, :] * 2.0
}
""", {"M": 13, "V": 6}),
    "a value that ends before its place": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = X[r + 3 :+ 8, 2 :+ 8]
  S[r :+ 8, :] = rowsum(x)
  Y[r :+ 8, 0 :+ 8] = x
}
""", {"M": 14, "V": 9}),
    "chunks of which the last is ragged": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, 1], Z: tensor<f32>[M, 16]) {
  let r = ctx.block.x * 4
  var acc: tile<f32>[4, 16] = 1.0
  for c in range(0, V, 16) {
    acc = acc * 0.5 + X[r :+ 4, c :+ 16]
  }
  Y[r :+ 4, :] = rowsum(acc)
  Z[r :+ 4, :] = acc
}
""", {"M": 6, "V": 37}),
    "padding": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, 1], Z: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = pad(X[r :+ 8, 2 :+ 12], 4.0)
  Y[r :+ 8, :] = rowsum(x)
  Z[r :+ 8, :] = f32(rowargmax(x))
}
""", {"M": 11, "V": 9}),
    "a grid of two axes": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  let c = ctx.block.y * 8
  let x = X[r :+ 4, c :+ 8]
  Y[r :+ 4, c :+ 8] = x - rowmax(x)
}
""", {"M": 10, "V": 21}),
    "reductions of every kind": ("""
kernel run(X: tensor<f32>[M, V], I: tensor<i32>[M, V], U: tensor<u32>[M, V], F: tensor<f32>[M, 6], G: tensor<i32>[M, 8],
           H: tensor<u32>[M, 2]) {
  let r = ctx.block.x * 4
  let x = abs(X[r :+ 4, 1 :+ V]) + 1.0
  let i = I[r :+ 4, 1 :+ V] % 9
  let u = U[r :+ 4, 1 :+ V] % u32(9)
  F[r :+ 4, 0 :+ 1] = rowmax(-x)
  F[r :+ 4, 1 :+ 1] = rowmin(x)
  F[r :+ 4, 2 :+ 1] = rowprod(x)
  F[r :+ 4, 3 :+ 1] = rowsum(x)
  F[r :+ 4, 4 :+ 1] = logsumexp(-x)
  F[r :+ 4, 5 :+ 1] = rowvar(x)
  G[r :+ 4, 0 :+ 1] = rowmax(i - 20)
  G[r :+ 4, 1 :+ 1] = rowmin(i + 20)
  G[r :+ 4, 2 :+ 1] = rowprod(i)
  G[r :+ 4, 3 :+ 1] = rowargmax(-x)
  G[r :+ 4, 4 :+ 1] = rowargmin(x)
  G[r :+ 4, 5 :+ 1] = i32(rowany(i == 8))
  G[r :+ 4, 6 :+ 1] = i32(rowall(i != 8))
  G[r :+ 4, 7 :+ 1] = rowsum(i)
  H[r :+ 4, 0 :+ 1] = rowmin(u + u32(7))
  H[r :+ 4, 1 :+ 1] = rowmax(u)
}
""", {"M": 6, "V": 35}),
    "the first NaN wins": ("""
kernel run(Some: tensor<f32>[M, V], G: tensor<i32>[M, 2], F: tensor<f32>[M, 2]) {
  let r = ctx.block.x * 4
  let x = Some[r :+ 4, :]
  G[r :+ 4, 0 :+ 1] = rowargmax(x)
  G[r :+ 4, 1 :+ 1] = rowargmin(x)
  F[r :+ 4, 0 :+ 1] = rowmax(x)
  F[r :+ 4, 1 :+ 1] = rowmin(x)
}
""", {"M": 9, "V": 70}),
    "a condition that is overwritten": ("""
kernel run(A: tensor<f32>[M, V], S: tensor<f32>[M, 2]) {
  let r = ctx.block.x * 4
  let x = A[r :+ 4, :]
  let flag = A[r :+ 4, 0 :+ 1] > 0.0
  A[r :+ 4, :] = -abs(x)
  S[r :+ 4, 0 :+ 1] = where(flag, rowsum(x), 1.0)
  S[r :+ 4, 1 :+ 1] = where(flag, rowsum(square(x - rowmax(x))), 2.0)
}
""", {"M": 9, "V": 20}),
    "halves of words beside others": ("""
kernel run(X: tensor<f16>[M, V], Y: tensor<f16>[M, V], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  S[r :+ 4, :] = rowsum(Y[r :+ 4, :])
  Y[r :+ 4, 0 :+ 8] = X[r :+ 4, 5 :+ 8]
}
""", {"M": 6, "V": 10}),
    "a span of whole vectors whose reader is published": ("""
kernel run(A: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  let x = A[r :+ 8, 4 :+ 16]
  A[r :+ 8, 4 :+ 16] = x * rowmax(x)
  let z = A[r :+ 8, 4 :+ 16]
  A[r :+ 8, 4 :+ 16] = z - rowmax(z)
}
""", {"M": 6, "V": 16}),
    "bytes beside others": ("""
kernel run(X: tensor<i8>[M, V], Y: tensor<u8>[M, V], S: tensor<i32>[M, 1], B: tensor<bool>[M, V]) {
  let r = ctx.block.x * 4
  S[r :+ 4, :] = rowsum(Y[r :+ 4, :]) + rowsum(i32(B[r :+ 4, :]))
  Y[r :+ 4, 0 :+ 8] = X[r :+ 4, 5 :+ 8]
}
""", {"M": 6, "V": 12}),
    "halves that are read back between words": ("""
kernel run(H: tensor<f16>[M, 5], X: tensor<f32>[M, 5], Y: tensor<f32>[M, 4]) {
  H[:, :] = X[:, :] + 0.0001
  Y[:, :] = H[:, 1 :+ 4] - X[:, 1 :+ 4]
}
""", {"M": 7}),
    "a row for all that is overwritten": ("""
kernel run(X: tensor<f32>[V, V], W: tensor<f32>[V], S: tensor<f32>[V]) {
  let w = W[:]
  S[:] = sum(X[:, :] * w, axis: 1)
  W[:] = w + 1.0
}
""", {"V": 30}),
    "three sweeps over two axes": ("""
kernel run(X: tensor<f32>[B, M, V], Y: tensor<f32>[B, M, V]) {
  let x = X[ctx.block.x, :, :]
  let y = x - amax(x)
  Y[ctx.block.x, :, :] = y / sum(y)
}
""", {"B": 3, "M": 5, "V": 21}),
    "a condition that the same sweep finds": ("""
kernel run(X: tensor<f32>[M, V], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  S[r :+ 4, :] = where(rowsum(x) > 0.0, rowmax(x), 2.0)
}
""", {"M": 7, "V": 30}),
    "every row by every other": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, M, 1]) {
  let s = rowsum(X[:, :])
  Y[:, :, :] = s[:, :, new] * s[new, :, :]
}
""", {"M": 7, "V": 30}),
    "one element of what columns are reduced to": ("""
kernel run(X: tensor<f32>[V, V], T: tensor<i32>[V, 1], Y: tensor<f32>[V, 1]) {
  Y[:, :] = pick(colsum(X[:, :]), T[:, :])
}
""", {"V": 11}),
    "one element beside no rows": ("""
kernel run(X: tensor<f32>[M, V], Flag: tensor<f32>[3], S: tensor<f32>[M, 1], alpha: f32) {
  Flag[1] = alpha
  S[:, :] = rowsum(X[:, :])
}
""", {"M": 0, "V": 5}),
    "a loop that carries five rows": ("""
kernel run(T: tensor<f32>[5, 1], X: tensor<f32>[5, V], Y: tensor<f32>[5, 1]) {
  var acc: tile<f32>[5, 1] = 0.0
  acc = T[:, :]
  for i in range(0, 3) {
    acc = acc * 0.5 + rowsum(X[:, :])
  }
  Y[:, :] = acc
}
""", {"V": 11}),
    "rows that their number singles out": ("""
kernel run(X: tensor<f32>[M, V], T: tensor<i32>[M, 1], Y: tensor<f32>[M, 1]) {
  Y[:, :] = rowsum(where(iota(0) == T[:, :], X[:, :], 0.0))
}
""", {"M": 9, "V": 6}),
    "a logarithm beside another maximum": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let x = X[:, :]
  let below = x - amax(x)
  Y[:, :] = below - log(rowsum(exp(below)))
}
""", {"M": 3, "V": 6}),
    "a loop that carries rows at the edge": ("""
kernel run(S: tensor<f32>[M, 1], X: tensor<f32>[M, V], Y: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var acc = S[r :+ 8, :]
  for i in range(0, 3) {
    acc = acc * 0.5 + rowsum(X[r :+ 8, :])
  }
  Y[r :+ 8, :] = acc
}
""", {"M": 11, "V": 11}),
    "a point just behind a row": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M]) {
  let b = ctx.block.x
  Y[b] = X[b, V] + X[b, V - 1]
}
""", {"M": 5, "V": 6}),
    "means of spans that begin before the tensor": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, ceildiv(V, 4)]) {
  let r = ctx.block.x * 8
  let c = ctx.block.y
  Y[r :+ 8, c :+ 1] = rowmean(X[r :+ 8, c * 4 - 3 :+ 9])
}
""", {"M": 5, "V": 14}),
    "an axis of six between others": ("""
kernel run(X: tensor<f32>[M, 6, V], Y: tensor<f32>[M, 6, V], Z: tensor<f32>[M, 6]) {
  let r = ctx.block.x * 2
  let x = X[r :+ 2, :, :]
  Y[r :+ 2, :, :] = x * 2.0
  Z[r :+ 2, :] = sum(x, axis: 2)
}
""", {"M": 5, "V": 5}),
    "one element padded again and again": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, 1], Z: tensor<f32>[M, 12]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, 2 :+ 12]
  let y = pad(exp(x), 4.0) + pad(cos(x), 3.0) + pad(sin(x), 2.0) * pad(tanh(x), 9.0)
  Y[r :+ 8, :] = rowsum(y)
  Z[r :+ 8, :] = y
}
""", {"M": 11, "V": 9}),
    "a store between others of another mask": ("""
kernel run(X: tensor<f32>[M, V], W: tensor<f32>[M, V], Y: tensor<f32>[M, V], Z: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, 1 :+ V]
  Y[r :+ 4, 1 :+ V] = W[r :+ 4, 1 :+ V]
  Z[r :+ 4, 1 :+ V] = x + W[r :+ 4, 3 :+ V]
  X[r :+ 4, 1 :+ V] = x * 2.0
}
""", {"M": 5, "V": 12}),
    "a value that begins before its place": ("""
kernel run(X: tensor<f32>[8, 16], Y: tensor<f32>[M, 16]) {
  let r = ctx.block.x * 8 - 3
  Y[r :+ 8, -3 :+ 8] = X[:, 0 :+ 8]
}
""", {"M": 13}),
    "moments of no lane": ("""
kernel run(X: tensor<f32>[M, V], S: tensor<f32>[M, 2]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, 11 :+ 8]
  S[r :+ 4, 0 :+ 1] = rowsum(square(x - rowmean(x)))
  S[r :+ 4, 1 :+ 1] = rowsum((x - rowmax(x)) * exp(x - rowmax(x)))
}
""", {"M": 5, "V": 9}),
    "integers that are wider than bytes": ("""
kernel run(I: tensor<i32>[M, V], Y: tensor<u8>[M, V], Z: tensor<i8>[M, V]) {
  let r = ctx.block.x * 4
  let i = I[r :+ 4, :] * 77 - 3000
  Y[r :+ 4, :] = i
  Z[r :+ 4, :] = i
}
""", {"M": 6, "V": 12}),
    "halves in registers of which the last has no neighbour": ("""
kernel run(X: tensor<f16>[N], Y: tensor<f32>[1]) {
  var s = 1.0
  for i in range(0, 3) {
    s = s * 0.5 + Y[0]
  }
  let x = abs(X[:]) * -10.0 - 1.0
  X[:] = x - amax(x)
  Y[0] = s
}
""", {"N": 37}),
    "vectors of which the last granule has one of two": ("""
kernel run(X: tensor<f32>[M, V], H: tensor<f16>[M, V], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, 4 :+ V]
  S[r :+ 4, :] = rowsum(abs(x - rowmax(x)) * H[r :+ 4, :])
}
""", {"M": 5, "V": 64}),
    "rows that the next row asks for": ("""
kernel run(X: tensor<f32>[M, V], T: tensor<i32>[M], S: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  S[r :+ 4, new] = where(T[r + 1 :+ 4, new] > 2, rowsum(X[r :+ 4, :]), 0.0)
}
""", {"M": 8, "V": 6}),
    "rows in registers and one element more": ("""
kernel run(X: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  X[r :+ 4, :] = x - rowmax(x)
}
""", {"M": 3, "V": 19}),
    "rows that are stored beside themselves too": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], Z: tensor<bf16>[M, V]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let m = rowmax(x)
  Y[r :+ 4, -2 :+ V] = x - m
  Z[r :+ 4, 5 :+ V] = x
  X[r :+ 4, :] = x * m
}
""", {"M": 5, "V": 67}),
}  # fmt: skip
