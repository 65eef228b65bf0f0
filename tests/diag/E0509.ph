// expect: E0509 at 2:8
@bound(0)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
