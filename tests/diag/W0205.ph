// expect: W0205 at 5:3
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
  return
  A[:] = 1.0
}
