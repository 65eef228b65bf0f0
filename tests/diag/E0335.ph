// expect: E0335 at 3:3
kernel k(A: tensor<f32>[M]) {
  require 1 > 2, "one must exceed two"
  A[:] = 0.0
}
