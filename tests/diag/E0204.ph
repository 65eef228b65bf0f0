// expect: E0204 at 2:2
@fast(1)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
