// expect: E0103 at 3:18
kernel k(A: tensor<f32>[M]) {
  require M > 0, "no element
  A[:] = 0.0
}
