"""WGSL helper functions for transcendentals: where a built-in is too weak, or differs on special values.

Polynomials are least-maximum fits of the relative error, made for this file. No step relies on the order of additions
(WGSL allows others), and infinities and NaN are put in by bits at the end. Conditions meet in `&` and `|`: naga makes
branches of `&&` and `||`, and SwiftShader's compile time doubles with every few of them inside a loop (five copies of
pow took it 40 seconds, twenty more than minutes).
"""

from __future__ import annotations

FUNCTION_HELPERS: dict[str, tuple[str, tuple[str, ...]]] = {}


def _helper(name: str, text: str, *needs: str) -> None:
    FUNCTION_HELPERS[name] = (text.strip("\n"), needs)


# --- exponentials --------------------------------------------------------------------------------------------

_helper(
    "exp_f32",
    """
fn exp_f32(x: f32) -> f32 {
  let inside = select(exp(clamp(x, -104.0, 88.7228)), f32_from_bits(0x7f800000u), x > 88.72284);
  return select(inside, x, isnan_f32(x));
}""",
    "f32_from_bits",
    "isnan_f32",
)
_helper(
    "exp2_parts",
    """
// 2^(n + r) for a whole n and -1/2 <= r <= 1/2; an infinity from 2^128 on.
fn exp2_parts(n: f32, r: f32) -> f32 {
  let p = 0.69314718246 + r * (0.24022647738 + r * (0.0555033236742 + r * (0.00961843691766
    + r * (0.0013398875016719103 + r * 0.00015353360504377633))));
  // 2^n in two factors: neither overflows, and the result may be subnormal.
  let whole = i32(clamp(n, -160.0, 128.0));
  let first = whole / 2;
  let scaled = (1.0 + r * p) * bitcast<f32>((first + 127) << 23u) * bitcast<f32>((whole - first + 127) << 23u);
  return select(scaled, f32_from_bits(0x7f800000u), (n > 128.0) | ((n == 128.0) & (r >= 0.0)));
}""",
    "f32_from_bits",
)
_helper(
    "exp2_f32",
    """
fn exp2_f32(x: f32) -> f32 {
  let c = clamp(x, -160.0, 130.0);
  let n = round(c);
  return select(exp2_parts(n, c - n), x, isnan_f32(x));
}""",
    "exp2_parts",
    "isnan_f32",
)
_helper(
    "expm1_f32",
    """
fn expm1_f32(x: f32) -> f32 {
  let c = clamp(x, -20.0, 88.7228);
  let n = round(c * 1.44269504);
  // ln 2 in two parts, the first so short that its multiples are exact.
  let r = (c - n * 0.693359375) - n * -0.000212194440;
  let p = 0.49999997 + r * (0.16666541993618011 + r * (0.04166720435023308 + r * (0.008366691879928112
    + r * 0.0013882486382499337)));
  let q = r + r * r * p;
  // Half of 2^n, which 2^128 would overflow.
  let half = bitcast<f32>((i32(clamp(n, -30.0, 128.0)) + 126) << 23u);
  let inside = select(2.0 * (half * q + (half - 0.5)), f32_from_bits(0x7f800000u), x > 88.72284);
  return select(select(inside, q, n == 0.0), x, isnan_f32(x));
}""",
    "f32_from_bits",
    "isnan_f32",
)

# --- logarithms ----------------------------------------------------------------------------------------------

