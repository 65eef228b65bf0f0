// expect: E0115 at 3:8
kernel k(A: tensor<f32>[M], n: i32) {
  if n = 1 {
    A[:] = 0.0
  }
}
