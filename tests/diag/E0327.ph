// expect: E0327 at 2:28
kernel k(A: tensor<f32>[M, 2.5]) {
  A[:, :] = 0.0
}
