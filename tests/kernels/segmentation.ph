// Losses of images: tensors of rank 4 and 3.

/// Tversky loss of each image's class plane; with alpha = beta = 0.5 the Dice loss.
kernel tversky(X: tensor<f32|f16|bf16>[B, C, H, W], Y: tensor<u8>[B, C, H, W], Loss: tensor<f32>[B, C],
               alpha: f32 = 0.5, beta: f32 = 0.5, smooth: f32 = 1.0) {
  let b = ctx.block.y
  let c = ctx.block.x
  let p = sigmoid(X[b, c, :, :])
  let y = f32(Y[b, c, :, :])
  let both = sum(p * y)
  let missed = sum((1.0 - p) * y)
  let extra = sum(p * (1.0 - y))
  Loss[b, c] = 1.0 - (both + smooth) / (both + alpha * extra + beta * missed + smooth)
}

/// What a Dice loss over softmax(C) needs of 128 pixels: softmax over the first axis, sums over the second.
kernel dice_sums(X: tensor<f32|f16>[B, C, P], T: tensor<i32>[B, P], Inter: tensor<f32>[B, C, ceildiv(P, 128)],
                 Total: tensor<f32>[B, C, ceildiv(P, 128)]) {
  let b = ctx.block.y
  let k = ctx.block.x
  let x = X[b, :, k * 128 :+ 128]
  let e = exp(x - colmax(x))
  let p = e / colsum(e)
  let hot = f32(iota(0) == T[b, new, k * 128 :+ 128])
  Inter[b, :, k :+ 1] = rowsum(p * hot)
  Total[b, :, k :+ 1] = rowsum(p + hot)
}
