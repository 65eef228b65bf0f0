// expect: E0138 at 3:14
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0 /* clear */
}
