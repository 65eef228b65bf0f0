// expect: W0203 at 2:4
fn square(x) = x * x * 1.0

kernel k(A: tensor<f32>[M]) {
  A[:] = square(A[:])
}
