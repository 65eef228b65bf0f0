// expect: E0210 at 5:10
fn blend(x, weight = 0.5, y) = weight * x + (1.0 - weight) * y

kernel k(A: tensor<f32>[M]) {
  A[:] = blend(A[:], weight: 0.1)
}
