// Numbers in fewer bits, element by element, any shape: rounding, saturating, scaling.

/// `x` rounded to float16, values beyond its range, the infinities too, to its largest: the numbers that a tensor of
/// `f16` holds. NaN stays; a slope passes through inside the range.
///
/// Domain: any `x`. Equals `torch.clamp(x, -65504, 65504).half().float()`.
fn saturate_f16(x) = f16(clamp(x, -65504.0, 65504.0))

/// What rounding to bfloat16 loses: `x - bf16(x)`; a sum of both is `x` again, exactly.
///
/// Domain: finite `x` within bfloat16's range. Equals `x - x.bfloat16().float()` in `torch.Tensor`.
fn bf16_remainder(x) = x - bf16(x)

/// The scale with which each row of `x` (`[R, C]`) fits 8-bit integers: the `[R, 1]` column `max(|x|) / 127`, 1 for a
/// row of zeros.
///
/// Domain: finite `x`. Equals `torch.amax(torch.abs(x), -1) / 127` for rows that are not 0.
fn int8_scale(x) {
  let largest = rowmax(abs(x)) / 127.0
  // Below this a device may flush the scale to 0.
  return where(largest < 1.2e-38, 1.0, largest)
}

/// `x / scale` rounded to the nearest of -127 .. 127, ties to even, an `i32` that a tensor of `i8` stores. Infinities
/// saturate, NaN gives 0.
///
/// Domain: `scale > 0`, any that broadcasts. Equals
/// `torch.quantize_per_channel` with zero points 0, but symmetric: -128 is not used.
fn to_int8(x, scale) = i32(clamp(round(x / scale), -127.0, 127.0))

/// The numbers that 8-bit integers `q` stand for: `q scale`.
///
/// Domain: any. Equals `torch.dequantize`.
fn from_int8(q, scale) = f32(q) * scale
