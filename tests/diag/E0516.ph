// expect: E0516 at 3:7
kernel k(A: tensor<f32>[V], N: tensor<i32>[1], S: tensor<f32>[1]) {
  var x = A[0 :+ N[0]] else 1.0
  for i in range(0, 3) {
    x = x - sum(x)
  }
  S[0] = sum(x)
}
