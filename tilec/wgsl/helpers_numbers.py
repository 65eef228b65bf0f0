"""WGSL helper functions for special values, comparisons, integers, conversions and packing.

WGSL lets a compiler assume that NaN and infinities do not occur, and tests such as `x != x` are folded away: what must
hold for them is decided from bits, in integers. A constant expression that makes one is an error: `f32_from_bits` makes
them at run time. Conditions meet in `&` and `|`, see `helpers_functions`.
"""

from __future__ import annotations

NUMBER_HELPERS: dict[str, tuple[str, tuple[str, ...]]] = {}


def _helper(name: str, text: str, *needs: str) -> None:
    NUMBER_HELPERS[name] = (text.strip("\n"), needs)


# --- special values ------------------------------------------------------------------------------------------

_helper(
    "f32_from_bits",
    """
fn f32_from_bits(bits: u32) -> f32 {
  return bitcast<f32>(bits);
}""",
)
_helper(
    "isnan_f32",
    """
fn isnan_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}""",
)
_helper(
    "isinf_f32",
    """
fn isinf_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}""",
)
_helper(
    "isfinite_f32",
    """
fn isfinite_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}""",
)

_helper(
    "hidden",
    """
// `literal` as a value that compilers do not merge with other literals: `zero` is 0, and they do not know.
fn hidden(literal: f32, zero: u32) -> f32 {
  return bitcast<f32>(bitcast<u32>(literal) | zero);
}""",
)

# --- comparisons ---------------------------------------------------------------------------------------------

_helper(
    "either_nan",
    """
fn either_nan(x: f32, y: f32) -> bool {
  return max(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu) > 0x7f800000u;
}""",
)
_helper(
    "order_key",
    """
// Integers in the order of the floats; both zeros give 0.
fn order_key(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return select(bits, -2147483648 - bits, bits < 0);
}""",
)
_helper(
    "eq_f32",
    """
fn eq_f32(x: f32, y: f32) -> bool {
  return (order_key(x) == order_key(y)) & !isnan_f32(x);
}""",
    "order_key",
    "isnan_f32",
)
_helper(
    "ne_f32",
    """
fn ne_f32(x: f32, y: f32) -> bool {
  return (order_key(x) != order_key(y)) | isnan_f32(x);
}""",
    "order_key",
    "isnan_f32",
)
_helper(
    "lt_f32",
    """
fn lt_f32(x: f32, y: f32) -> bool {
  return (order_key(x) < order_key(y)) & !either_nan(x, y);
}""",
    "order_key",
    "either_nan",
)
_helper(
    "le_f32",
    """
fn le_f32(x: f32, y: f32) -> bool {
  return (order_key(x) <= order_key(y)) & !either_nan(x, y);
}""",
    "order_key",
    "either_nan",
)
_helper(
    "gt_f32",
    """
fn gt_f32(x: f32, y: f32) -> bool {
  return (order_key(x) > order_key(y)) & !either_nan(x, y);
}""",
    "order_key",
    "either_nan",
)
_helper(
    "ge_f32",
    """
fn ge_f32(x: f32, y: f32) -> bool {
  return (order_key(x) >= order_key(y)) & !either_nan(x, y);
}""",
    "order_key",
    "either_nan",
)
_helper(
    "min_f32",
    """
fn min_f32(x: f32, y: f32) -> f32 {
  return select(select(min(x, y), y, isnan_f32(y)), x, isnan_f32(x));
}""",
    "isnan_f32",
)
_helper(
    "max_f32",
    """
fn max_f32(x: f32, y: f32) -> f32 {
  return select(select(max(x, y), y, isnan_f32(y)), x, isnan_f32(x));
}""",
    "isnan_f32",
)
_helper(
    "clamp_f32",
    """
fn clamp_f32(x: f32, low: f32, high: f32) -> f32 {
  return min_f32(max_f32(x, low), high);
}""",
    "min_f32",
    "max_f32",
)
_helper(
    "sign_f32",
    """
fn sign_f32(x: f32) -> f32 {
  let key = order_key(x);
  let sign = select(select(0.0, -1.0, key < 0), 1.0, key > 0);
  return select(sign, x, isnan_f32(x));
}""",
    "order_key",
    "isnan_f32",
)
for _type in ("i32", "u32"):
    _helper(
        f"clamp_{_type}",
        f"""
fn clamp_{_type}(x: {_type}, low: {_type}, high: {_type}) -> {_type} {{
  return min(max(x, low), high);
}}""",
    )