_helper(
    "log1p_near_0",
    """
// log(1 + f) for sqrt(1/2) - 1 <= f <= sqrt(2) - 1.
fn log1p_near_0(f: f32) -> f32 {
  let p = 0.33333313465 + f * (-0.25000008941 + f * (0.20002123713493347 + f * (-0.16668005287647247
    + f * (0.14219450950622559 + f * (-0.12405342608690262 + f * (0.11888708919286728
    + f * (-0.11677505075931549 + f * 0.06747692078351974)))))));
  return f - f * f * (0.5 - f * p);
}""",
)
_helper(
    "log_special",
    """
// What a logarithm of x gives: -inf at 0, NaN below, x itself at inf and NaN; `inside` elsewhere.
fn log_special(x: f32, inside: f32) -> f32 {
  let bits = bitcast<u32>(x);
  var result = inside;
  if (bits - 0x800000u < 0x7f000000u) {
    return inside;
  }
  if ((bits & 0x7fffffffu) == 0u) {
    result = f32_from_bits(0xff800000u);
  } else if (((bits & 0x7fffffffu) > 0x7f800000u) | (bits == 0x7f800000u)) {
    result = x;
  } else if (bits >= 0x80000000u) {
    result = f32_from_bits(0x7fc00000u);
  }
  return result;
}""",
    "f32_from_bits",
)
_helper(
    "log_parts",
    """
// For positive x the pair (n, f) with x = 2^n (1 + f), f around 0.
fn log_parts(x: f32) -> vec2<f32> {
  let bits = bitcast<u32>(x);
  var scaled = bits;
  var offset = 0;
  if (bits < 0x800000u) {
    // A subnormal number counts in units of 2^-149.
    scaled = bitcast<u32>(f32(bits));
    offset = 149;
  }
  let n = bitcast<i32>(scaled - 0x3f3504f3u) >> 23u;
  let digits = bitcast<f32>(scaled - (bitcast<u32>(n) << 23u));
  return vec2<f32>(f32(n - offset), digits - 1.0);
}""",
)
_helper(
    "log_f32",
    """
fn log_f32(x: f32) -> f32 {
  let parts = log_parts(x);
  return log_special(x, parts.x * 0.693359375 + (parts.x * -0.000212194440 + log1p_near_0(parts.y)));
}""",
    "log_parts",
    "log1p_near_0",
    "log_special",
)
_helper(
    "log2_f32",
    """
fn log2_f32(x: f32) -> f32 {
  let parts = log_parts(x);
  return log_special(x, parts.x + log1p_near_0(parts.y) * 1.44269504);
}""",
    "log_parts",
    "log1p_near_0",
    "log_special",
)
_helper(
    "log1p_f32",
    """
fn log1p_f32(x: f32) -> f32 {
  let is_near = (x > -0.29) & (x < 0.41);
  let f = select(x, 0.0, isnan_f32(x));
  return select(log_f32(1.0 + x), log1p_near_0(clamp(f, -0.29, 0.41)), is_near & !isnan_f32(x));
}""",
    "log_f32",
    "log1p_near_0",
    "isnan_f32",
)
_helper(
    "log1p_unit",
    """
// log(1 + u) for 0 <= u <= 1; NaN for NaN.
fn log1p_unit(u: f32) -> f32 {
  let is_large = u > 0.41;
  return select(0.0, 0.69314718246, is_large) + log1p_near_0(select(u, (u - 1.0) * 0.5, is_large));
}""",
    "log1p_near_0",
)
_helper(
    "logaddexp_f32",
    """
fn logaddexp_f32(x: f32, y: f32) -> f32 {
  let high = max_f32(x, y);
  let sum = high + log1p_unit(exp_f32(-abs(x - y)));
  return select(high, sum, isfinite_f32(high));
}""",
    "max_f32",
    "log1p_unit",
    "exp_f32",
    "isfinite_f32",
)
_helper(
    "pow_f32",
    """
fn pow_f32(x: f32, y: f32) -> f32 {
  let size = abs(x);
  let is_whole = isinf_f32(y) | (trunc(y) == y);
  let is_odd = is_whole & (abs(y) < 16777216.0) & ((i32(clamp(y, -16777216.0, 16777216.0)) & 1) != 0);
  // y log2(size) as a + b: a is exact, being a short part of y times the exponent.
  let parts = log_parts(max(size, 1e-45));
  let c = clamp(y, -1e9, 1e9);
  let short = bitcast<f32>(bitcast<u32>(c) & 0xfffff000u);
  let a = short * parts.x;
  let b = (c - short) * parts.x + c * (log1p_near_0(parts.y) * 1.44269504);
  let n = round(clamp(a + b, -1000.0, 1000.0));
  var result = exp2_parts(n, clamp((a - n) + b, -0.5, 0.5));
  if (isinf_f32(y)) {
    // NumPy: 1 at -1 and 1, else what the size tends to.
    let grows = (size > 1.0) == (y > 0.0);
    result = select(select(0.0, f32_from_bits(0x7f800000u), grows), 1.0, size == 1.0);
  } else if (size == 0.0) {
    result = select(f32_from_bits(0x7f800000u), 0.0, y > 0.0);
  } else if (isinf_f32(x)) {
    result = select(0.0, f32_from_bits(0x7f800000u), y > 0.0);
  }
  if ((bitcast<u32>(x) >> 31u) == 1u) {
    result = select(result, -result, is_odd);
    result = select(f32_from_bits(0x7fc00000u), result, is_whole | (size == 0.0) | isinf_f32(x));
  }
  result = select(result, f32_from_bits(0x7fc00000u), either_nan(x, y));
  return select(result, 1.0, (bitcast<u32>(x) == 0x3f800000u) | ((bitcast<u32>(y) & 0x7fffffffu) == 0u));
}""",
    "exp2_parts",
    "log_parts",
    "log1p_near_0",
    "isinf_f32",
    "either_nan",
    "f32_from_bits",
)

