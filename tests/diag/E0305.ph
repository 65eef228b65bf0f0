// expect: E0305 at 5:6
kernel relu(A: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  let a = A[i :+ 256]
  if a < 0.0 {
    A[i :+ 256] = 0.0
  }
}
