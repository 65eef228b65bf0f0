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

// As pack_bf16, of what is no NaN.
fn pack_bf16_numbers(low: f32, high: f32) -> u32 {
  let bits = vec2<u32>(bitcast<u32>(low), bitcast<u32>(high));
  let rounded = bits + 0x7fffu + ((bits >> vec2<u32>(16u)) & vec2<u32>(1u));
  return (rounded.x >> 16u) | (rounded.y & 0xffff0000u);
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
      var X_vector: vec4<u32> = vec4<u32>(0u, 0u, 0u, 0u);
      var X_vector_1: vec4<u32> = vec4<u32>(0u, 0u, 0u, 0u);
      var X_vector_2: vec4<u32> = vec4<u32>(0u, 0u, 0u, 0u);
      let extent_1 = params.M - 8 * block;
      let is_active = job_1 < extent_1;
      if (valid & is_active) {
        let r = block * 8;
        let position = r + job_1;
        let X_at = u32(position);
        let X_at_1 = X_at * u32(params.C) + u32(c);
        let vector_at = X_at_1 >> 3u;
        let X_vector_3 = X[vector_at];
        X_vector = X_vector_3;
        if (exists) {
          let r_1 = block * 8;
          let position_1 = r_1 + job_1;
          let X_at_2 = u32(position_1);
          let X_at_3 = X_at_2 * u32(params.C) + u32(c_8);
          let vector_at_1 = X_at_3 >> 3u;
          let X_vector_4 = X[vector_at_1];
          X_vector_1 = X_vector_4;
        }
        if (exists_1) {
          let r_2 = block * 8;
          let position_2 = r_2 + job_1;
          let X_at_4 = u32(position_2);
          let X_at_5 = X_at_4 * u32(params.C) + u32(c_16);
          let vector_at_2 = X_at_5 >> 3u;
          let X_vector_5 = X[vector_at_2];
          X_vector_2 = X_vector_5;
        }
      }
      var peak: f32 = -0x1.fffffep+127f;
      var exp_sum: f32 = 0.0;
      var magnitude: u32 = 0u;
      let is_active_1 = job_1 < extent_1;
      if (valid & is_active_1) {
        let r_3 = block * 8;
        let parity = (extent + job_1) & 1;
        let other = 1 - parity;
        for (var end_1: i32 = lane; end_1 < 2; end_1 += 8) {
          let c_24 = select(end, head - 8, (end_1 == parity));
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
          if (exists_2 | exists_3 | exists_4 | exists_5 | exists_6 | exists_7 | exists_8 | exists_9) {
            let position_3 = r_3 + job_1;
            let X_at_6 = u32(position_3);
            let X_at_7 = X_at_6 * u32(params.C) + u32(c_24);
            let vector_at_3 = X_at_7 >> 3u;
            let X_vector_6 = X[vector_at_3];
            let value = bf16_to_f32(X_vector_6.x);
            let value_1 = bf16_high(X_vector_6.x);
            let value_2 = bf16_to_f32(X_vector_6.y);
            let value_3 = bf16_high(X_vector_6.y);
            let value_4 = bf16_to_f32(X_vector_6.z);
            let value_5 = bf16_high(X_vector_6.z);
            let value_6 = bf16_to_f32(X_vector_6.w);
            let value_7 = bf16_high(X_vector_6.w);
            var held: f32 = f32_from_bits(0xff800000u);
            if (exists_2) {
              held = value;
            }
            var held_1: f32 = f32_from_bits(0xff800000u);
            if (exists_3) {
              held_1 = value_1;
            }
            var held_2: f32 = f32_from_bits(0xff800000u);
            if (exists_4) {
              held_2 = value_2;
            }
            var held_3: f32 = f32_from_bits(0xff800000u);
            if (exists_5) {
              held_3 = value_3;
            }
            var held_4: f32 = f32_from_bits(0xff800000u);
            if (exists_6) {
              held_4 = value_4;
            }
            var held_5: f32 = f32_from_bits(0xff800000u);
            if (exists_7) {
              held_5 = value_5;
            }
            var held_6: f32 = f32_from_bits(0xff800000u);
            if (exists_8) {
              held_6 = value_6;
            }
            var held_7: f32 = f32_from_bits(0xff800000u);
            if (exists_9) {
              held_7 = value_7;
            }
            let part = max(max(max(held, held_1), max(held_2, held_3)), max(max(held_4, held_5), max(held_6, held_7)));
            if (part > peak) {
              let scale = exp(max(peak - part, -104.0));
              exp_sum = exp_sum * scale;
              peak = part;
            }
            let shift = select(peak, 0.0, (peak > 0x1.fffffep+127f));
            let term = exp(max(held - shift, -104.0));
            let term_1 = exp(max(held_1 - shift, -104.0));
            let term_2 = exp(max(held_2 - shift, -104.0));
            let term_3 = exp(max(held_3 - shift, -104.0));
            let term_4 = exp(max(held_4 - shift, -104.0));
            let term_5 = exp(max(held_5 - shift, -104.0));
            let term_6 = exp(max(held_6 - shift, -104.0));
            let term_7 = exp(max(held_7 - shift, -104.0));
            let part_1 = term + term_1 + (term_2 + term_3) + (term_4 + term_5 + (term_6 + term_7));
            exp_sum = exp_sum + part_1;
            let part_2 = max(max(max(bitcast<u32>(held) & 2147483647u, bitcast<u32>(held_1) & 2147483647u), max(bitcast<u32>(held_2) & 2147483647u, bitcast<u32>(held_3) & 2147483647u)), max(max(bitcast<u32>(held_4) & 2147483647u, bitcast<u32>(held_5) & 2147483647u), max(bitcast<u32>(held_6) & 2147483647u, bitcast<u32>(held_7) & 2147483647u)));
            magnitude = max(magnitude, part_2);
          }
        }
        let value_8 = bf16_to_f32(X_vector.x);
        let value_9 = bf16_high(X_vector.x);
        let value_10 = bf16_to_f32(X_vector.y);
        let value_11 = bf16_high(X_vector.y);
        let value_12 = bf16_to_f32(X_vector.z);
        let value_13 = bf16_high(X_vector.z);
        let value_14 = bf16_to_f32(X_vector.w);
        let value_15 = bf16_high(X_vector.w);
        let part_3 = max(max(max(value_8, value_9), max(value_10, value_11)), max(max(value_12, value_13), max(value_14, value_15)));
        if (part_3 > peak) {
          let scale_1 = exp(max(peak - part_3, -104.0));
          exp_sum = exp_sum * scale_1;
          peak = part_3;
        }
        let shift_1 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
        let term_8 = exp(max(value_8 - shift_1, -104.0));
        let term_9 = exp(max(value_9 - shift_1, -104.0));
        let term_10 = exp(max(value_10 - shift_1, -104.0));
        let term_11 = exp(max(value_11 - shift_1, -104.0));
        let term_12 = exp(max(value_12 - shift_1, -104.0));
        let term_13 = exp(max(value_13 - shift_1, -104.0));
        let term_14 = exp(max(value_14 - shift_1, -104.0));
        let term_15 = exp(max(value_15 - shift_1, -104.0));
        let part_4 = term_8 + term_9 + (term_10 + term_11) + (term_12 + term_13 + (term_14 + term_15));
        exp_sum = exp_sum + part_4;
        let part_5 = max(max(max(bitcast<u32>(value_8) & 2147483647u, bitcast<u32>(value_9) & 2147483647u), max(bitcast<u32>(value_10) & 2147483647u, bitcast<u32>(value_11) & 2147483647u)), max(max(bitcast<u32>(value_12) & 2147483647u, bitcast<u32>(value_13) & 2147483647u), max(bitcast<u32>(value_14) & 2147483647u, bitcast<u32>(value_15) & 2147483647u)));
        magnitude = max(magnitude, part_5);
        if (exists) {
          let value_16 = bf16_to_f32(X_vector_1.x);
          let value_17 = bf16_high(X_vector_1.x);
          let value_18 = bf16_to_f32(X_vector_1.y);
          let value_19 = bf16_high(X_vector_1.y);
          let value_20 = bf16_to_f32(X_vector_1.z);
          let value_21 = bf16_high(X_vector_1.z);
          let value_22 = bf16_to_f32(X_vector_1.w);
          let value_23 = bf16_high(X_vector_1.w);
          let part_6 = max(max(max(value_16, value_17), max(value_18, value_19)), max(max(value_20, value_21), max(value_22, value_23)));
          if (part_6 > peak) {
            let scale_2 = exp(max(peak - part_6, -104.0));
            exp_sum = exp_sum * scale_2;
            peak = part_6;
          }
          let shift_2 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_16 = exp(max(value_16 - shift_2, -104.0));
          let term_17 = exp(max(value_17 - shift_2, -104.0));
          let term_18 = exp(max(value_18 - shift_2, -104.0));
          let term_19 = exp(max(value_19 - shift_2, -104.0));
          let term_20 = exp(max(value_20 - shift_2, -104.0));
          let term_21 = exp(max(value_21 - shift_2, -104.0));
          let term_22 = exp(max(value_22 - shift_2, -104.0));
          let term_23 = exp(max(value_23 - shift_2, -104.0));
          let part_7 = term_16 + term_17 + (term_18 + term_19) + (term_20 + term_21 + (term_22 + term_23));
          exp_sum = exp_sum + part_7;
          let part_8 = max(max(max(bitcast<u32>(value_16) & 2147483647u, bitcast<u32>(value_17) & 2147483647u), max(bitcast<u32>(value_18) & 2147483647u, bitcast<u32>(value_19) & 2147483647u)), max(max(bitcast<u32>(value_20) & 2147483647u, bitcast<u32>(value_21) & 2147483647u), max(bitcast<u32>(value_22) & 2147483647u, bitcast<u32>(value_23) & 2147483647u)));
          magnitude = max(magnitude, part_8);
        }
        if (exists_1) {
          let value_24 = bf16_to_f32(X_vector_2.x);
          let value_25 = bf16_high(X_vector_2.x);
          let value_26 = bf16_to_f32(X_vector_2.y);
          let value_27 = bf16_high(X_vector_2.y);
          let value_28 = bf16_to_f32(X_vector_2.z);
          let value_29 = bf16_high(X_vector_2.z);
          let value_30 = bf16_to_f32(X_vector_2.w);
          let value_31 = bf16_high(X_vector_2.w);
          let part_9 = max(max(max(value_24, value_25), max(value_26, value_27)), max(max(value_28, value_29), max(value_30, value_31)));
          if (part_9 > peak) {
            let scale_3 = exp(max(peak - part_9, -104.0));
            exp_sum = exp_sum * scale_3;
            peak = part_9;
          }
          let shift_3 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_24 = exp(max(value_24 - shift_3, -104.0));
          let term_25 = exp(max(value_25 - shift_3, -104.0));
          let term_26 = exp(max(value_26 - shift_3, -104.0));
          let term_27 = exp(max(value_27 - shift_3, -104.0));
          let term_28 = exp(max(value_28 - shift_3, -104.0));
          let term_29 = exp(max(value_29 - shift_3, -104.0));
          let term_30 = exp(max(value_30 - shift_3, -104.0));
          let term_31 = exp(max(value_31 - shift_3, -104.0));
          let part_10 = term_24 + term_25 + (term_26 + term_27) + (term_28 + term_29 + (term_30 + term_31));
          exp_sum = exp_sum + part_10;
          let part_11 = max(max(max(bitcast<u32>(value_24) & 2147483647u, bitcast<u32>(value_25) & 2147483647u), max(bitcast<u32>(value_26) & 2147483647u, bitcast<u32>(value_27) & 2147483647u)), max(max(bitcast<u32>(value_28) & 2147483647u, bitcast<u32>(value_29) & 2147483647u), max(bitcast<u32>(value_30) & 2147483647u, bitcast<u32>(value_31) & 2147483647u)));
          magnitude = max(magnitude, part_11);
        }
      }
      let has_nan = magnitude > 2139095040u;
      workgroupBarrier();
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
        let parity_1 = (extent + job_1) & 1;
        let other_1 = 1 - parity_1;
        for (var end_2: i32 = lane; end_2 < 2; end_2 += 8) {
          let c_32 = select(end, head - 8, (end_2 == parity_1));
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
          if (exists_10 | exists_11 | exists_12 | exists_13 | exists_14 | exists_15 | exists_16 | exists_17) {
            let position_4 = r_4 + job_1;
            let X_at_8 = u32(position_4);
            let X_at_9 = X_at_8 * u32(params.C) + u32(c_32);
            let vector_at_4 = X_at_9 >> 3u;
            let X_vector_7 = X[vector_at_4];
            let value_32 = bf16_to_f32(X_vector_7.x);
            let value_33 = bf16_high(X_vector_7.x);
            let value_34 = bf16_to_f32(X_vector_7.y);
            let value_35 = bf16_high(X_vector_7.y);
            let value_36 = bf16_to_f32(X_vector_7.z);
            let value_37 = bf16_high(X_vector_7.z);
            let value_38 = bf16_to_f32(X_vector_7.w);
            let value_39 = bf16_high(X_vector_7.w);
            var held_8: f32 = 0.0;
            if (exists_10) {
              let sub = value_32 - max_;
              let sub_1 = sub - rest;
              let exp_ = exp_f32(sub_1);
              held_8 = exp_;
            }
            var held_9: f32 = 0.0;
            if (exists_11) {
              let sub_2 = value_33 - max_;
              let sub_3 = sub_2 - rest;
              let exp_1 = exp_f32(sub_3);
              held_9 = exp_1;
            }
            var held_10: f32 = 0.0;
            if (exists_12) {
              let sub_4 = value_34 - max_;
              let sub_5 = sub_4 - rest;
              let exp_2 = exp_f32(sub_5);
              held_10 = exp_2;
            }
            var held_11: f32 = 0.0;
            if (exists_13) {
              let sub_6 = value_35 - max_;
              let sub_7 = sub_6 - rest;
              let exp_3 = exp_f32(sub_7);
              held_11 = exp_3;
            }
            var held_12: f32 = 0.0;
            if (exists_14) {
              let sub_8 = value_36 - max_;
              let sub_9 = sub_8 - rest;
              let exp_4 = exp_f32(sub_9);
              held_12 = exp_4;
            }
            var held_13: f32 = 0.0;
            if (exists_15) {
              let sub_10 = value_37 - max_;
              let sub_11 = sub_10 - rest;
              let exp_5 = exp_f32(sub_11);
              held_13 = exp_5;
            }
            var held_14: f32 = 0.0;
            if (exists_16) {
              let sub_12 = value_38 - max_;
              let sub_13 = sub_12 - rest;
              let exp_6 = exp_f32(sub_13);
              held_14 = exp_6;
            }
            var held_15: f32 = 0.0;
            if (exists_17) {
              let sub_14 = value_39 - max_;
              let sub_15 = sub_14 - rest;
              let exp_7 = exp_f32(sub_15);
              held_15 = exp_7;
            }
            let Y_at = u32(position_4);
            let Y_at_1 = Y_at * u32(params.C) + u32(c_32);
            if (exists_10 | exists_11 | exists_12 | exists_13 | exists_14 | exists_15 | exists_16 | exists_17) {
              let vector_at_5 = Y_at_1 >> 3u;
              let old = Y[vector_at_5];
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
              Y[vector_at_5] = vec4<u32>(word, word_1, word_2, word_3);
            }
          }
        }
        let value_40 = bf16_to_f32(X_vector.x);
        let sub_16 = value_40 - max_;
        let sub_17 = sub_16 - rest;
        let exp_8 = exp_f32(sub_17);
        let value_41 = bf16_high(X_vector.x);
        let sub_18 = value_41 - max_;
        let sub_19 = sub_18 - rest;
        let exp_9 = exp_f32(sub_19);
        let value_42 = bf16_to_f32(X_vector.y);
        let sub_20 = value_42 - max_;
        let sub_21 = sub_20 - rest;
        let exp_10 = exp_f32(sub_21);
        let value_43 = bf16_high(X_vector.y);
        let sub_22 = value_43 - max_;
        let sub_23 = sub_22 - rest;
        let exp_11 = exp_f32(sub_23);
        let value_44 = bf16_to_f32(X_vector.z);
        let sub_24 = value_44 - max_;
        let sub_25 = sub_24 - rest;
        let exp_12 = exp_f32(sub_25);
        let value_45 = bf16_high(X_vector.z);
        let sub_26 = value_45 - max_;
        let sub_27 = sub_26 - rest;
        let exp_13 = exp_f32(sub_27);
        let value_46 = bf16_to_f32(X_vector.w);
        let sub_28 = value_46 - max_;
        let sub_29 = sub_28 - rest;
        let exp_14 = exp_f32(sub_29);
        let value_47 = bf16_high(X_vector.w);
        let sub_30 = value_47 - max_;
        let sub_31 = sub_30 - rest;
        let exp_15 = exp_f32(sub_31);
        let position_5 = r_4 + job_1;
        let Y_at_2 = u32(position_5);
        let Y_at_3 = Y_at_2 * u32(params.C) + u32(c);
        var word_4: u32 = 0u;
        var word_5: u32 = 0u;
        var word_6: u32 = 0u;
        var word_7: u32 = 0u;
        let part_39 = exp_8 + exp_9 + (exp_10 + exp_11) + (exp_12 + exp_13 + (exp_14 + exp_15));
        let may_be_nan = isnan_f32(part_39);
        if (may_be_nan) {
          word_4 = pack_bf16(exp_8, exp_9);
          word_5 = pack_bf16(exp_10, exp_11);
          word_6 = pack_bf16(exp_12, exp_13);
          word_7 = pack_bf16(exp_14, exp_15);
        } else {
          word_4 = pack_bf16_numbers(exp_8, exp_9);
          word_5 = pack_bf16_numbers(exp_10, exp_11);
          word_6 = pack_bf16_numbers(exp_12, exp_13);
          word_7 = pack_bf16_numbers(exp_14, exp_15);
        }
        let vector_at_6 = Y_at_3 >> 3u;
        Y[vector_at_6] = vec4<u32>(word_4, word_5, word_6, word_7);
        if (exists) {
          let value_48 = bf16_to_f32(X_vector_1.x);
          let sub_32 = value_48 - max_;
          let sub_33 = sub_32 - rest;
          let exp_16 = exp_f32(sub_33);
          let value_49 = bf16_high(X_vector_1.x);
          let sub_34 = value_49 - max_;
          let sub_35 = sub_34 - rest;
          let exp_17 = exp_f32(sub_35);
          let value_50 = bf16_to_f32(X_vector_1.y);
          let sub_36 = value_50 - max_;
          let sub_37 = sub_36 - rest;
          let exp_18 = exp_f32(sub_37);
          let value_51 = bf16_high(X_vector_1.y);
          let sub_38 = value_51 - max_;
          let sub_39 = sub_38 - rest;
          let exp_19 = exp_f32(sub_39);
          let value_52 = bf16_to_f32(X_vector_1.z);
          let sub_40 = value_52 - max_;
          let sub_41 = sub_40 - rest;
          let exp_20 = exp_f32(sub_41);
          let value_53 = bf16_high(X_vector_1.z);
          let sub_42 = value_53 - max_;
          let sub_43 = sub_42 - rest;
          let exp_21 = exp_f32(sub_43);
          let value_54 = bf16_to_f32(X_vector_1.w);
          let sub_44 = value_54 - max_;
          let sub_45 = sub_44 - rest;
          let exp_22 = exp_f32(sub_45);
          let value_55 = bf16_high(X_vector_1.w);
          let sub_46 = value_55 - max_;
          let sub_47 = sub_46 - rest;
          let exp_23 = exp_f32(sub_47);
          let position_6 = r_4 + job_1;
          let Y_at_4 = u32(position_6);
          let Y_at_5 = Y_at_4 * u32(params.C) + u32(c_8);
          var word_8: u32 = 0u;
          var word_9: u32 = 0u;
          var word_10: u32 = 0u;
          var word_11: u32 = 0u;
          let part_40 = exp_16 + exp_17 + (exp_18 + exp_19) + (exp_20 + exp_21 + (exp_22 + exp_23));
          let may_be_nan_1 = isnan_f32(part_40);
          if (may_be_nan_1) {
            word_8 = pack_bf16(exp_16, exp_17);
            word_9 = pack_bf16(exp_18, exp_19);
            word_10 = pack_bf16(exp_20, exp_21);
            word_11 = pack_bf16(exp_22, exp_23);
          } else {
            word_8 = pack_bf16_numbers(exp_16, exp_17);
            word_9 = pack_bf16_numbers(exp_18, exp_19);
            word_10 = pack_bf16_numbers(exp_20, exp_21);
            word_11 = pack_bf16_numbers(exp_22, exp_23);
          }
          let vector_at_7 = Y_at_5 >> 3u;
          Y[vector_at_7] = vec4<u32>(word_8, word_9, word_10, word_11);
        }
        if (exists_1) {
          let value_56 = bf16_to_f32(X_vector_2.x);
          let sub_48 = value_56 - max_;
          let sub_49 = sub_48 - rest;
          let exp_24 = exp_f32(sub_49);
          let value_57 = bf16_high(X_vector_2.x);
          let sub_50 = value_57 - max_;
          let sub_51 = sub_50 - rest;
          let exp_25 = exp_f32(sub_51);
          let value_58 = bf16_to_f32(X_vector_2.y);
          let sub_52 = value_58 - max_;
          let sub_53 = sub_52 - rest;
          let exp_26 = exp_f32(sub_53);
          let value_59 = bf16_high(X_vector_2.y);
          let sub_54 = value_59 - max_;
          let sub_55 = sub_54 - rest;
          let exp_27 = exp_f32(sub_55);
          let value_60 = bf16_to_f32(X_vector_2.z);
          let sub_56 = value_60 - max_;
          let sub_57 = sub_56 - rest;
          let exp_28 = exp_f32(sub_57);
          let value_61 = bf16_high(X_vector_2.z);
          let sub_58 = value_61 - max_;
          let sub_59 = sub_58 - rest;
          let exp_29 = exp_f32(sub_59);
          let value_62 = bf16_to_f32(X_vector_2.w);
          let sub_60 = value_62 - max_;
          let sub_61 = sub_60 - rest;
          let exp_30 = exp_f32(sub_61);
          let value_63 = bf16_high(X_vector_2.w);
          let sub_62 = value_63 - max_;
          let sub_63 = sub_62 - rest;
          let exp_31 = exp_f32(sub_63);
          let position_7 = r_4 + job_1;
          let Y_at_6 = u32(position_7);
          let Y_at_7 = Y_at_6 * u32(params.C) + u32(c_16);
          var word_12: u32 = 0u;
          var word_13: u32 = 0u;
          var word_14: u32 = 0u;
          var word_15: u32 = 0u;
          let part_41 = exp_24 + exp_25 + (exp_26 + exp_27) + (exp_28 + exp_29 + (exp_30 + exp_31));
          let may_be_nan_2 = isnan_f32(part_41);
          if (may_be_nan_2) {
            word_12 = pack_bf16(exp_24, exp_25);
            word_13 = pack_bf16(exp_26, exp_27);
            word_14 = pack_bf16(exp_28, exp_29);
            word_15 = pack_bf16(exp_30, exp_31);
          } else {
            word_12 = pack_bf16_numbers(exp_24, exp_25);
            word_13 = pack_bf16_numbers(exp_26, exp_27);
            word_14 = pack_bf16_numbers(exp_28, exp_29);
            word_15 = pack_bf16_numbers(exp_30, exp_31);
          }
          let vector_at_8 = Y_at_7 >> 3u;
          Y[vector_at_8] = vec4<u32>(word_12, word_13, word_14, word_15);
        }
      }
    }
  }
}
