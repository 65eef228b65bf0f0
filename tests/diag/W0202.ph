// expect: W0202 at 2:29
kernel k(A: tensor<f32>[M], scale: f32) {
  A[:] = 0.0
}
