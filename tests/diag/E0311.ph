// expect: E0311 at 3:3
kernel k(T: tensor<i64>[M], U: tensor<i64>[M]) {
  U[:] = T[:] + 1
}
