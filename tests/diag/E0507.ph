// expect: E0507 at 2:10
@threads(4096)
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
