// expect: E0423 at 3:13
kernel k(A: tensor<f32>[M, V]) {
  A[:, :] = cumsum(A[:, :])
}
