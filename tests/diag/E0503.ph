// expect: E0503 at 3:1544
kernel k(A: tensor<f32>[M]) {
  A[:] = 1.0<<300 " + 1.0">>
}
