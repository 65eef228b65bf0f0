// expect: E0111 at 3:26
kernel k(A: tensor<f32>[M]) {
  A[:] = where(0.0 < 1.0 < 2.0, 1.0, 0.0)
}
