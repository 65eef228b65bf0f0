// expect: E0122 at 2:13
kernel k(A: tensor[M]) {
  A[0] = 0.0
}
