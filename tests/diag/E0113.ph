// expect: E0113 at 2:1
let scale = 2.0

kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
