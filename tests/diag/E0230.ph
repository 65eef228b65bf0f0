// expect: E0230 at 2:25
kernel k(A: tensor<f32>[M], M: tensor<f32>[8]) {
  A[:] = 0.0
}
