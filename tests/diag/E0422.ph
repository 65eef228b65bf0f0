// expect: E0422 at 2:2
@autotune(N in [16, 256])
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