# --- built from exp ------------------------------------------------------------------------------------------

_helper(
    "tanh_f32",
    """
fn tanh_f32(x: f32) -> f32 {
  let t = expm1_f32(-2.0 * min(abs(x), 20.0));
  let size = -t / (t + 2.0);
  return select(select(size, -size, (bitcast<u32>(x) >> 31u) == 1u), x, isnan_f32(x));
}""",
    "expm1_f32",
    "isnan_f32",
)
_helper(
    "sigmoid_f32",
    """
fn sigmoid_f32(x: f32) -> f32 {
  let e = exp_f32(-abs(x));
  return select(select(1.0, e, x < 0.0) / (1.0 + e), x, isnan_f32(x));
}""",
    "exp_f32",
    "isnan_f32",
)
_helper(
    "softplus_f32",
    """
fn softplus_f32(x: f32) -> f32 {
  return select(max(x, 0.0) + log1p_unit(exp_f32(-abs(x))), x, isnan_f32(x));
}""",
    "log1p_unit",
    "exp_f32",
    "isnan_f32",
)
_helper(
    "erf_f32",
    """
fn erf_f32(x: f32) -> f32 {
  let size = min(abs(x), 4.0);
  let s = size * size;
  let near = size * (1.1283791065 + s * (-0.37612625957 + s * (0.1128358542919159 + s * (-0.026853816583752632
    + s * (0.005188334733247757 + s * (-0.0008010247838683426 + s * 0.00007854026625864208))))));
  // log(1 - erf) from 1 to 4.
  let p = -0.00034151258 + size * (-1.12708926 + size * (-0.63814473152 + size * (-0.10310681909322739
    + size * (0.021838096901774406 + size * (-0.002947666682302952 + size * 0.0001863800862338394)))));
  let far = 1.0 - exp(p);
  let result = select(far, near, size < 1.0);
  return select(select(result, -result, (bitcast<u32>(x) >> 31u) == 1u), x, isnan_f32(x));
}""",
    "isnan_f32",
)

# --- trigonometry --------------------------------------------------------------------------------------------

