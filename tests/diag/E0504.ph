// expect: E0504 at 4099:3
kernel k(A: tensor<f32>[M]) {
<<4097 "  A[0] = 1.0\n">>}
