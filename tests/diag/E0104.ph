// expect: E0104 at 3:10
kernel k(A: tensor<f32>[M]) {
  A[:] = .5
}
