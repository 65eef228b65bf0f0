// expect: E0208 at 5:23
fn scaled(x, factor = 2.0) = x * factor

kernel k(A: tensor<f32>[M]) {
  A[:] = scaled(A[:], factr: 3.0)
}
