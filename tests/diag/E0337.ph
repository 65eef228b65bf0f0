// expect: E0337 at 3:10
//! dtype A=i32
kernel k(A: tensor<f32|f16>[M]) {
  A[:] = 0.0
}
