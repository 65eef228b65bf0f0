// The loss of a linear classifier, one value a row. Training needs its gradient too: `Kernel.grad` derives the kernel
// that computes both in one pass, softmax(x) less one at the row's class, written over the logits.
kernel classifier_loss(Logits: tensor<f32>[M, C], Target: tensor<i32>[M, 1], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 16
  cross_entropy(Loss[r :+ 16, :], Logits[r :+ 16, :], Target[r :+ 16, :])
}
