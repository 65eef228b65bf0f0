// expect: E0217 at 8:9
fn twice(out, x) {
  out = x * 2.0
}

kernel k(A: tensor<f32>[M]) {
  let a = A[:]
  twice(a + 1.0, a)
}
