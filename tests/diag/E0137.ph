// expect: E0137 at 2:10
kernel k(const A: tensor<f32>[M]) {
  A[:] = 0.0
}
