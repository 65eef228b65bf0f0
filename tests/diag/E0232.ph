// expect: E0232 at 2:20
kernel k(A: tensor<f64>[M]) {
  A[:] = 0.0
}
