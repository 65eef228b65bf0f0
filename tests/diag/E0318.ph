// expect: E0318 at 3:20
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  B[:, :] = rowsum(A)
}
