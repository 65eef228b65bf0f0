// expect: E0202 at 3:10
kernel k(A: tensor<f32>[M]) {
  A[:] = sqroot(A[:])
}
