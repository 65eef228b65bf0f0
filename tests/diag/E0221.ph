// expect: E0221 at 3:10
kernel k(A: tensor<f32>[M], scale: f32) {
  A[:] = scale(A[:] + 1.0)
}
