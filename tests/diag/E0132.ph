// expect: E0132 at 2:29
kernel k(A: tensor<f32>[M], scale) {
  A[:] = scale
}
