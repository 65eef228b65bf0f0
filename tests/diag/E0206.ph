// expect: E0206 at 3:2
@threads(64)
@threads(128)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
