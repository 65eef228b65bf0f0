// expect: W0101 at 3:3
kernel k(A: tensor<f32>[M]) {
  /// Clears everything.
  A[:] = 0.0
}
