// expect: E0227 at 1:1
//! open no_such_file.ph
kernel k(A: tensor<f32>[M]) {
  A[:] = 0.0
}
