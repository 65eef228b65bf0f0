// expect: E0304 at 3:6
kernel k(A: tensor<f32>[M], n: i32) {
  if n {
    A[:] = 0.0
  }
}
