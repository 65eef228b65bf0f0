// expect: E0334 at 5:17
fn scaled(x: f32) = x * 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = scaled(A[:])
}
