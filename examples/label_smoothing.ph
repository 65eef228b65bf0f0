// A function of one's own, with a default, beside the kernel that uses it. Rows whose class is `ignore_index` count 0,
// whatever their logits are. `new` makes a column of a tensor of rank 1, on the left side of `=` too.
fn smooth_cross_entropy(x, t, smoothing = 0.1) {
  let lse = logsumexp(x)
  let hard = lse - pick(x, t)
  // A smoothing of 0 must not meet a masked class, whose logit is -inf.
  let spread = where(smoothing > 0.0, smoothing * (lse - rowmean(x)), 0.0)
  return (1.0 - smoothing) * hard + spread
}

kernel label_smoothing(Logits: tensor<f32|f16|bf16>[M, V], Target: tensor<i32|i64>[M], Loss: tensor<f32>[M],
                       smoothing: f32 = 0.1, ignore_index: i32 = -100) {
  let r = ctx.block.x * 8
  let t = Target[r :+ 8, new]
  Loss[r :+ 8, new] = where(t == ignore_index, 0.0, smooth_cross_entropy(Logits[r :+ 8, :], t, smoothing))
}
