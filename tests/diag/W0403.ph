// expect: W0403 at 6:3
@grid(ceildiv(V, 8))
kernel k(A: tensor<f32>[M, V], Totals: tensor<f32>[V]) {
  let i = ctx.block.x * 8
  Totals[i :+ 8] = 0.0
  A[i :+ 8, :] *= 2.0
}
