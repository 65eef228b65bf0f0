// expect: E0119 at 3:15
kernel k(A: tensor<f32>[M]) {
  let a = 1.0 let b = 2.0
  A[:] = 0.0
}
