// expect: E0406 at 4:31
kernel k(A: tensor<f32>[M], n: i32) {
  let i = ctx.block.x * 256
  A[i :+ 256] = A[i :+ 256] + A[i + n]
}
