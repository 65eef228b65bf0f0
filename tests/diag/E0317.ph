// expect: E0317 at 3:10
kernel k(A: tensor<f32>[M], s: f32) {
  A[:] = s[0]
}
