// expect: E0234 at 5:16
fn twice(x) = x * 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = twice(A)
}
