// expect: E0421 at 3:3
kernel k(A: tensor<f32>[M]) {
  assert M > 0, "empty"
  A[:] = 0.0
}
