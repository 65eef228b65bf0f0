// expect: E0328 at 2:36
kernel k(A: tensor<f16>[M], scale: f16) {
  A[:] = A[:] * scale
}
