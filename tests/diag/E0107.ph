// expect: E0107 at 3:23
kernel k(A: tensor<f32>[M]) {
  A[:] = max(1.0, 0.0))
}
