// expect: E0135 at 3:11
kernel k(A: tensor<f32>[M], n: i32) {
  if n > 0
    A[:] = 0.0
}
