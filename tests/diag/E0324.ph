// expect: E0324 at 3:32
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1], n: i32) {
  B[:, :] = sum(A[:, :], axis: n)
}
