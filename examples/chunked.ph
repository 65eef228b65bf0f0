// The length of each row, 512 columns at a time. The last chunk may reach past the row's end: its lanes out there are
// inactive, so `squares` keeps in them what the chunks before have left.
kernel row_length(X: tensor<f32|f16|bf16>[M, C], Length: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var squares: tile<f32>[8, 512] = 0.0
  for c in range(0, C, 512) {
    squares += square(X[r :+ 8, c :+ 512])
  }
  Length[r :+ 8, :] = sqrt(rowsum(squares))
}
