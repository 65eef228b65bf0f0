// Storage types: conversions, quantised rows, shared words.

kernel cast_float(A: tensor<f32|f16|bf16>[N], B: tensor<f32|f16|bf16>[N]) {
  let i = ctx.block.x * 512
  B[i :+ 512] = A[i :+ 512]
}

/// Any integer may be stored in any integer tensor: it keeps its low bits.
kernel cast_integer(A: tensor<i32|u32|i8|u8>[N], B: tensor<i32|u32|i8|u8>[N]) {
  let i = ctx.block.x * 512
  B[i :+ 512] = A[i :+ 512]
}

kernel round_to_integer(A: tensor<f32|f16|bf16>[N], B: tensor<i32|i8|u8>[N]) {
  let i = ctx.block.x * 512
  B[i :+ 512] = i32(round(A[i :+ 512]))
}

/// The integers of an i64 tensor, saturated, and whether they are negative.
kernel narrow(A: tensor<i64>[N], B: tensor<i32>[N], Negative: tensor<bool>[N]) {
  let i = ctx.block.x * 512
  let a = A[i :+ 512]
  B[i :+ 512] = a
  Negative[i :+ 512] = a < 0
}

/// Rows as 8-bit integers with a scale, and what those stand for.
kernel quantise_and_back<T: f32|f16|bf16>(X: tensor<T>[M, C], Q: tensor<i8>[M, C], Scale: tensor<f32>[M],
                                         Y: tensor<T>[M, C]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let scale = max(rowmax(abs(x)) / 127.0, 1e-12)
  let q = i32(round(x / scale))
  Scale[r :+ 4, new] = scale
  Q[r :+ 4, :] = q
  Y[r :+ 4, :] = f32(q) * scale
}

/// In place on 16-bit rows of any length: neighbouring rows share words.
kernel scale_rows(X: tensor<f16|bf16>[M, C], S: tensor<f32>[M]) {
  let r = ctx.block.x * 3
  X[r :+ 3, :] *= S[r :+ 3, new]
}
