// expect: E0213 at 3:11
fn f(x) = g(x) + 1.0
fn g(x) = f(x) * 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = f(A[:])
}
