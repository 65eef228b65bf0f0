// expect: W0402 at 2:8
kernel k(A: tensor<f32>[M]) {
  let _a = A[:]
}
