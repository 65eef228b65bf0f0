// expect: E0112 at 3:3
kernel k(A: tensor<f32>[M]) {
  1.0 + 2.0
  A[:] = 0.0
}