for _type in ("f32", "i32", "u32", "bool"):
    _helper(
        f"where_{_type}",
        f"""
fn where_{_type}(condition: bool, chosen: {_type}, other: {_type}) -> {_type} {{
  return select(other, chosen, condition);
}}""",
    )
for _type in ("f32", "i32", "u32"):
    _helper(
        f"square_{_type}",
        f"""
fn square_{_type}(x: {_type}) -> {_type} {{
  return x * x;
}}""",
    )

# --- integers ------------------------------------------------------------------------------------------------

# Vulkan leaves the remainder of negative integers undefined, and naga hands `%` to it as it stands: NVIDIA's driver
# then gives other numbers. The quotient is safe.
_helper(
    "rem_i32",
    """
fn rem_i32(x: i32, y: i32) -> i32 {
  return select(x - y * (x / y), 0, y == 0);
}""",
)
_helper(
    "ceildiv_i32",
    """
fn ceildiv_i32(x: i32, y: i32) -> i32 {
  let quotient = x / y;
  let rounds_up = (y != 0) & (x != y * quotient) & ((x < 0) == (y < 0));
  return quotient + select(0, 1, rounds_up);
}""",
)
_helper(
    "ceildiv_u32",
    """
fn ceildiv_u32(x: u32, y: u32) -> u32 {
  return x / y + select(0u, 1u, x % y != 0u);
}""",
)
_helper(
    "rem_f32",
    """
// Exact, by long division of the mantissas, 8 bits a round.
fn rem_f32(x: f32, y: f32) -> f32 {
  let sign = bitcast<u32>(x) & 0x80000000u;
  let dividend = bitcast<u32>(x) & 0x7fffffffu;
  let divisor = bitcast<u32>(y) & 0x7fffffffu;
  if (dividend >= 0x7f800000u || divisor > 0x7f800000u || divisor == 0u) {
    return f32_from_bits(0x7fc00000u);
  }
  if (dividend < divisor) {
    return x;
  }
  let dividend_exponent = max(dividend >> 23u, 1u);
  let divisor_exponent = max(divisor >> 23u, 1u);
  let dividend_digits = (dividend & 0x7fffffu) | select(0u, 0x800000u, dividend >= 0x800000u);
  let divisor_digits = (divisor & 0x7fffffu) | select(0u, 0x800000u, divisor >= 0x800000u);
  var digits = dividend_digits % divisor_digits;
  var places = dividend_exponent - divisor_exponent;
  while (places > 0u) {
    let step = min(places, 8u);
    digits = (digits << step) % divisor_digits;
    places -= step;
  }
  if (digits == 0u) {
    return bitcast<f32>(sign);
  }
  let shift = countLeadingZeros(digits) - 8u;
  if (divisor_exponent > shift) {
    return bitcast<f32>(sign | ((divisor_exponent - shift) << 23u) | ((digits << shift) & 0x7fffffu));
  }
  return bitcast<f32>(sign | (digits << (divisor_exponent - 1u)));
}""",
    "f32_from_bits",
)

# --- conversions ---------------------------------------------------------------------------------------------

_helper(
    "i32_from_f32",
    """
fn i32_from_f32(x: f32) -> i32 {
  let inside = i32(clamp(x, -2147483648.0, 2147483520.0));
  return select(select(inside, 2147483647, x >= 2147483648.0), 0, isnan_f32(x));
}""",
    "isnan_f32",
)
_helper(
    "u32_from_f32",
    """
fn u32_from_f32(x: f32) -> u32 {
  let inside = u32(clamp(x, 0.0, 4294967040.0));
  return select(select(inside, 4294967295u, x >= 4294967296.0), 0u, isnan_f32(x));
}""",
    "isnan_f32",
)
_helper(
    "bool_from_f32",
    """
fn bool_from_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) != 0u;
}""",
)
