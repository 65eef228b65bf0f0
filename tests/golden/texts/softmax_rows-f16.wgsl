// Kernel softmax_rows, written by tilec.
// Only for C % 8 != 0.
// Only for C > 63.
// Only for C % 4 != 0.
// Only for C % 2 == 0.
// Only for 8 * ceildiv(M, 8) <= 511.
// Only for C > 128 && C <= 256.
// Only for C <= 1024.
// Only for C == 130.

struct Params {
  n8_ceildiv_M_8: i32,
  C: i32,
  M: i32,
  ceildiv_8_ceildiv_M_8_4: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> X: array<u32>;
@group(0) @binding(2) var<storage, read_write> Y: array<u32>;
var<workgroup> lanes_0: array<f32, 64>;
var<workgroup> lanes_1: array<f32, 64>;
var<workgroup> lanes_2: array<u32, 64>;

// Integers in the order of the floats; both zeros give 0.
fn order_key(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return select(bits, -2147483648 - bits, bits < 0);
}

fn isnan_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn eq_f32(x: f32, y: f32) -> bool {
  return (order_key(x) == order_key(y)) & !isnan_f32(x);
}

fn f32_from_bits(bits: u32) -> f32 {
  return bitcast<f32>(bits);
}

fn exp_f32(x: f32) -> f32 {
  let inside = select(exp(clamp(x, -104.0, 88.7228)), f32_from_bits(0x7f800000u), x > 88.72284);
  return select(inside, x, isnan_f32(x));
}

// The f16 in the low 16 bits.
fn f16_to_f32(word: u32) -> f32 {
  let sign = (word & 0x8000u) << 16u;
  let magnitude = word & 0x7fffu;
  let normal = (magnitude << 13u) + select(0x38000000u, 0x70000000u, magnitude >= 0x7c00u);
  let subnormal = bitcast<u32>(f32(magnitude) * 5.9604644775390625e-8);
  return bitcast<f32>(sign | select(normal, subnormal, magnitude < 0x400u));
}

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
}

fn either_nan(x: f32, y: f32) -> bool {
  return max(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu) > 0x7f800000u;
}

fn gt_f32(x: f32, y: f32) -> bool {
  return (order_key(x) > order_key(y)) & !either_nan(x, y);
}

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
}

// log(1 + f) for sqrt(1/2) - 1 <= f <= sqrt(2) - 1.
fn log1p_near_0(f: f32) -> f32 {
  let p = 0.33333313465 + f * (-0.25000008941 + f * (0.20002123713493347 + f * (-0.16668005287647247
    + f * (0.14219450950622559 + f * (-0.12405342608690262 + f * (0.11888708919286728
    + f * (-0.11677505075931549 + f * 0.06747692078351974)))))));
  return f - f * f * (0.5 - f * p);
}

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
}

fn log_f32(x: f32) -> f32 {
  let parts = log_parts(x);
  return log_special(x, parts.x * 0.693359375 + (parts.x * -0.000212194440 + log1p_near_0(parts.y)));
}

fn pack_f16(low: f32, high: f32) -> u32 {
  return f32_to_f16(low) | (f32_to_f16(high) << 16u);
}

