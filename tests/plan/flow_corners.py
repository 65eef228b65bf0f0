"""More kernels of `test_corners`: loops and branches around sweeps."""

from __future__ import annotations

FLOW = {
    "a loop whose values change places": ("""
kernel run(X: tensor<f32>[M, V], N: tensor<i32>[1], Y: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  var a = 1.0
  var b = 2.0
  for i in range(3, N[0] % 5 + 12, 2) {
    let t = a
    a = b * 0.5
    b = t + f32(i)
  }
  Y[r :+ 4, :] = rowsum(X[r :+ 4, :]) * a + b
}
""", {"M": 5, "V": 14}),
    "sums in the branches of an if": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, 1], alpha: f32) {
  let r = ctx.block.x
  let x = X[r :+ 1, :]
  var s = amax(x)
  if alpha > 1.0 {
    s = sum(exp(x - s))
  } else {
    s = sum(square(x - s))
  }
  Y[r :+ 1, :] = s + amax(x * s)
}
""", {"M": 5, "V": 70}),
    "windows that later rounds of a loop overlap": ("""
kernel run(X: tensor<f32>[M, V], S: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  var s: tile<f32>[4, 1] = 0.0
  for i in range(0, 3) {
    let x = X[r :+ 4, i * 3 :+ 40]
    X[r :+ 4, i * 3 :+ 40] = x * 0.5 + 1.0
    s += rowsum(x)
  }
  S[r :+ 4, :] = s
}
""", {"M": 5, "V": 45}),
    "a sum under two conditions of which a store asks one": ("""
kernel run(X: tensor<f32>[M, V], T: tensor<i32>[M], S: tensor<f32>[M], G: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let t = T[r :+ 4, new]
  S[r :+ 4, new] = where(t >= 3, where(t < 9, rowsum(square(x)), 1.0), 0.0)
  G[r :+ 4, :] = where(t >= 3, x * 2.0, x * 3.0)
}
""", {"M": 19, "V": 12}),
    "two sums under a condition each": ("""
kernel run(X: tensor<f32>[M, V], T: tensor<i32>[M], S: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let t = T[r :+ 4, new]
  S[r :+ 4, new] = where(t >= 3, rowsum(square(x)), 0.0) + where(t < 9, rowmax(x), 0.0)
}
""", {"M": 19, "V": 12}),
}  # fmt: skip
