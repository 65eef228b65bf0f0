// expect: E0336 at 2:35
kernel k(A: tensor<f32>[M], const n: i32) {
  A[:] = f32(n)
}
