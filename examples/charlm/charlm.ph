// A language model of single characters, all but its matrix products. The first three kernels are only computed
// forwards here: `Kernel.grad` derives what training needs, for the loss in place, over the logits.

/// Cross-entropy of the next character, one value a position.
kernel loss(Logits: tensor<f32>[M, V], Target: tensor<i32>[M], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  Loss[r :+ 8, new] = logsumexp(x) - pick(x, Target[r :+ 8, new])
}

/// The hidden layer: what the products sum up to, plus a bias, through an activation.
kernel hidden(Sum: tensor<f32>[M, H], Bias: tensor<f32>[H], Out: tensor<f32>[M, H]) {
  let r = ctx.block.x * 8
  Out[r :+ 8, :] = silu(Sum[r :+ 8, :] + Bias[:])
}

/// The last layer's bias, added to the products in place.
kernel add_bias(Sum: tensor<f32>[M, V], Bias: tensor<f32>[V]) {
  let r = ctx.block.x * 8
  Sum[r :+ 8, :] += Bias[:]
}

/// The gradient of a bias: it was added to every row.
kernel bias_gradient(Grad: tensor<f32>[M, N], Bias: tensor<f32>[N]) {
  let c = ctx.block.x * 32
  Bias[new, c :+ 32] = colsum(Grad[:, c :+ 32])
}

/// The mean of the losses, over all of them.
kernel mean_loss(Loss: tensor<f32>[M], Mean: tensor<f32>[1]) {
  Mean[0] = mean(Loss[:])
}

/// The chances of the next character; a low temperature prefers the likely ones.
kernel chances(Logits: tensor<f32>[M, V], Chance: tensor<f32>[M, V], temperature: f32 = 1.0) {
  let r = ctx.block.x * 8
  Chance[r :+ 8, :] = softmax(Logits[r :+ 8, :] / temperature)
}

/// One step of AdamW over flat parameters, in place; `step` counts from 1.
kernel adamw(Param: tensor<f32>[N], Grad: tensor<f32>[N], Mean: tensor<f32>[N], Square: tensor<f32>[N], lr: f32,
             step: i32, beta1: f32 = 0.9, beta2: f32 = 0.99, eps: f32 = 1e-8, decay: f32 = 0.1) {
  let i = ctx.block.x * 1024
  let g = Grad[i :+ 1024]
  adamw_step(Param[i :+ 1024], Mean[i :+ 1024], Square[i :+ 1024], g, lr, step, beta1, beta2, eps, decay)
}
