// expect: E0118 at 3:12
kernel k(A: tensor<f32>[M], n: i32) {
  if n > 0 and n < 5 {
    A[:] = 0.0
  }
}
