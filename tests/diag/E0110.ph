// expect: E0110 at 4:5
kernel k(A: tensor<f32>[M]) {
  A[:] = 1.0
    + 2.0
}
