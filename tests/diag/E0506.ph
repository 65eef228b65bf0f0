// expect: E0506 at 2:8
kernel k(A: tensor<f32>[M], B: tensor<f32>[M], C: tensor<f32>[M], D: tensor<f32>[M], E: tensor<f32>[M],
         F: tensor<f32>[M], G: tensor<f32>[M], H: tensor<f32>[M], I: tensor<f32>[M]) {
  let i = ctx.block.x * 256
  I[i :+ 256] = (A[i :+ 256] + B[i :+ 256] + C[i :+ 256] + D[i :+ 256]
    + E[i :+ 256] + F[i :+ 256] + G[i :+ 256] + H[i :+ 256])
}
