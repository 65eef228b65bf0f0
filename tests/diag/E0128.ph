// expect: E0128 at 3:4
kernel k(A: tensor<f32>[M]) {
  A[] = 0.0
}
