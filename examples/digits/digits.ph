// The loss of a linear classifier and its gradient, in one pass: the logits are replaced by the gradient of the mean
// loss with respect to them, softmax(x) less one at the row's class, times `scale` (one over the number of rows).
kernel loss_and_gradient(Logits: tensor<f32>[M, C], Target: tensor<i32>[M, 1], Loss: tensor<f32>[M, 1], scale: f32) {
  let r = ctx.block.x * 16
  let x = Logits[r :+ 16, :]
  let t = Target[r :+ 16, :]
  cross_entropy(Loss[r :+ 16, :], x, t)
  Logits[r :+ 16, :] = (softmax(x) - f32(iota(1) == t)) * scale
}
