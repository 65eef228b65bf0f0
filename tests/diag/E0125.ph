// expect: E0125 at 4:5
fn f(x, n) {
  if n > 0 {
    return
  }
  return -x
}

kernel k(A: tensor<f32>[M], n: i32) {
  A[:] = f(1.0, n)
}
