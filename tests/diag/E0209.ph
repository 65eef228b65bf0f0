// expect: E0209 at 5:28
fn scaled(x, factor = 2.0) = x * factor

kernel k(A: tensor<f32>[M]) {
  A[:] = scaled(A[:], 3.0, factor: 3.0)
}
