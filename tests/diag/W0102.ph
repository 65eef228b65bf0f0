// expect: W0102 at 3:16
kernel k(A: tensor<f32>[M], n: i32) {
  let half = n // 2
  A[:] = f32(half)
}
