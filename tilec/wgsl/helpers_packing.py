"""WGSL helper functions that pack numbers into words and unpack them: f16, bf16, i8, i64."""

from __future__ import annotations

PACKING_HELPERS: dict[str, tuple[str, tuple[str, ...]]] = {}


def _helper(name: str, text: str, *needs: str) -> None:
    PACKING_HELPERS[name] = (text.strip("\n"), needs)


_helper(
    "f32_to_f16",
    """
// The 16 bits of the nearest f16, ties to even. WGSL's own packing promises neither direction nor range.
fn f32_to_f16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return sign | 0x7e00u;
  }
  if (magnitude >= 0x477ff000u) {
    return sign | 0x7c00u;
  }
  if (magnitude >= 0x38800000u) {
    return sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13u) & 1u)) >> 13u);
  }
  // A subnormal f16 counts in units of 2^-24.
  let digits = (magnitude & 0x7fffffu) | 0x800000u;
  let shift = min(126u - (magnitude >> 23u), 25u);
  return sign | ((digits + (1u << (shift - 1u)) - 1u + ((digits >> shift) & 1u)) >> shift);
}""",
)
_helper(
    "f16_to_f32",
    """
// The f16 in the low 16 bits.
fn f16_to_f32(word: u32) -> f32 {
  let sign = (word & 0x8000u) << 16u;
  let magnitude = word & 0x7fffu;
  let normal = (magnitude << 13u) + select(0x38000000u, 0x70000000u, magnitude >= 0x7c00u);
  let subnormal = bitcast<u32>(f32(magnitude) * 5.9604644775390625e-8);
  return bitcast<f32>(sign | select(normal, subnormal, magnitude < 0x400u));
}""",
)
_helper(
    "f16_high",
    """
// The f16 in the high 16 bits.
fn f16_high(word: u32) -> f32 {
  return f16_to_f32(word >> 16u);
}""",
    "f16_to_f32",
)
_helper(
    "pack_f16",
    """
fn pack_f16(low: f32, high: f32) -> u32 {
  return f32_to_f16(low) | (f32_to_f16(high) << 16u);
}""",
    "f32_to_f16",
)
_helper(
    "round_f16",
    """
// The nearest f16, ties to even, in integers alone: drivers fold packing and unpacking into one step that is not exact.
fn round_f16(x: f32) -> f32 {
  let sign = bitcast<u32>(x) & 0x80000000u;
  let magnitude = bitcast<u32>(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return x;
  }
  if (magnitude >= 0x477ff000u) {
    return bitcast<f32>(sign | 0x7f800000u);
  }
  if (magnitude >= 0x38800000u) {
    return bitcast<f32>(sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u)) & 0xffffe000u));
  }
  // A subnormal f16 counts in units of 2^-24.
  let digits = (magnitude & 0x7fffffu) | 0x800000u;
  let shift = min(126u - (magnitude >> 23u), 25u);
  let units = (digits + (1u << (shift - 1u)) - 1u + ((digits >> shift) & 1u)) >> shift;
  return bitcast<f32>(sign | bitcast<u32>(f32(units) * 5.9604644775390625e-8));
}""",
)
_helper(
    "nearest_bf16",
    """
// In the high 16 bits the nearest bf16, ties to even; in the low ones anything.
fn nearest_bf16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let rounded = bits + 0x7fffu + ((bits >> 16u) & 1u);
  return select(rounded, bits | 0x400000u, (bits & 0x7fffffffu) > 0x7f800000u);
}""",
)
_helper(
    "f32_to_bf16",
    """
// The 16 bits of the nearest bf16.
fn f32_to_bf16(x: f32) -> u32 {
  return nearest_bf16(x) >> 16u;
}""",
    "nearest_bf16",
)
_helper(
    "bf16_high",
    """
// The bf16 in the high 16 bits.
fn bf16_high(word: u32) -> f32 {
  return bitcast<f32>(word & 0xffff0000u);
}""",
)
_helper(
    "pack_bf16",
    """
fn pack_bf16(low: f32, high: f32) -> u32 {
  return (nearest_bf16(low) >> 16u) | (nearest_bf16(high) & 0xffff0000u);
}""",
    "nearest_bf16",
)
_helper(
    "pack_bf16_numbers",
    """
// As pack_bf16, of what is no NaN.
fn pack_bf16_numbers(low: f32, high: f32) -> u32 {
  let bits = vec2<u32>(bitcast<u32>(low), bitcast<u32>(high));
  let rounded = bits + 0x7fffu + ((bits >> vec2<u32>(16u)) & vec2<u32>(1u));
  return (rounded.x >> 16u) | (rounded.y & 0xffff0000u);
}""",
)
_helper(
    "bf16_to_f32",
    """
// The bf16 in the low 16 bits.
fn bf16_to_f32(word: u32) -> f32 {
  return bitcast<f32>(word << 16u);
}""",
)
_helper(
    "round_bf16",
    """
fn round_bf16(x: f32) -> f32 {
  return bf16_to_f32(f32_to_bf16(x));
}""",
    "bf16_to_f32",
    "f32_to_bf16",
)
_helper(
    "i64_to_i32",
    """
// A 64-bit integer from its low and high words, saturated.
fn i64_to_i32(low: u32, high: u32) -> i32 {
  let small = bitcast<i32>(low);
  let sign = bitcast<i32>(high);
  return select(select(2147483647, -2147483648, sign < 0), small, sign == (small >> 31u));
}""",
)
_helper(
    "i8_to_i32",
    """
// The i8 in the low 8 bits.
fn i8_to_i32(word: u32) -> i32 {
  return bitcast<i32>(word << 24u) >> 24u;
}""",
)