_helper(
    "multiply_high",
    """
// The upper 32 bits of x y.
fn multiply_high(x: u32, y: u32) -> u32 {
  let low = (x & 0xffffu) * (y & 0xffffu);
  let cross = (x & 0xffffu) * (y >> 16u);
  let other = (x >> 16u) * (y & 0xffffu);
  let middle = (low >> 16u) + (cross & 0xffffu) + (other & 0xffffu);
  return (x >> 16u) * (y >> 16u) + (cross >> 16u) + (other >> 16u) + (middle >> 16u);
}""",
)
_helper(
    "quarter_turns",
    """
// A finite size = |x| as (q, r): q quarter turns modulo 4, and r radians in -pi/4 .. pi/4. Any size: its product with
// 2 / pi is taken from 96 of that number's binary digits, those that matter modulo 4.
fn quarter_turns(size: f32) -> vec2<f32> {
  if (size < 0.78539816) {
    return vec2<f32>(0.0, size);
  }
  var digits = array<u32, 10>(0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
    0xfe5163abu, 0xdebbc561u, 0xb7246e3au);
  let bits = bitcast<u32>(size);
  let factor = (bits & 0x7fffffu) | 0x800000u;
  let place = min((bits >> 23u) - 120u, 140u);
  let word = place >> 5u;
  let shift = place & 31u;
  let back = (32u - shift) & 31u;
  let mask = select(0xffffffffu, 0u, shift == 0u);
  let first = (digits[word] << shift) | ((digits[word + 1u] >> back) & mask);
  let second = (digits[word + 1u] << shift) | ((digits[word + 2u] >> back) & mask);
  let third = (digits[word + 2u] << shift) | ((digits[word + 3u] >> back) & mask);
  let carried = multiply_high(factor, third);
  let low = factor * second + carried;
  let high = factor * first + multiply_high(factor, second) + select(0u, 1u, low < carried);
  // Two binary digits of quarter turns, then the fraction; from a half on it counts down to the next.
  var fraction = (high << 2u) | (low >> 30u);
  var rest = low << 2u;
  let is_above = fraction >= 0x80000000u;
  let q = ((high >> 30u) + select(0u, 1u, is_above)) & 3u;
  if (is_above) {
    rest = ~rest + 1u;
    fraction = ~fraction + select(0u, 1u, rest == 0u);
  }
  let zeros = min(countLeadingZeros(fraction), 31u);
  let leading = (fraction << zeros) | select(0u, rest >> (32u - max(zeros, 1u)), zeros > 0u);
  let r = f32(leading) * bitcast<f32>((95u - zeros) << 23u) * 1.5707963267948966;
  return vec2<f32>(f32(q), select(r, -r, is_above));
}""",
    "multiply_high",
)
_helper(
    "sine_of",
    """
// The sine of q quarter turns and r radians.
fn sine_of(q: i32, r: f32) -> f32 {
  let s = r * r;
  let sine = r + r * s * (-0.16666655242443085 + s * (0.008332154713571072 - s * 0.000195144530152902));
  let cosine = 1.0 - s * (0.5 - s * (0.04166664555668831 + s * (-0.0013887308305129409 + s * 0.00002443220728309825)));
  let value = select(sine, cosine, (q & 1) == 1);
  return select(value, -value, (q & 2) == 2);
}""",
)
_helper(
    "sin_f32",
    """
fn sin_f32(x: f32) -> f32 {
  let size = select(0.0, abs(x), isfinite_f32(x));
  let turns = quarter_turns(size);
  let value = sine_of(i32(turns.x), turns.y);
  let signed = select(value, -value, (bitcast<u32>(x) >> 31u) == 1u);
  return select(f32_from_bits(0x7fc00000u), signed, isfinite_f32(x));
}""",
    "quarter_turns",
    "sine_of",
    "isfinite_f32",
    "f32_from_bits",
)
_helper(
    "cos_f32",
    """
fn cos_f32(x: f32) -> f32 {
  let size = select(0.0, abs(x), isfinite_f32(x));
  let turns = quarter_turns(size);
  return select(f32_from_bits(0x7fc00000u), sine_of(i32(turns.x) + 1, turns.y), isfinite_f32(x));
}""",
    "quarter_turns",
    "sine_of",
    "isfinite_f32",
    "f32_from_bits",
)
