// expect: E0329 at 2:35
kernel k(A: tensor<f32>[8, 1], t: tile<f32>[8, 1]) {
  A[:, :] = t
}
