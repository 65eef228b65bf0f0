// expect: E0126 at 4:10
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
  return 1.0
}
