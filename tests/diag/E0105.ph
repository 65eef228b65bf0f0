// expect: E0105 at 3:10
kernel k(A: tensor<f32>[M]) {
  A[:] = 1.0f
}
