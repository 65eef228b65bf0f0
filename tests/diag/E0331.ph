// expect: E0331 at 3:3
kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
  require A[0] > 0.0, "the first element must be positive"
  B[:] = log(A[:])
}
