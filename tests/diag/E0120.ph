// expect: E0120 at 5:20
fn f(x, a = 1.0) = x * a

kernel k(A: tensor<f32>[M]) {
  A[:] = f(a: 2.0, A[:])
}
