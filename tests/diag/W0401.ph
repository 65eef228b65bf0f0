// expect: W0401 at 4:3
@grid(ceildiv(M, 8))
kernel k(A: tensor<f32>[M], n: i32) {
  A[ctx.block.x * n :+ 8] = 0.0
}
