// expect: E0403 at 2:7
@grid(i32(A[0]))
kernel k(A: tensor<f32>[M]) {
  A[ctx.block.x] = 0.0
}
