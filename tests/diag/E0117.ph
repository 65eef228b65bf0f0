// expect: E0117 at 3:14
kernel k(A: tensor<f32>[M]) {
  A[:] = 2.0 ** 3.0
}
