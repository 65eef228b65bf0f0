// expect: E0323 at 3:33
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[1]) {
  B[0] = sum(sum(A[:, :], axis: 2))
}
