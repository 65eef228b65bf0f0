// expect: E0109 at 3:1
kernel k(A: tensor<f32>[M])
{
  A[:] = 0.0
}
