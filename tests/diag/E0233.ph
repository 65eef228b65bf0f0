// expect: E0233 at 2:11
@disjoint(n)
kernel k(A: tensor<f32>[M], n: i32) {
  A[n] = 0.0
}