@compute @workgroup_size(64)
fn softmax_rows(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_8_ceildiv_M_8_4) {
    let slot = i32(local_index) >> 4u;
    let lane = i32(local_index) & 15;
    let job = i32(workgroup_index) * 4 + slot;
    let valid = job < params.n8_ceildiv_M_8;
    let block = job >> 3u;
    let job_1 = job & 7;
    let c = lane * 2;
    let c_1 = lane * 2 + 1;
    let c_2 = lane * 2 + 32;
    let c_3 = lane * 2 + 33;
    let c_4 = lane * 2 + 64;
    let c_5 = lane * 2 + 65;
    let c_6 = lane * 2 + 96;
    let c_7 = lane * 2 + 97;
    let c_8 = lane * 2 + 128;
    let exists = c_8 < params.C;
    let c_9 = lane * 2 + 129;
    let exists_1 = c_9 < params.C;
    var X_1: f32 = 0.0;
    var X_2: f32 = 0.0;
    var X_3: f32 = 0.0;
    var X_4: f32 = 0.0;
    var X_5: f32 = 0.0;
    var X_6: f32 = 0.0;
    var X_7: f32 = 0.0;
    var X_8: f32 = 0.0;
    var X_9: f32 = 0.0;
    var X_10: f32 = 0.0;
    let extent = params.M - 8 * block;
    let is_active = job_1 < extent;
    if (valid & is_active) {
      let r = block * 8;
      let position = r + job_1;
      let X_at = u32(position);
      let X_at_1 = X_at * u32(params.C) + u32(c);
      let word = X_at_1 >> 1u;
      let bits = X[word];
      let value = f16_to_f32(bits >> ((X_at_1 & 1u) << 4u));
      X_1 = value;
      let r_1 = block * 8;
      let position_1 = r_1 + job_1;
      let X_at_2 = u32(position_1);
      let X_at_3 = X_at_2 * u32(params.C) + u32(c_1);
      let word_1 = X_at_3 >> 1u;
      let bits_1 = X[word_1];
      let value_1 = f16_to_f32(bits_1 >> ((X_at_3 & 1u) << 4u));
      X_2 = value_1;
      let r_2 = block * 8;
      let position_2 = r_2 + job_1;
      let X_at_4 = u32(position_2);
      let X_at_5 = X_at_4 * u32(params.C) + u32(c_2);
      let word_2 = X_at_5 >> 1u;
      let bits_2 = X[word_2];
      let value_2 = f16_to_f32(bits_2 >> ((X_at_5 & 1u) << 4u));
      X_3 = value_2;
      let r_3 = block * 8;
      let position_3 = r_3 + job_1;
      let X_at_6 = u32(position_3);
      let X_at_7 = X_at_6 * u32(params.C) + u32(c_3);
      let word_3 = X_at_7 >> 1u;
      let bits_3 = X[word_3];
      let value_3 = f16_to_f32(bits_3 >> ((X_at_7 & 1u) << 4u));
      X_4 = value_3;
      let r_4 = block * 8;
      let position_4 = r_4 + job_1;
      let X_at_8 = u32(position_4);
      let X_at_9 = X_at_8 * u32(params.C) + u32(c_4);
      let word_4 = X_at_9 >> 1u;
      let bits_4 = X[word_4];
      let value_4 = f16_to_f32(bits_4 >> ((X_at_9 & 1u) << 4u));
      X_5 = value_4;
      let r_5 = block * 8;
      let position_5 = r_5 + job_1;
      let X_at_10 = u32(position_5);
      let X_at_11 = X_at_10 * u32(params.C) + u32(c_5);
      let word_5 = X_at_11 >> 1u;
      let bits_5 = X[word_5];
      let value_5 = f16_to_f32(bits_5 >> ((X_at_11 & 1u) << 4u));
      X_6 = value_5;
      let r_6 = block * 8;
      let position_6 = r_6 + job_1;
      let X_at_12 = u32(position_6);
      let X_at_13 = X_at_12 * u32(params.C) + u32(c_6);
      let word_6 = X_at_13 >> 1u;
      let bits_6 = X[word_6];
      let value_6 = f16_to_f32(bits_6 >> ((X_at_13 & 1u) << 4u));
      X_7 = value_6;
      let r_7 = block * 8;
      let position_7 = r_7 + job_1;
      let X_at_14 = u32(position_7);
      let X_at_15 = X_at_14 * u32(params.C) + u32(c_7);
      let word_7 = X_at_15 >> 1u;
      let bits_7 = X[word_7];
      let value_7 = f16_to_f32(bits_7 >> ((X_at_15 & 1u) << 4u));
      X_8 = value_7;
      if (exists) {
        let r_8 = block * 8;
        let position_8 = r_8 + job_1;
        let X_at_16 = u32(position_8);
        let X_at_17 = X_at_16 * u32(params.C) + u32(c_8);
        let word_8 = X_at_17 >> 1u;
        let bits_8 = X[word_8];
        let value_8 = f16_to_f32(bits_8 >> ((X_at_17 & 1u) << 4u));
        X_9 = value_8;
      }
      if (exists_1) {
        let r_9 = block * 8;
        let position_9 = r_9 + job_1;
        let X_at_18 = u32(position_9);
        let X_at_19 = X_at_18 * u32(params.C) + u32(c_9);
        let word_9 = X_at_19 >> 1u;
        let bits_9 = X[word_9];
        let value_9 = f16_to_f32(bits_9 >> ((X_at_19 & 1u) << 4u));
        X_10 = value_9;
      }
    }
    var peak: f32 = -0x1.fffffep+127f;
    var exp_sum: f32 = 0.0;
    var magnitude: u32 = 0u;
    let is_active_1 = job_1 < extent;
    if (valid & is_active_1) {
      let r_10 = block * 8;
      if (X_1 > peak) {
        let scale = exp(max(peak - X_1, -104.0));
        exp_sum = exp_sum * scale;
        peak = X_1;
      }
      let shift = select(peak, 0.0, (peak > 0x1.fffffep+127f));
      let term = exp(max(X_1 - shift, -104.0));
      exp_sum = exp_sum + term;
      let part = bitcast<u32>(X_1) & 2147483647u;
      magnitude = max(magnitude, part);
      if (X_2 > peak) {
        let scale_1 = exp(max(peak - X_2, -104.0));
        exp_sum = exp_sum * scale_1;
        peak = X_2;
      }
      let shift_1 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
      let term_1 = exp(max(X_2 - shift_1, -104.0));
      exp_sum = exp_sum + term_1;
      let part_1 = bitcast<u32>(X_2) & 2147483647u;
      magnitude = max(magnitude, part_1);
      if (X_3 > peak) {
        let scale_2 = exp(max(peak - X_3, -104.0));
        exp_sum = exp_sum * scale_2;
        peak = X_3;
      }
      let shift_2 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
      let term_2 = exp(max(X_3 - shift_2, -104.0));
      exp_sum = exp_sum + term_2;
      let part_2 = bitcast<u32>(X_3) & 2147483647u;
      magnitude = max(magnitude, part_2);
      if (X_4 > peak) {
        let scale_3 = exp(max(peak - X_4, -104.0));
        exp_sum = exp_sum * scale_3;
        peak = X_4;
      }
      let shift_3 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
      let term_3 = exp(max(X_4 - shift_3, -104.0));
      exp_sum = exp_sum + term_3;
      let part_3 = bitcast<u32>(X_4) & 2147483647u;
      magnitude = max(magnitude, part_3);
      if (X_5 > peak) {
        let scale_4 = exp(max(peak - X_5, -104.0));
        exp_sum = exp_sum * scale_4;
        peak = X_5;
      }
      let shift_4 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
      let term_4 = exp(max(X_5 - shift_4, -104.0));
      exp_sum = exp_sum + term_4;
      let part_4 = bitcast<u32>(X_5) & 2147483647u;
      magnitude = max(magnitude, part_4);
      if (X_6 > peak) {
        let scale_5 = exp(max(peak - X_6, -104.0));
        exp_sum = exp_sum * scale_5;
        peak = X_6;
      }
      let shift_5 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
      let term_5 = exp(max(X_6 - shift_5, -104.0));
      exp_sum = exp_sum + term_5;
      let part_5 = bitcast<u32>(X_6) & 2147483647u;
      magnitude = max(magnitude, part_5);
      if (X_7 > peak) {
        let scale_6 = exp(max(peak - X_7, -104.0));
        exp_sum = exp_sum * scale_6;
        peak = X_7;
      }
      let shift_6 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
      let term_6 = exp(max(X_7 - shift_6, -104.0));
      exp_sum = exp_sum + term_6;
      let part_6 = bitcast<u32>(X_7) & 2147483647u;
      magnitude = max(magnitude, part_6);
      if (X_8 > peak) {
        let scale_7 = exp(max(peak - X_8, -104.0));
        exp_sum = exp_sum * scale_7;
        peak = X_8;
      }
      let shift_7 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
      let term_7 = exp(max(X_8 - shift_7, -104.0));
      exp_sum = exp_sum + term_7;
      let part_7 = bitcast<u32>(X_8) & 2147483647u;
      magnitude = max(magnitude, part_7);
      if (exists) {
        if (X_9 > peak) {
          let scale_8 = exp(max(peak - X_9, -104.0));
          exp_sum = exp_sum * scale_8;
          peak = X_9;
        }
        let shift_8 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
        let term_8 = exp(max(X_9 - shift_8, -104.0));
        exp_sum = exp_sum + term_8;
        let part_8 = bitcast<u32>(X_9) & 2147483647u;
        magnitude = max(magnitude, part_8);
      }
      if (exists_1) {
        if (X_10 > peak) {
          let scale_9 = exp(max(peak - X_10, -104.0));
          exp_sum = exp_sum * scale_9;
          peak = X_10;
        }
        let shift_9 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
        let term_9 = exp(max(X_10 - shift_9, -104.0));
        exp_sum = exp_sum + term_9;
        let part_9 = bitcast<u32>(X_10) & 2147483647u;
        magnitude = max(magnitude, part_9);
      }
    }
    let has_nan = magnitude > 2139095040u;
    lanes_0[i32(local_index)] = peak;
    lanes_1[i32(local_index)] = exp_sum;
    lanes_2[i32(local_index)] = select(0u, 1u, has_nan);
    workgroupBarrier();
    let place = slot * 16;
    let place_1 = slot * 16 + 1;
    let place_2 = slot * 16 + 2;
    let place_3 = slot * 16 + 3;
    let place_4 = slot * 16 + 4;
    let place_5 = slot * 16 + 5;
    let place_6 = slot * 16 + 6;
    let place_7 = slot * 16 + 7;
    let place_8 = slot * 16 + 8;
    let place_9 = slot * 16 + 9;
    let place_10 = slot * 16 + 10;
    let place_11 = slot * 16 + 11;
    let place_12 = slot * 16 + 12;
    let place_13 = slot * 16 + 13;
    let place_14 = slot * 16 + 14;
    let place_15 = slot * 16 + 15;
    let part_10 = lanes_0[place];
    let part_11 = lanes_1[place];
    let part_12 = lanes_2[place] != 0u;
    let part_13 = lanes_0[place_1];
    let part_14 = lanes_1[place_1];
    let part_15 = lanes_2[place_1] != 0u;
    let part_16 = lanes_0[place_2];
    let part_17 = lanes_1[place_2];
    let part_18 = lanes_2[place_2] != 0u;
    let part_19 = lanes_0[place_3];
    let part_20 = lanes_1[place_3];
    let part_21 = lanes_2[place_3] != 0u;
    let part_22 = lanes_0[place_4];
    let part_23 = lanes_1[place_4];
    let part_24 = lanes_2[place_4] != 0u;
    let part_25 = lanes_0[place_5];
    let part_26 = lanes_1[place_5];
    let part_27 = lanes_2[place_5] != 0u;
    let part_28 = lanes_0[place_6];
    let part_29 = lanes_1[place_6];
    let part_30 = lanes_2[place_6] != 0u;
    let part_31 = lanes_0[place_7];
    let part_32 = lanes_1[place_7];
    let part_33 = lanes_2[place_7] != 0u;
    let part_34 = lanes_0[place_8];
    let part_35 = lanes_1[place_8];
    let part_36 = lanes_2[place_8] != 0u;
    let part_37 = lanes_0[place_9];
    let part_38 = lanes_1[place_9];
    let part_39 = lanes_2[place_9] != 0u;
    let part_40 = lanes_0[place_10];
    let part_41 = lanes_1[place_10];
    let part_42 = lanes_2[place_10] != 0u;
    let part_43 = lanes_0[place_11];
    let part_44 = lanes_1[place_11];
    let part_45 = lanes_2[place_11] != 0u;
    let part_46 = lanes_0[place_12];
    let part_47 = lanes_1[place_12];
    let part_48 = lanes_2[place_12] != 0u;
    let part_49 = lanes_0[place_13];
    let part_50 = lanes_1[place_13];
    let part_51 = lanes_2[place_13] != 0u;
    let part_52 = lanes_0[place_14];
    let part_53 = lanes_1[place_14];
    let part_54 = lanes_2[place_14] != 0u;
    let part_55 = lanes_0[place_15];
    let part_56 = lanes_1[place_15];
    let part_57 = lanes_2[place_15] != 0u;
    let part_58 = max(max(max(max(part_10, part_13), max(part_16, part_19)), max(max(part_22, part_25), max(part_28, part_31))), max(max(max(part_34, part_37), max(part_40, part_43)), max(max(part_46, part_49), max(part_52, part_55))));
    let shift_10 = select(part_58, 0.0, (part_58 > 0x1.fffffep+127f));
    let term_10 = part_11 * exp(max(part_10 - shift_10, -104.0));
    let term_11 = part_14 * exp(max(part_13 - shift_10, -104.0));
    let term_12 = part_17 * exp(max(part_16 - shift_10, -104.0));
    let term_13 = part_20 * exp(max(part_19 - shift_10, -104.0));
    let term_14 = part_23 * exp(max(part_22 - shift_10, -104.0));
    let term_15 = part_26 * exp(max(part_25 - shift_10, -104.0));
    let term_16 = part_29 * exp(max(part_28 - shift_10, -104.0));
    let term_17 = part_32 * exp(max(part_31 - shift_10, -104.0));
    let term_18 = part_35 * exp(max(part_34 - shift_10, -104.0));
    let term_19 = part_38 * exp(max(part_37 - shift_10, -104.0));
    let term_20 = part_41 * exp(max(part_40 - shift_10, -104.0));
    let term_21 = part_44 * exp(max(part_43 - shift_10, -104.0));
    let term_22 = part_47 * exp(max(part_46 - shift_10, -104.0));
    let term_23 = part_50 * exp(max(part_49 - shift_10, -104.0));
    let term_24 = part_53 * exp(max(part_52 - shift_10, -104.0));
    let term_25 = part_56 * exp(max(part_55 - shift_10, -104.0));
    let part_59 = term_10 + term_11 + (term_12 + term_13) + (term_14 + term_15 + (term_16 + term_17)) + (term_18 + term_19 + (term_20 + term_21) + (term_22 + term_23 + (term_24 + term_25)));
    let part_60 = part_12 | part_15 | (part_18 | part_21) | (part_24 | part_27 | (part_30 | part_33)) | (part_36 | part_39 | (part_42 | part_45) | (part_48 | part_51 | (part_54 | part_57)));
    let is_empty = eq_f32(part_59, 0.0);
    let is_huge = gt_f32(part_58, 0x1.fffffep+127f);
    let max_ = select(select(part_58, f32_from_bits(0xff800000u), is_empty), f32_from_bits(0x7fc00000u), part_60);
    let safe = select(part_59, 1.0, is_empty | is_huge);
    let rest = select(log_f32(safe), f32_from_bits(0x7fc00000u), part_60);
    let is_active_2 = job_1 < extent;
    if (valid & is_active_2) {
      let r_11 = block * 8;
      var held: f32 = 0.0;
      let sub = X_1 - max_;
      let sub_1 = sub - rest;
      let exp_ = exp_f32(sub_1);
      held = exp_;
      var held_1: f32 = 0.0;
      let sub_2 = X_2 - max_;
      let sub_3 = sub_2 - rest;
      let exp_1 = exp_f32(sub_3);
      held_1 = exp_1;
      var held_2: f32 = 0.0;
      let sub_4 = X_3 - max_;
      let sub_5 = sub_4 - rest;
      let exp_2 = exp_f32(sub_5);
      held_2 = exp_2;
      var held_3: f32 = 0.0;
      let sub_6 = X_4 - max_;
      let sub_7 = sub_6 - rest;
      let exp_3 = exp_f32(sub_7);
      held_3 = exp_3;
      var held_4: f32 = 0.0;
      let sub_8 = X_5 - max_;
      let sub_9 = sub_8 - rest;
      let exp_4 = exp_f32(sub_9);
      held_4 = exp_4;
      var held_5: f32 = 0.0;
      let sub_10 = X_6 - max_;
      let sub_11 = sub_10 - rest;
      let exp_5 = exp_f32(sub_11);
      held_5 = exp_5;
      var held_6: f32 = 0.0;
      let sub_12 = X_7 - max_;
      let sub_13 = sub_12 - rest;
      let exp_6 = exp_f32(sub_13);
      held_6 = exp_6;
      var held_7: f32 = 0.0;
      let sub_14 = X_8 - max_;
      let sub_15 = sub_14 - rest;
      let exp_7 = exp_f32(sub_15);
      held_7 = exp_7;
      var held_8: f32 = 0.0;
      if (exists) {
        let sub_16 = X_9 - max_;
        let sub_17 = sub_16 - rest;
        let exp_8 = exp_f32(sub_17);
        held_8 = exp_8;
      }
      var held_9: f32 = 0.0;
      if (exists_1) {
        let sub_18 = X_10 - max_;
        let sub_19 = sub_18 - rest;
        let exp_9 = exp_f32(sub_19);
        held_9 = exp_9;
      }
      let position_10 = r_11 + job_1;
      let Y_at = u32(position_10);
      let Y_at_1 = Y_at * u32(params.C) + u32(c);
      let word_10 = Y_at_1 >> 1u;
      Y[word_10] = pack_f16(held, held_1);
      let Y_at_2 = u32(position_10);
      let Y_at_3 = Y_at_2 * u32(params.C) + u32(c_2);
      let word_11 = Y_at_3 >> 1u;
      Y[word_11] = pack_f16(held_2, held_3);
      let Y_at_4 = u32(position_10);
      let Y_at_5 = Y_at_4 * u32(params.C) + u32(c_4);
      let word_12 = Y_at_5 >> 1u;
      Y[word_12] = pack_f16(held_4, held_5);
      let Y_at_6 = u32(position_10);
      let Y_at_7 = Y_at_6 * u32(params.C) + u32(c_6);
      let word_13 = Y_at_7 >> 1u;
      Y[word_13] = pack_f16(held_6, held_7);
      if (exists | exists_1) {
        let Y_at_8 = u32(position_10);
        let Y_at_9 = Y_at_8 * u32(params.C) + u32(c_8);
        let word_14 = Y_at_9 >> 1u;
        var word_15: u32 = Y[word_14];
        if (exists) {
          let constant_ = 0u;
          word_15 = (word_15 & 4294901760u) | (f32_to_f16(held_8) << constant_);
        }
        if (exists_1) {
          word_15 = (word_15 & 65535u) | (f32_to_f16(held_9) << 16u);
        }
        Y[word_14] = word_15;
      }
    }
  }
}
