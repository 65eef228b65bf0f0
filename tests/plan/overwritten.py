"""Kernels of `test_corners` that overwrite what they, or what decides over them, has read."""

from __future__ import annotations

OVERWRITTEN = {
    "a pick from a row that is overwritten": ("""
kernel run(A: tensor<f32>[M, V], T: tensor<i32>[M, 1], Y: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = A[r :+ 8, 4 :+ 16]
  Y[r :+ 8, :] = pick(x, T[r :+ 8, :]) + rowsum(x)
  A[r :+ 8, 4 :+ 16] = x * 2.0
}
""", {"M": 19, "V": 11}),
    "a pick from a whole row that is overwritten": ("""
kernel run(A: tensor<f32>[M, V], T: tensor<i32>[M, 1], Y: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 2
  let x = A[r :+ 2, :]
  Y[r :+ 2, :] = pick(x, T[r :+ 2, :])
  A[r :+ 2, :] = x - rowmax(x)
}
""", {"M": 5, "V": 40}),
    "a pick of fewer rows than are read": ("""
kernel run(A: tensor<f32>[M, V], T: tensor<i32>[M, 1]) {
  let r = ctx.block.x * 4
  let x = A[r :+ 4, :] else 3.0
  A[r :+ 4, :] = x - pick(x, T[r :+ 4, :])
}
""", {"M": 18, "V": 43}),
    "a pick whose column is overwritten": ("""
kernel run(A: tensor<f32>[M, V], T: tensor<i32>[M, 1], Y: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 2
  let x = A[r :+ 2, :]
  let t = T[r :+ 2, :]
  Y[r :+ 2, :] = pick(x, t)
  T[r :+ 2, :] = t + 1
  A[r :+ 2, :] = x * 0.5
}
""", {"M": 5, "V": 40}),
    "a reduction of one column that is overwritten": ("""
kernel run(A: tensor<f32>[M, V], T: tensor<i32>[M, 1], Y: tensor<i32>[M, 1]) {
  let r = ctx.block.x * 2
  let x = A[r :+ 2, :]
  let t = T[r :+ 2, :]
  Y[r :+ 2, :] = rowmax(t * 3)
  T[r :+ 2, :] = t + 1
  A[r :+ 2, :] = x - rowmax(x)
}
""", {"M": 5, "V": 40}),
    "a branch that overwrites its condition": ("""
kernel run(X: tensor<f32>[M, V], F: tensor<f32>[ceildiv(M, 4)], S: tensor<f32>[ceildiv(M, 4)]) {
  let r = ctx.block.x * 4
  if F[ctx.block.x] > 0.0 {
    F[ctx.block.x] = -1.0
    S[ctx.block.x] = sum(X[r :+ 4, :])
  }
  X[r :+ 4, :] = X[r :+ 4, :] * 2.0
}
""", {"M": 18, "V": 30}),
    "a loop that overwrites its condition": ("""
kernel run(X: tensor<f32>[M, V], F: tensor<f32>[ceildiv(M, 4)]) {
  let r = ctx.block.x * 4
  while F[ctx.block.x] > 0.5 {
    F[ctx.block.x] = F[ctx.block.x] * 0.25
    X[r :+ 4, :] = X[r :+ 4, :] * 2.0
  }
}
""", {"M": 18, "V": 30}),
    "bounds of a loop that it overwrites": ("""
kernel run(X: tensor<f32>[M, V], N: tensor<i32>[ceildiv(M, 4)]) {
  let r = ctx.block.x * 4
  for i in range(0, N[ctx.block.x] % 4) {
    N[ctx.block.x] = i
    X[r :+ 4, :] = X[r :+ 4, :] + rowsum(X[r :+ 4, :])
  }
}
""", {"M": 18, "V": 30}),
    "a carried scalar that begins with what the loop overwrites": ("""
kernel run(X: tensor<f32>[M, V], F: tensor<f32>[ceildiv(M, 4)], S: tensor<f32>[ceildiv(M, 4)]) {
  let r = ctx.block.x * 4
  var s = F[ctx.block.x]
  for i in range(0, 3) {
    F[ctx.block.x] = f32(i)
    s += sum(X[r :+ 4, :])
    X[r :+ 4, :] = X[r :+ 4, :] * 0.5
  }
  S[ctx.block.x] = s
}
""", {"M": 18, "V": 30}),
    "a carried scalar that takes what the loop overwrites": ("""
kernel run(X: tensor<f32>[M, V], F: tensor<f32>[ceildiv(M, 4)], S: tensor<f32>[ceildiv(M, 4)]) {
  let r = ctx.block.x * 4
  var s = 1.0
  for i in range(0, 3) {
    s = s * 0.5 + F[ctx.block.x]
    F[ctx.block.x] = s * 3.0
    X[r :+ 4, :] = X[r :+ 4, :] * 0.5 + rowsum(X[r :+ 4, :])
  }
  S[ctx.block.x] = s
}
""", {"M": 18, "V": 30}),
    "a carried scalar that takes what the loop has stored": ("""
kernel run(X: tensor<f32>[M, V], F: tensor<f32>[ceildiv(M, 4), 2], S: tensor<f32>[ceildiv(M, 4)]) {
  let r = ctx.block.x * 4
  var s = 1.0
  for i in range(0, 3) {
    F[ctx.block.x, 0] = sum(X[r :+ 4, :]) + s
    s = s * 0.5 + F[ctx.block.x, i % 2]
    X[r :+ 4, :] = X[r :+ 4, :] * 0.5
  }
  S[ctx.block.x] = s
}
""", {"M": 18, "V": 30}),
    "a condition read before a store": ("""
kernel run(X: tensor<f32>[M, V], F: tensor<f32>[ceildiv(M, 4)], S: tensor<f32>[ceildiv(M, 4), 2]) {
  let r = ctx.block.x * 4
  let c = F[ctx.block.x]
  F[ctx.block.x] = 7.0
  if c > 0.0 {
    S[ctx.block.x, 0] = sum(X[r :+ 4, :])
    S[ctx.block.x, 1] = c
  }
}
""", {"M": 18, "V": 30}),
    "a first value read before a store": ("""
kernel run(X: tensor<f32>[M, V], F: tensor<f32>[ceildiv(M, 4)], S: tensor<f32>[ceildiv(M, 4)]) {
  let r = ctx.block.x * 4
  var s = F[ctx.block.x]
  F[ctx.block.x] = 7.0
  for i in range(0, 2) {
    s += sum(X[r :+ 4, :]) * s
    X[r :+ 4, :] = X[r :+ 4, :] * 0.5
  }
  S[ctx.block.x] = s
}
""", {"M": 18, "V": 30}),
    "columns read between three stores": ("""
kernel run(A: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  A[r :+ 4, :] = A[r :+ 4, :] * 2.0
  let s = rowsum(A[r :+ 4, 1 :+ 8])
  A[r :+ 4, :] = A[r :+ 4, :] - s
  let t = rowsum(A[r :+ 4, 2 :+ 8])
  A[r :+ 4, :] = A[r :+ 4, :] * t
}
""", {"M": 6, "V": 70}),
    "rows beside those that are overwritten": ("""
kernel run(A: tensor<f32>[M, V], S: tensor<f32>[M, 1]) {
  A[0 :+ 8, :] = A[0 :+ 8, :] * 2.0
  S[0 :+ 8, :] = rowsum(A[1 :+ 8, :])
}
""", {"M": 11, "V": 30}),
    "what a loop overwrites after its first round": ("""
kernel run(A: tensor<f32>[M, V], S: tensor<f32>[M, 3]) {
  let r = ctx.block.x * 4
  let x = A[r :+ 4, :]
  for i in range(0, 3) {
    S[r :+ 4, i :+ 1] = rowsum(x)
    A[r :+ 4, :] = A[r :+ 4, :] * 2.0
  }
}
""", {"M": 6, "V": 20}),
    "an old value behind a loop that overwrites it": ("""
kernel run(A: tensor<f32>[M, V], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  let x = A[r :+ 4, :]
  for i in range(0, 2) {
    A[r :+ 4, :] = A[r :+ 4, :] * 2.0
  }
  S[r :+ 4, :] = rowsum(x)
}
""", {"M": 6, "V": 20}),
    "a column that another lane has stored": ("""
kernel run(X: tensor<f32>[M, V], A: tensor<f32>[M, V], S: tensor<f32>[M, 2]) {
  let r = ctx.block.x * 4
  S[r :+ 4, 1 :+ 1] = A[r :+ 4, 5 :+ 1] - 1.0
  A[r :+ 4, :] = X[r :+ 4, :] * 2.0
  S[r :+ 4, 0 :+ 1] = A[r :+ 4, 3 :+ 1] + S[r :+ 4, 1 :+ 1]
}
""", {"M": 6, "V": 70}),
    "an old value behind a sum of new ones": ("""
kernel run(A: tensor<f32>[M, V], Y: tensor<f32>[M, V], Z: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  let x = A[r :+ 4, :]
  A[r :+ 4, :] = x * 0.3
  Z[r :+ 4, :] = rowsum(A[r :+ 4, 1 :+ 8])
  Y[r :+ 4, :] = x + 1.0
}
""", {"M": 6, "V": 20}),
    "rows that are read back, of which the last one was not stored": ("""
kernel run(A: tensor<f32>[M, V], X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  A[r :+ 4, :] = X[r + 1 :+ 4, :]
  Y[r :+ 4, :] = A[r :+ 4, :] * 2.0
}
""", {"M": 7, "V": 24}),
    "a condition of what was just stored": ("""
kernel run(X: tensor<f32>[M, V], A: tensor<f16>[M, 1], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  A[r :+ 4, :] = A[r :+ 4, :] * -3.0
  S[r :+ 4, :] = where(A[r :+ 4, :] > 0.0, rowmax(X[r :+ 4, :]), 2.0)
}
""", {"M": 7, "V": 30}),
    "a place that is overwritten": ("""
@disjoint(Y)
kernel run(X: tensor<f32>[M, V], I: tensor<i32>[ceildiv(M, 4)], Y: tensor<f32>[ceildiv(M, 4), 9]) {
  let b = ctx.block.x
  let s = I[b] % 11
  Y[b, s :+ 1] = sum(X[b * 4 :+ 4, :])
  I[b] = s + 1
}
""", {"M": 18, "V": 30}),
    "a length that is overwritten": ("""
kernel run(X: tensor<f32>[M, V], I: tensor<i32>[ceildiv(M, 4)], S: tensor<f32>[ceildiv(M, 4)], T: tensor<f32>[M, 1]) {
  let b = ctx.block.x
  let n = I[b] % 40
  S[b] = sum(X[b * 4 :+ 4, 0 :+ n])
  T[b * 4 :+ 4, :] = rowmax(X[b * 4 :+ 4, n :+ 9])
  I[b] = n + 1
}
""", {"M": 18, "V": 30}),
}  # fmt: skip
