// expect: E0218 at 3:3
kernel k(A: tensor<f32>[M]) {
  exp(A[:])
}
