// Kernel softmax_rows, written by tilec.
// Only for C % 8 != 0.
// Only for C > 63.
// Only for C % 4 != 0.
// Only for C % 2 != 0.
// Only for 8 * ceildiv(M, 8) > 1023.
// Only for C > 128 && C <= 256.
// Only for C <= 256.
// Only for C == 131.

struct Params {
  n8_ceildiv_M_8: i32,
  C: i32,
  M: i32,
  ceildiv_8_ceildiv_M_8_64: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> X: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> Y: array<vec4<u32>>;
var<workgroup> lanes_0: array<f32, 64>;
var<workgroup> lanes_1: array<f32, 64>;
var<workgroup> lanes_2: array<u32, 64>;

// The bf16 in the high 16 bits.
fn bf16_high(word: u32) -> f32 {
  return bitcast<f32>(word & 0xffff0000u);
}

// The bf16 in the low 16 bits.
fn bf16_to_f32(word: u32) -> f32 {
  return bitcast<f32>(word << 16u);
}

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

// In the high 16 bits the nearest bf16, ties to even; in the low ones anything.
fn nearest_bf16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let rounded = bits + 0x7fffu + ((bits >> 16u) & 1u);
  return select(rounded, bits | 0x400000u, (bits & 0x7fffffffu) > 0x7f800000u);
}

