// expect: E0222 at 7:3
kernel first(A: tensor<f32>[M]) {
  A[:] = 0.0
}

kernel second(A: tensor<f32>[M]) {
  first(A)
}
