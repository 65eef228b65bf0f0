// expect: E0435 at 5:3
//! grad A
kernel k(A: tensor<f32>[M], Loss: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  A[i :+ 256] *= 2.0
  Loss[i :+ 256] = square(A[i :+ 256])
}
