// Layer normalisation for training, forward and backward by hand, and softmax backward.

kernel ln_forward<T: f32|f16|bf16>(X: tensor<T>[M, D], W: tensor<f32>[D], B: tensor<f32>[D], Y: tensor<T>[M, D],
                                   Mean: tensor<f32>[M], Rstd: tensor<f32>[M], eps: f32 = 1e-5) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  let mean = rowmean(x)
  let rstd = rsqrt(rowmean(square(x - mean)) + eps)
  Mean[r :+ 8, new] = mean
  Rstd[r :+ 8, new] = rstd
  Y[r :+ 8, :] = (x - mean) * rstd * W[:] + B[:]
}

/// The gradient of the input, and 32 rows' share of the weights' gradient.
kernel ln_backward<T: f32|f16|bf16>(X: tensor<T>[M, D], W: tensor<f32>[D], Mean: tensor<f32>[M], Rstd: tensor<f32>[M],
                                    Dy: tensor<T>[M, D], Dx: tensor<T>[M, D], Part: tensor<f32>[ceildiv(M, 32), D]) {
  let p = ctx.block.x
  let w = W[:]
  var dw: tile<f32>[1, D] = 0.0
  for i in range(0, 32, 8) {
    let r = p * 32 + i
    let dy = Dy[r :+ 8, :]
    let rstd = Rstd[r :+ 8, new]
    let unit = (X[r :+ 8, :] - Mean[r :+ 8, new]) * rstd
    let g = dy * w
    Dx[r :+ 8, :] = rstd * (g - rowmean(g) - unit * rowmean(g * unit))
    dw += colsum(dy * unit)
  }
  Part[p :+ 1, :] = dw
}

/// Adds the shares up, a stripe of columns a block.
kernel sum_parts(Part: tensor<f32>[P, D], Total: tensor<f32>[D]) {
  let c = ctx.block.x * 64
  Total[c :+ 64] = colsum(Part[:, c :+ 64])
}

/// Softmax backward from the saved output: Dy becomes Dx.
kernel softmax_backward<T: f32|f16|bf16>(Y: tensor<T>[M, C], Dy: tensor<T>[M, C]) {
  let r = ctx.block.x * 8
  let y = Y[r :+ 8, :]
  let g = y * Dy[r :+ 8, :]
  Dy[r :+ 8, :] = g - y * rowsum(g)
}

/// Attention scores in place: query i of Tq ends at key Tk - Tq + i.
kernel causal_softmax(S: tensor<f32|f16|bf16>[B, H, Tq, Tk], scale: f32 = 1.0) {
  let b = ctx.block.z
  let h = ctx.block.y
  let r = ctx.block.x * 8
  let s = S[b, h, r :+ 8, :] * scale
  let seen = iota(1) <= r + iota(0) + (Tk - Tq)
  let top = rowmax(where(seen, s, -inf))
  let e = where(seen, exp(s - top), 0.0)
  S[b, h, r :+ 8, :] = e / rowsum(e)
}
