// expect: E0231 at 3:11
const A = B + 1
const B = A * 2

kernel k(X: tensor<f32>[M]) {
  X[:] = f32(A)
}
