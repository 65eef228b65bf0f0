// expect: E0116 at 3:3
kernel k(A: tensor<f32>[M]) {
  exp(A[:]) = 1.0
}
