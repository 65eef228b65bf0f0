// expect: E0201 at 5:40
kernel k(Logits: tensor<f32>[M, V], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  Loss[r :+ 8, :] = rowmax(x) + rowsum(y)
}
