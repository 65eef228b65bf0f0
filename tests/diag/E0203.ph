// expect: E0203 at 3:17
kernel k(A: tensor<f32>[M]) {
  A[:] = A[:] / A.shape
}