// The 16 bits of the nearest bf16.
fn f32_to_bf16(x: f32) -> u32 {
  return nearest_bf16(x) >> 16u;
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

fn pack_bf16(low: f32, high: f32) -> u32 {
  return (nearest_bf16(low) >> 16u) | (nearest_bf16(high) & 0xffff0000u);
}

@compute @workgroup_size(64)
fn softmax_rows(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_8_ceildiv_M_8_64) {
    let slot = i32(local_index) >> 3u;
    let lane = i32(local_index) & 7;
    for (var turn: i32 = 0; turn < 8; turn += 1) {
      let job = (i32(workgroup_index) * 8 + slot) * 8 + turn;
      let valid = job < params.n8_ceildiv_M_8;
      let block = job >> 3u;
      let job_1 = job & 7;
      let extent = 8 * block;
      let begins = u32(extent + job_1) * u32(params.C);
      let head = i32((0u - begins) & 7u);
      let end = head + ((params.C - head) & -8);
      let c = head + lane * 8;
      let c_1 = head + (lane * 8 + 1);
      let c_2 = head + (lane * 8 + 2);
      let c_3 = head + (lane * 8 + 3);
      let c_4 = head + (lane * 8 + 4);
      let c_5 = head + (lane * 8 + 5);
      let c_6 = head + (lane * 8 + 6);
      let c_7 = head + (lane * 8 + 7);
      let c_8 = head + (lane * 8 + 64);
      let exists = c_8 < end;
      let c_9 = head + (lane * 8 + 65);
      let c_10 = head + (lane * 8 + 66);
      let c_11 = head + (lane * 8 + 67);
      let c_12 = head + (lane * 8 + 68);
      let c_13 = head + (lane * 8 + 69);
      let c_14 = head + (lane * 8 + 70);
      let c_15 = head + (lane * 8 + 71);
      let c_16 = head + (lane * 8 + 128);
      let exists_1 = c_16 < end;
      let c_17 = head + (lane * 8 + 129);
      let c_18 = head + (lane * 8 + 130);
      let c_19 = head + (lane * 8 + 131);
      let c_20 = head + (lane * 8 + 132);
      let c_21 = head + (lane * 8 + 133);
      let c_22 = head + (lane * 8 + 134);
      let c_23 = head + (lane * 8 + 135);
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
      var X_11: f32 = 0.0;
      var X_12: f32 = 0.0;
      var X_13: f32 = 0.0;
      var X_14: f32 = 0.0;
      var X_15: f32 = 0.0;
      var X_16: f32 = 0.0;
      var X_17: f32 = 0.0;
      var X_18: f32 = 0.0;
      var X_19: f32 = 0.0;
      var X_20: f32 = 0.0;
      var X_21: f32 = 0.0;
      var X_22: f32 = 0.0;
      var X_23: f32 = 0.0;
      var X_24: f32 = 0.0;
      let extent_1 = params.M - 8 * block;
      let is_active = job_1 < extent_1;
      if (valid & is_active) {
        let r = block * 8;
        let position = r + job_1;
        let X_at = u32(position);
        let X_at_1 = X_at * u32(params.C) + u32(c);
        let vector_at = X_at_1 >> 3u;
        let X_vector = X[vector_at];
        let value = bf16_to_f32(X_vector.x);
        X_1 = value;
        let value_1 = bf16_high(X_vector.x);
        X_2 = value_1;
        let value_2 = bf16_to_f32(X_vector.y);
        X_3 = value_2;
        let value_3 = bf16_high(X_vector.y);
        X_4 = value_3;
        let value_4 = bf16_to_f32(X_vector.z);
        X_5 = value_4;
        let value_5 = bf16_high(X_vector.z);
        X_6 = value_5;
        let value_6 = bf16_to_f32(X_vector.w);
        X_7 = value_6;
        let value_7 = bf16_high(X_vector.w);
        X_8 = value_7;
        if (exists) {
          let r_1 = block * 8;
          let position_1 = r_1 + job_1;
          let X_at_2 = u32(position_1);
          let X_at_3 = X_at_2 * u32(params.C) + u32(c_8);
          let vector_at_1 = X_at_3 >> 3u;
          let X_vector_1 = X[vector_at_1];
          let value_8 = bf16_to_f32(X_vector_1.x);
          X_9 = value_8;
          let value_9 = bf16_high(X_vector_1.x);
          X_10 = value_9;
          let value_10 = bf16_to_f32(X_vector_1.y);
          X_11 = value_10;
          let value_11 = bf16_high(X_vector_1.y);
          X_12 = value_11;
          let value_12 = bf16_to_f32(X_vector_1.z);
          X_13 = value_12;
          let value_13 = bf16_high(X_vector_1.z);
          X_14 = value_13;
          let value_14 = bf16_to_f32(X_vector_1.w);
          X_15 = value_14;
          let value_15 = bf16_high(X_vector_1.w);
          X_16 = value_15;
        }
        if (exists_1) {
          let r_2 = block * 8;
          let position_2 = r_2 + job_1;
          let X_at_4 = u32(position_2);
          let X_at_5 = X_at_4 * u32(params.C) + u32(c_16);
          let vector_at_2 = X_at_5 >> 3u;
          let X_vector_2 = X[vector_at_2];
          let value_16 = bf16_to_f32(X_vector_2.x);
          X_17 = value_16;
          let value_17 = bf16_high(X_vector_2.x);
          X_18 = value_17;
          let value_18 = bf16_to_f32(X_vector_2.y);
          X_19 = value_18;
          let value_19 = bf16_high(X_vector_2.y);
          X_20 = value_19;
          let value_20 = bf16_to_f32(X_vector_2.z);
          X_21 = value_20;
          let value_21 = bf16_high(X_vector_2.z);
          X_22 = value_21;
          let value_22 = bf16_to_f32(X_vector_2.w);
          X_23 = value_22;
          let value_23 = bf16_high(X_vector_2.w);
          X_24 = value_23;
        }
      }
      var peak: f32 = -0x1.fffffep+127f;
      var exp_sum: f32 = 0.0;
      var magnitude: u32 = 0u;
      let is_active_1 = job_1 < extent_1;
      if (valid & is_active_1) {
        let r_3 = block * 8;
        let part = max(max(max(X_1, X_2), max(X_3, X_4)), max(max(X_5, X_6), max(X_7, X_8)));
        if (part > peak) {
          let scale = exp(max(peak - part, -104.0));
          exp_sum = exp_sum * scale;
          peak = part;
        }
        let shift = select(peak, 0.0, (peak > 0x1.fffffep+127f));
        let term = exp(max(X_1 - shift, -104.0));
        let term_1 = exp(max(X_2 - shift, -104.0));
        let term_2 = exp(max(X_3 - shift, -104.0));
        let term_3 = exp(max(X_4 - shift, -104.0));
        let term_4 = exp(max(X_5 - shift, -104.0));
        let term_5 = exp(max(X_6 - shift, -104.0));
        let term_6 = exp(max(X_7 - shift, -104.0));
        let term_7 = exp(max(X_8 - shift, -104.0));
        let part_1 = term + term_1 + (term_2 + term_3) + (term_4 + term_5 + (term_6 + term_7));
        exp_sum = exp_sum + part_1;
        let part_2 = max(max(max(bitcast<u32>(X_1) & 2147483647u, bitcast<u32>(X_2) & 2147483647u), max(bitcast<u32>(X_3) & 2147483647u, bitcast<u32>(X_4) & 2147483647u)), max(max(bitcast<u32>(X_5) & 2147483647u, bitcast<u32>(X_6) & 2147483647u), max(bitcast<u32>(X_7) & 2147483647u, bitcast<u32>(X_8) & 2147483647u)));
        magnitude = max(magnitude, part_2);
        if (exists) {
          let part_3 = max(max(max(X_9, X_10), max(X_11, X_12)), max(max(X_13, X_14), max(X_15, X_16)));
          if (part_3 > peak) {
            let scale_1 = exp(max(peak - part_3, -104.0));
            exp_sum = exp_sum * scale_1;
            peak = part_3;
          }
          let shift_1 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_8 = exp(max(X_9 - shift_1, -104.0));
          let term_9 = exp(max(X_10 - shift_1, -104.0));
          let term_10 = exp(max(X_11 - shift_1, -104.0));
          let term_11 = exp(max(X_12 - shift_1, -104.0));
          let term_12 = exp(max(X_13 - shift_1, -104.0));
          let term_13 = exp(max(X_14 - shift_1, -104.0));
          let term_14 = exp(max(X_15 - shift_1, -104.0));
          let term_15 = exp(max(X_16 - shift_1, -104.0));
          let part_4 = term_8 + term_9 + (term_10 + term_11) + (term_12 + term_13 + (term_14 + term_15));
          exp_sum = exp_sum + part_4;
          let part_5 = max(max(max(bitcast<u32>(X_9) & 2147483647u, bitcast<u32>(X_10) & 2147483647u), max(bitcast<u32>(X_11) & 2147483647u, bitcast<u32>(X_12) & 2147483647u)), max(max(bitcast<u32>(X_13) & 2147483647u, bitcast<u32>(X_14) & 2147483647u), max(bitcast<u32>(X_15) & 2147483647u, bitcast<u32>(X_16) & 2147483647u)));
          magnitude = max(magnitude, part_5);
        }
        if (exists_1) {
          let part_6 = max(max(max(X_17, X_18), max(X_19, X_20)), max(max(X_21, X_22), max(X_23, X_24)));
          if (part_6 > peak) {
            let scale_2 = exp(max(peak - part_6, -104.0));
            exp_sum = exp_sum * scale_2;
            peak = part_6;
          }
          let shift_2 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_16 = exp(max(X_17 - shift_2, -104.0));
          let term_17 = exp(max(X_18 - shift_2, -104.0));
          let term_18 = exp(max(X_19 - shift_2, -104.0));
          let term_19 = exp(max(X_20 - shift_2, -104.0));
          let term_20 = exp(max(X_21 - shift_2, -104.0));
          let term_21 = exp(max(X_22 - shift_2, -104.0));
          let term_22 = exp(max(X_23 - shift_2, -104.0));
          let term_23 = exp(max(X_24 - shift_2, -104.0));
          let part_7 = term_16 + term_17 + (term_18 + term_19) + (term_20 + term_21 + (term_22 + term_23));
          exp_sum = exp_sum + part_7;
          let part_8 = max(max(max(bitcast<u32>(X_17) & 2147483647u, bitcast<u32>(X_18) & 2147483647u), max(bitcast<u32>(X_19) & 2147483647u, bitcast<u32>(X_20) & 2147483647u)), max(max(bitcast<u32>(X_21) & 2147483647u, bitcast<u32>(X_22) & 2147483647u), max(bitcast<u32>(X_23) & 2147483647u, bitcast<u32>(X_24) & 2147483647u)));
          magnitude = max(magnitude, part_8);
        }
        for (var end_1: i32 = lane; end_1 < 2; end_1 += 8) {
          let c_24 = select(end, head - 8, (end_1 == 0));
          let exists_2 = u32(c_24) < u32(params.C);
          let c_25 = c_24 + 1;
          let exists_3 = u32(c_25) < u32(params.C);
          let c_26 = c_24 + 2;
          let exists_4 = u32(c_26) < u32(params.C);
          let c_27 = c_24 + 3;
          let exists_5 = u32(c_27) < u32(params.C);
          let c_28 = c_24 + 4;
          let exists_6 = u32(c_28) < u32(params.C);
          let c_29 = c_24 + 5;
          let exists_7 = u32(c_29) < u32(params.C);
          let c_30 = c_24 + 6;
          let exists_8 = u32(c_30) < u32(params.C);
          let c_31 = c_24 + 7;
          let exists_9 = u32(c_31) < u32(params.C);
          var held: f32 = f32_from_bits(0xff800000u);
          if (exists_2) {
            let position_3 = r_3 + job_1;
            let X_at_6 = u32(position_3);
            let X_at_7 = X_at_6 * u32(params.C) + u32(c_24);
            let vector_at_3 = X_at_7 >> 3u;
            let X_vector_3 = X[vector_at_3];
            let value_24 = bf16_to_f32(X_vector_3.x);
            held = value_24;
          }
          var held_1: f32 = f32_from_bits(0xff800000u);
          if (exists_3) {
            let position_4 = r_3 + job_1;
            let X_at_8 = u32(position_4);
            let X_at_9 = X_at_8 * u32(params.C) + u32(c_24);
            let vector_at_4 = X_at_9 >> 3u;
            let X_vector_4 = X[vector_at_4];
            let value_25 = bf16_high(X_vector_4.x);
            held_1 = value_25;
          }
          var held_2: f32 = f32_from_bits(0xff800000u);
          if (exists_4) {
            let position_5 = r_3 + job_1;
            let X_at_10 = u32(position_5);
            let X_at_11 = X_at_10 * u32(params.C) + u32(c_24);
            let vector_at_5 = X_at_11 >> 3u;
            let X_vector_5 = X[vector_at_5];
            let value_26 = bf16_to_f32(X_vector_5.y);
            held_2 = value_26;
          }
          var held_3: f32 = f32_from_bits(0xff800000u);
          if (exists_5) {
            let position_6 = r_3 + job_1;
            let X_at_12 = u32(position_6);
            let X_at_13 = X_at_12 * u32(params.C) + u32(c_24);
            let vector_at_6 = X_at_13 >> 3u;
            let X_vector_6 = X[vector_at_6];
            let value_27 = bf16_high(X_vector_6.y);
            held_3 = value_27;
          }
          var held_4: f32 = f32_from_bits(0xff800000u);
          if (exists_6) {
            let position_7 = r_3 + job_1;
            let X_at_14 = u32(position_7);
            let X_at_15 = X_at_14 * u32(params.C) + u32(c_24);
            let vector_at_7 = X_at_15 >> 3u;
            let X_vector_7 = X[vector_at_7];
            let value_28 = bf16_to_f32(X_vector_7.z);
            held_4 = value_28;
          }
          var held_5: f32 = f32_from_bits(0xff800000u);
          if (exists_7) {
            let position_8 = r_3 + job_1;
            let X_at_16 = u32(position_8);
            let X_at_17 = X_at_16 * u32(params.C) + u32(c_24);
            let vector_at_8 = X_at_17 >> 3u;
            let X_vector_8 = X[vector_at_8];
            let value_29 = bf16_high(X_vector_8.z);
            held_5 = value_29;
          }
          var held_6: f32 = f32_from_bits(0xff800000u);
          if (exists_8) {
            let position_9 = r_3 + job_1;
            let X_at_18 = u32(position_9);
            let X_at_19 = X_at_18 * u32(params.C) + u32(c_24);
            let vector_at_9 = X_at_19 >> 3u;
            let X_vector_9 = X[vector_at_9];
            let value_30 = bf16_to_f32(X_vector_9.w);
            held_6 = value_30;
          }
          var held_7: f32 = f32_from_bits(0xff800000u);
          if (exists_9) {
            let position_10 = r_3 + job_1;
            let X_at_20 = u32(position_10);
            let X_at_21 = X_at_20 * u32(params.C) + u32(c_24);
            let vector_at_10 = X_at_21 >> 3u;
            let X_vector_10 = X[vector_at_10];
            let value_31 = bf16_high(X_vector_10.w);
            held_7 = value_31;
          }
          let part_9 = max(max(max(held, held_1), max(held_2, held_3)), max(max(held_4, held_5), max(held_6, held_7)));
          if (part_9 > peak) {
            let scale_3 = exp(max(peak - part_9, -104.0));
            exp_sum = exp_sum * scale_3;
            peak = part_9;
          }
          let shift_3 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_24 = exp(max(held - shift_3, -104.0));
          let term_25 = exp(max(held_1 - shift_3, -104.0));
          let term_26 = exp(max(held_2 - shift_3, -104.0));
          let term_27 = exp(max(held_3 - shift_3, -104.0));
          let term_28 = exp(max(held_4 - shift_3, -104.0));
          let term_29 = exp(max(held_5 - shift_3, -104.0));
          let term_30 = exp(max(held_6 - shift_3, -104.0));
          let term_31 = exp(max(held_7 - shift_3, -104.0));
          let part_10 = term_24 + term_25 + (term_26 + term_27) + (term_28 + term_29 + (term_30 + term_31));
          exp_sum = exp_sum + part_10;
          let part_11 = max(max(max(bitcast<u32>(held) & 2147483647u, bitcast<u32>(held_1) & 2147483647u), max(bitcast<u32>(held_2) & 2147483647u, bitcast<u32>(held_3) & 2147483647u)), max(max(bitcast<u32>(held_4) & 2147483647u, bitcast<u32>(held_5) & 2147483647u), max(bitcast<u32>(held_6) & 2147483647u, bitcast<u32>(held_7) & 2147483647u)));
          magnitude = max(magnitude, part_11);
        }
      }
      let has_nan = magnitude > 2139095040u;
      lanes_0[i32(local_index)] = peak;
      lanes_1[i32(local_index)] = exp_sum;
      lanes_2[i32(local_index)] = select(0u, 1u, has_nan);
      workgroupBarrier();
      let place = slot * 8;
      let place_1 = slot * 8 + 1;
      let place_2 = slot * 8 + 2;
      let place_3 = slot * 8 + 3;
      let place_4 = slot * 8 + 4;
      let place_5 = slot * 8 + 5;
      let place_6 = slot * 8 + 6;
      let place_7 = slot * 8 + 7;
      let part_12 = lanes_0[place];
      let part_13 = lanes_1[place];
      let part_14 = lanes_2[place] != 0u;
      let part_15 = lanes_0[place_1];
      let part_16 = lanes_1[place_1];
      let part_17 = lanes_2[place_1] != 0u;
      let part_18 = lanes_0[place_2];
      let part_19 = lanes_1[place_2];
      let part_20 = lanes_2[place_2] != 0u;
      let part_21 = lanes_0[place_3];
      let part_22 = lanes_1[place_3];
      let part_23 = lanes_2[place_3] != 0u;
      let part_24 = lanes_0[place_4];
      let part_25 = lanes_1[place_4];
      let part_26 = lanes_2[place_4] != 0u;
      let part_27 = lanes_0[place_5];
      let part_28 = lanes_1[place_5];
      let part_29 = lanes_2[place_5] != 0u;
      let part_30 = lanes_0[place_6];
      let part_31 = lanes_1[place_6];
      let part_32 = lanes_2[place_6] != 0u;
      let part_33 = lanes_0[place_7];
      let part_34 = lanes_1[place_7];
      let part_35 = lanes_2[place_7] != 0u;
      let part_36 = max(max(max(part_12, part_15), max(part_18, part_21)), max(max(part_24, part_27), max(part_30, part_33)));
      let shift_4 = select(part_36, 0.0, (part_36 > 0x1.fffffep+127f));
      let term_32 = part_13 * exp(max(part_12 - shift_4, -104.0));
      let term_33 = part_16 * exp(max(part_15 - shift_4, -104.0));
      let term_34 = part_19 * exp(max(part_18 - shift_4, -104.0));
      let term_35 = part_22 * exp(max(part_21 - shift_4, -104.0));
      let term_36 = part_25 * exp(max(part_24 - shift_4, -104.0));
      let term_37 = part_28 * exp(max(part_27 - shift_4, -104.0));
      let term_38 = part_31 * exp(max(part_30 - shift_4, -104.0));
      let term_39 = part_34 * exp(max(part_33 - shift_4, -104.0));
      let part_37 = term_32 + term_33 + (term_34 + term_35) + (term_36 + term_37 + (term_38 + term_39));
      let part_38 = part_14 | part_17 | (part_20 | part_23) | (part_26 | part_29 | (part_32 | part_35));
      let is_empty = eq_f32(part_37, 0.0);
      let is_huge = gt_f32(part_36, 0x1.fffffep+127f);
      let max_ = select(select(part_36, f32_from_bits(0xff800000u), is_empty), f32_from_bits(0x7fc00000u), part_38);
      let safe = select(part_37, 1.0, is_empty | is_huge);
      let rest = select(log_f32(safe), f32_from_bits(0x7fc00000u), part_38);
      let is_active_2 = job_1 < extent_1;
      if (valid & is_active_2) {
        let r_4 = block * 8;
        let sub = X_1 - max_;
        let sub_1 = sub - rest;
        let exp_ = exp_f32(sub_1);
        let sub_2 = X_2 - max_;
        let sub_3 = sub_2 - rest;
        let exp_1 = exp_f32(sub_3);
        let sub_4 = X_3 - max_;
        let sub_5 = sub_4 - rest;
        let exp_2 = exp_f32(sub_5);
        let sub_6 = X_4 - max_;
        let sub_7 = sub_6 - rest;
        let exp_3 = exp_f32(sub_7);
        let sub_8 = X_5 - max_;
        let sub_9 = sub_8 - rest;
        let exp_4 = exp_f32(sub_9);
        let sub_10 = X_6 - max_;
        let sub_11 = sub_10 - rest;
        let exp_5 = exp_f32(sub_11);
        let sub_12 = X_7 - max_;
        let sub_13 = sub_12 - rest;
        let exp_6 = exp_f32(sub_13);
        let sub_14 = X_8 - max_;
        let sub_15 = sub_14 - rest;
        let exp_7 = exp_f32(sub_15);
        let position_11 = r_4 + job_1;
        let Y_at = u32(position_11);
        let Y_at_1 = Y_at * u32(params.C) + u32(c);
        let vector_at_11 = Y_at_1 >> 3u;
        Y[vector_at_11] = vec4<u32>(pack_bf16(exp_, exp_1), pack_bf16(exp_2, exp_3), pack_bf16(exp_4, exp_5), pack_bf16(exp_6, exp_7));
        if (exists) {
          let sub_16 = X_9 - max_;
          let sub_17 = sub_16 - rest;
          let exp_8 = exp_f32(sub_17);
          let sub_18 = X_10 - max_;
          let sub_19 = sub_18 - rest;
          let exp_9 = exp_f32(sub_19);
          let sub_20 = X_11 - max_;
          let sub_21 = sub_20 - rest;
          let exp_10 = exp_f32(sub_21);
          let sub_22 = X_12 - max_;
          let sub_23 = sub_22 - rest;
          let exp_11 = exp_f32(sub_23);
          let sub_24 = X_13 - max_;
          let sub_25 = sub_24 - rest;
          let exp_12 = exp_f32(sub_25);
          let sub_26 = X_14 - max_;
          let sub_27 = sub_26 - rest;
          let exp_13 = exp_f32(sub_27);
          let sub_28 = X_15 - max_;
          let sub_29 = sub_28 - rest;
          let exp_14 = exp_f32(sub_29);
          let sub_30 = X_16 - max_;
          let sub_31 = sub_30 - rest;
          let exp_15 = exp_f32(sub_31);
          let position_12 = r_4 + job_1;
          let Y_at_2 = u32(position_12);
          let Y_at_3 = Y_at_2 * u32(params.C) + u32(c_8);
          let vector_at_12 = Y_at_3 >> 3u;
          Y[vector_at_12] = vec4<u32>(pack_bf16(exp_8, exp_9), pack_bf16(exp_10, exp_11), pack_bf16(exp_12, exp_13), pack_bf16(exp_14, exp_15));
        }
        if (exists_1) {
          let sub_32 = X_17 - max_;
          let sub_33 = sub_32 - rest;
          let exp_16 = exp_f32(sub_33);
          let sub_34 = X_18 - max_;
          let sub_35 = sub_34 - rest;
          let exp_17 = exp_f32(sub_35);
          let sub_36 = X_19 - max_;
          let sub_37 = sub_36 - rest;
          let exp_18 = exp_f32(sub_37);
          let sub_38 = X_20 - max_;
          let sub_39 = sub_38 - rest;
          let exp_19 = exp_f32(sub_39);
          let sub_40 = X_21 - max_;
          let sub_41 = sub_40 - rest;
          let exp_20 = exp_f32(sub_41);
          let sub_42 = X_22 - max_;
          let sub_43 = sub_42 - rest;
          let exp_21 = exp_f32(sub_43);
          let sub_44 = X_23 - max_;
          let sub_45 = sub_44 - rest;
          let exp_22 = exp_f32(sub_45);
          let sub_46 = X_24 - max_;
          let sub_47 = sub_46 - rest;
          let exp_23 = exp_f32(sub_47);
          let position_13 = r_4 + job_1;
          let Y_at_4 = u32(position_13);
          let Y_at_5 = Y_at_4 * u32(params.C) + u32(c_16);
          let vector_at_13 = Y_at_5 >> 3u;
          Y[vector_at_13] = vec4<u32>(pack_bf16(exp_16, exp_17), pack_bf16(exp_18, exp_19), pack_bf16(exp_20, exp_21), pack_bf16(exp_22, exp_23));
        }
        for (var end_2: i32 = lane; end_2 < 2; end_2 += 8) {
          let c_32 = select(end, head - 8, (end_2 == 0));
          let exists_10 = u32(c_32) < u32(params.C);
          let c_33 = c_32 + 1;
          let exists_11 = u32(c_33) < u32(params.C);
          let c_34 = c_32 + 2;
          let exists_12 = u32(c_34) < u32(params.C);
          let c_35 = c_32 + 3;
          let exists_13 = u32(c_35) < u32(params.C);
          let c_36 = c_32 + 4;
          let exists_14 = u32(c_36) < u32(params.C);
          let c_37 = c_32 + 5;
          let exists_15 = u32(c_37) < u32(params.C);
          let c_38 = c_32 + 6;
          let exists_16 = u32(c_38) < u32(params.C);
          let c_39 = c_32 + 7;
          let exists_17 = u32(c_39) < u32(params.C);
          var held_8: f32 = 0.0;
          if (exists_10) {
            let position_14 = r_4 + job_1;
            let X_at_22 = u32(position_14);
            let X_at_23 = X_at_22 * u32(params.C) + u32(c_32);
            let vector_at_14 = X_at_23 >> 3u;
            let X_vector_11 = X[vector_at_14];
            let value_32 = bf16_to_f32(X_vector_11.x);
            let sub_48 = value_32 - max_;
            let sub_49 = sub_48 - rest;
            let exp_24 = exp_f32(sub_49);
            held_8 = exp_24;
          }
          var held_9: f32 = 0.0;
          if (exists_11) {
            let position_15 = r_4 + job_1;
            let X_at_24 = u32(position_15);
            let X_at_25 = X_at_24 * u32(params.C) + u32(c_32);
            let vector_at_15 = X_at_25 >> 3u;
            let X_vector_12 = X[vector_at_15];
            let value_33 = bf16_high(X_vector_12.x);
            let sub_50 = value_33 - max_;
            let sub_51 = sub_50 - rest;
            let exp_25 = exp_f32(sub_51);
            held_9 = exp_25;
          }
          var held_10: f32 = 0.0;
          if (exists_12) {
            let position_16 = r_4 + job_1;
            let X_at_26 = u32(position_16);
            let X_at_27 = X_at_26 * u32(params.C) + u32(c_32);
            let vector_at_16 = X_at_27 >> 3u;
            let X_vector_13 = X[vector_at_16];
            let value_34 = bf16_to_f32(X_vector_13.y);
            let sub_52 = value_34 - max_;
            let sub_53 = sub_52 - rest;
            let exp_26 = exp_f32(sub_53);
            held_10 = exp_26;
          }
          var held_11: f32 = 0.0;
          if (exists_13) {
            let position_17 = r_4 + job_1;
            let X_at_28 = u32(position_17);
            let X_at_29 = X_at_28 * u32(params.C) + u32(c_32);
            let vector_at_17 = X_at_29 >> 3u;
            let X_vector_14 = X[vector_at_17];
            let value_35 = bf16_high(X_vector_14.y);
            let sub_54 = value_35 - max_;
            let sub_55 = sub_54 - rest;
            let exp_27 = exp_f32(sub_55);
            held_11 = exp_27;
          }
          var held_12: f32 = 0.0;
          if (exists_14) {
            let position_18 = r_4 + job_1;
            let X_at_30 = u32(position_18);
            let X_at_31 = X_at_30 * u32(params.C) + u32(c_32);
            let vector_at_18 = X_at_31 >> 3u;
            let X_vector_15 = X[vector_at_18];
            let value_36 = bf16_to_f32(X_vector_15.z);
            let sub_56 = value_36 - max_;
            let sub_57 = sub_56 - rest;
            let exp_28 = exp_f32(sub_57);
            held_12 = exp_28;
          }
          var held_13: f32 = 0.0;
          if (exists_15) {
            let position_19 = r_4 + job_1;
            let X_at_32 = u32(position_19);
            let X_at_33 = X_at_32 * u32(params.C) + u32(c_32);
            let vector_at_19 = X_at_33 >> 3u;
            let X_vector_16 = X[vector_at_19];
            let value_37 = bf16_high(X_vector_16.z);
            let sub_58 = value_37 - max_;
            let sub_59 = sub_58 - rest;
            let exp_29 = exp_f32(sub_59);
            held_13 = exp_29;
          }
          var held_14: f32 = 0.0;
          if (exists_16) {
            let position_20 = r_4 + job_1;
            let X_at_34 = u32(position_20);
            let X_at_35 = X_at_34 * u32(params.C) + u32(c_32);
            let vector_at_20 = X_at_35 >> 3u;
            let X_vector_17 = X[vector_at_20];
            let value_38 = bf16_to_f32(X_vector_17.w);
            let sub_60 = value_38 - max_;
            let sub_61 = sub_60 - rest;
            let exp_30 = exp_f32(sub_61);
            held_14 = exp_30;
          }
          var held_15: f32 = 0.0;
          if (exists_17) {
            let position_21 = r_4 + job_1;
            let X_at_36 = u32(position_21);
            let X_at_37 = X_at_36 * u32(params.C) + u32(c_32);
            let vector_at_21 = X_at_37 >> 3u;
            let X_vector_18 = X[vector_at_21];
            let value_39 = bf16_high(X_vector_18.w);
            let sub_62 = value_39 - max_;
            let sub_63 = sub_62 - rest;
            let exp_31 = exp_f32(sub_63);
            held_15 = exp_31;
          }
          let position_22 = r_4 + job_1;
          let Y_at_6 = u32(position_22);
          let Y_at_7 = Y_at_6 * u32(params.C) + u32(c_32);
          if (exists_10 | exists_11 | exists_12 | exists_13 | exists_14 | exists_15 | exists_16 | exists_17) {
            let vector_at_22 = Y_at_7 >> 3u;
            let old = Y[vector_at_22];
            var word: u32 = old.x;
            var word_1: u32 = old.y;
            var word_2: u32 = old.z;
            var word_3: u32 = old.w;
            if (exists_10) {
              let constant_ = 0u;
              word = (word & 4294901760u) | (f32_to_bf16(held_8) << constant_);
            }
            if (exists_11) {
              word = (word & 65535u) | (f32_to_bf16(held_9) << 16u);
            }
            if (exists_12) {
              let constant_1 = 0u;
              word_1 = (word_1 & 4294901760u) | (f32_to_bf16(held_10) << constant_1);
            }
            if (exists_13) {
              word_1 = (word_1 & 65535u) | (f32_to_bf16(held_11) << 16u);
            }
            if (exists_14) {
              let constant_2 = 0u;
              word_2 = (word_2 & 4294901760u) | (f32_to_bf16(held_12) << constant_2);
            }
            if (exists_15) {
              word_2 = (word_2 & 65535u) | (f32_to_bf16(held_13) << 16u);
            }
            if (exists_16) {
              let constant_3 = 0u;
              word_3 = (word_3 & 4294901760u) | (f32_to_bf16(held_14) << constant_3);
            }
            if (exists_17) {
              word_3 = (word_3 & 65535u) | (f32_to_bf16(held_15) << 16u);
            }
            Y[vector_at_22] = vec4<u32>(word, word_1, word_2, word_3);
          }
        }
      }
      workgroupBarrier();
      storageBarrier();
    }
  }
}
