// expect: E0330 at 2:38
kernel k(A: tensor<f32>[M], n: i32 = 0.5) {
  A[:] = n
}
