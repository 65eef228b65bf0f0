"""More kernels of `test_corners`: rows and columns of which some do not exist, beside others that do."""

from __future__ import annotations

MASKED = {
    "a row that is stretched into its place": ("""
kernel run(W: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = W[r + 5 :+ 1, :]
}
""", {"M": 11, "V": 6}),
    "a ragged tile beside a whole one": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[ceildiv(M, 8), V]) {
  Y[ctx.block.x :+ 1, :] = colmax(X[ctx.block.x * 8 :+ 8, :] + f32(iota(0)))
}
""", {"M": 11, "V": 6}),
    "one element too many": ("""
kernel run(X: tensor<f32>[8], Y: tensor<f32>[12]) {
  Y[5 :+ 8] = X[:] + 1.0
}
""", {}),
    "rows that end before others": ("""
kernel run(A: tensor<f32>[M, V], B: tensor<f32>[M, V], T: tensor<i32>[M, 1], P: tensor<f32>[M, 1],
           S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = A[r + 3 :+ 8, :]
  S[r :+ 8, :] = rowsum(B[r :+ 8, :])
  P[r + 3 :+ 8, :] = pick(x, T[r + 3 :+ 8, :])
  A[r + 3 :+ 8, :] = x * 2.0
}
""", {"M": 14, "V": 9}),
    "a loop that ends before it begins": ("""
kernel run(X: tensor<f32>[M, V], I: tensor<i32>[1], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  var acc: tile<f32>[4, 1] = 1.0
  for i in range(5, I[0] % 3) {
    acc = acc + rowsum(X[r :+ 4, :])
  }
  S[r :+ 4, :] = acc
}
""", {"M": 6, "V": 9}),
    "padding of a row that does not exist": ("""
kernel run(X: tensor<f32>[M, V], H: tensor<f16>[M, V], S: tensor<f32>[M, 2]) {
  let r = ctx.block.x
  S[r, 0] = sum(pad(X[r + 1, :], 2.0))
  S[r, 1] = sum(pad(H[r + 1, :], 2.0))
}
""", {"M": 5, "V": 45}),
}  # fmt: skip
