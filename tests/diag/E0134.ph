// expect: E0134 at 3:18
kernel k(A: tensor<f32>[M]) {
  A[0 :+ 8] else 0.0 = 1.0
}
