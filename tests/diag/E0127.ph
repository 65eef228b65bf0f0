// expect: E0127 at 4:3
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
  break
}
