// expect: E0114 at 3:3
kernel k(A: tensor<f32>[M]) {
  const two = 2.0
  A[:] = 0.0
}
