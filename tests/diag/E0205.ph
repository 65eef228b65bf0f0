// expect: E0205 at 2:1
@threads
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
