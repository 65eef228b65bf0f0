// expect: E0131 at 2:1
@threads(64)
fn f(x) = x

kernel k(A: tensor<f32>[M]) {
  A[:] = f(0.0)
}
