// expect: E0216 at 3:3
kernel k(A: tensor<f32>[M], n: i32) {
  n = n + 1
  A[:] = f32(n)
}
