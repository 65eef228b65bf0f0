// expect: E0207 at 3:10
kernel k(A: tensor<f32>[M]) {
  A[:] = clamp(A[:], 0.0)
}
