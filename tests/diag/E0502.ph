// expect: E0502 at 1:1
// <<1048576 "x">>
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
