// expect: W0204 at 5:9
kernel k(A: tensor<f32>[M], n: i32) {
  var a = 0.0
  if n > 0 {
    let a = 1.0
    A[0] = a
  }
  A[1] = a
}
