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
}  # fmt: skip
