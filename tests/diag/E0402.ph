// expect: E0402 at 3:5
kernel k(A: tensor<f32>[M]) {
  A[ctx.block.x % 4] = 0.0
}
