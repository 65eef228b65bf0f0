// expect: E0212 at 3:4
fn f(x) = x
fn f(x, a = 1.0) = x * a

kernel k(A: tensor<f32>[M]) {
  A[:] = f(A[:], 2.0)
}
