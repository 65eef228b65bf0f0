// expect: E0501 at 3:74
kernel k(A: tensor<f32>[M]) {
  A[:] = <<65 "(">>1.0<<65 ")">>
}
