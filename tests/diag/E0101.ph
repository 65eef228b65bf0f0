// expect: E0101 at 3:7
kernel k(A: tensor<f32>[M]) {
  let = 1.0
  A[:] = 0.0
}
