// Cross-entropy of each token's logits over 512 classes, one value a row. Eight rows are a block; the last block may
// reach past the end of the tensor, and the rows that are not there are neither read nor written.
kernel token_loss(Logits: tensor<f32>[M, 512], Target: tensor<i32>[M, 1], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var x = Logits[r :+ 8, :]
  cross_entropy(Loss[r :+ 8, :], x, Target[r :+ 8, :])
}
