// expect: E0106 at 3:14
kernel k(A: tensor<f32>[M]) {
  let a = max(A[:], 0.0
  A[:] = a
}
