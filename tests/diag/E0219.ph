// expect: E0219 at 7:10
fn twice(out, x) {
  out = x * 2.0
}

kernel k(A: tensor<f32>[M]) {
  A[:] = twice(A[:], A[:])
}
