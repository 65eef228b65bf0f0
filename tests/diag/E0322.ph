// expect: E0322 at 3:19
kernel k(A: tensor<i32>[M]) {
  let half: i32 = 0.5
  A[:] = half
}
