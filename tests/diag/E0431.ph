// expect: E0431 at 5:42
kernel k(A: tensor<f32>[M], T: tensor<i32>[M]) {
  let i = ctx.block.x * 256
  let t = T[i :+ 256]
  A[i :+ 256] = f32(grad(square(f32(t)), t))
}
