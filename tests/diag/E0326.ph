// expect: E0326 at 2:13
kernel k(A: tensor<f32>[B, C, D, H, W]) {
  A[0, 0, 0, 0, 0] = 1.0
}
