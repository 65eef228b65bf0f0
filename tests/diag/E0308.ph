// expect: E0308 at 4:18
kernel glu(X: tensor<f32>[M, V], Y: tensor<f32>[M, div(V, 2)]) {
  let r = ctx.block.x * 8
  Y[r :+ 8, :] = X[r :+ 8, : div(V, 2)] * sigmoid(X[r :+ 8, div(V, 2) :])
}
