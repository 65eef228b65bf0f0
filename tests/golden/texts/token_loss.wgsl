// Kernel token_loss, written by tilec.

struct Params {
  n8_ceildiv_M_8: i32,
  M: i32,
  ceildiv_8_ceildiv_M_8_2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> Logits: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> Target: array<i32>;
@group(0) @binding(3) var<storage, read_write> Loss: array<f32>;
var<workgroup> lanes_0: array<f32, 64>;
var<workgroup> lanes_1: array<f32, 64>;
var<workgroup> lanes_2: array<u32, 64>;
var<workgroup> groups_0: array<f32, 4>;
var<workgroup> groups_1: array<f32, 4>;
var<workgroup> groups_2: array<u32, 4>;

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

@compute @workgroup_size(64)
fn token_loss(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_8_ceildiv_M_8_2) {
    let slot = i32(local_index) >> 5u;
    let lane = i32(local_index) & 31;
    let job = i32(workgroup_index) * 2 + slot;
    let valid = job < params.n8_ceildiv_M_8;
    let block = job >> 3u;
    let job_1 = job & 7;
    var peak: f32 = -0x1.fffffep+127f;
    var exp_sum: f32 = 0.0;
    var magnitude: u32 = 0u;
    let extent = params.M - 8 * block;
    let is_active = job_1 < extent;
    if (valid & is_active) {
      let r = block * 8;
      let offset = lane * 4;
      for (var round_: i32 = 0; round_ < 1; round_ += 1) {
        let start = round_ * 512 + offset;
        let c = start + 1;
        let c_1 = start + 2;
        let c_2 = start + 3;
        let c_3 = start + 128;
        let c_4 = c_3 + 1;
        let c_5 = c_3 + 2;
        let c_6 = c_3 + 3;
        let c_7 = start + 256;
        let c_8 = c_7 + 1;
        let c_9 = c_7 + 2;
        let c_10 = c_7 + 3;
        let c_11 = start + 384;
        let c_12 = c_11 + 1;
        let c_13 = c_11 + 2;
        let c_14 = c_11 + 3;
        let position = r + job_1;
        let Logits_at = u32(position);
        let Logits_at_1 = Logits_at * 512u + u32(start);
        let vector_at = Logits_at_1 >> 2u;
        let Logits_vector = Logits[vector_at];
        let x = Logits_vector.x;
        let x_1 = Logits_vector.y;
        let x_2 = Logits_vector.z;
        let x_3 = Logits_vector.w;
        let Logits_at_2 = Logits_at * 512u + u32(c_3);
        let vector_at_1 = Logits_at_2 >> 2u;
        let Logits_vector_1 = Logits[vector_at_1];
        let x_4 = Logits_vector_1.x;
        let x_5 = Logits_vector_1.y;
        let x_6 = Logits_vector_1.z;
        let x_7 = Logits_vector_1.w;
        let Logits_at_3 = Logits_at * 512u + u32(c_7);
        let vector_at_2 = Logits_at_3 >> 2u;
        let Logits_vector_2 = Logits[vector_at_2];
        let x_8 = Logits_vector_2.x;
        let x_9 = Logits_vector_2.y;
        let x_10 = Logits_vector_2.z;
        let x_11 = Logits_vector_2.w;
        let Logits_at_4 = Logits_at * 512u + u32(c_11);
        let vector_at_3 = Logits_at_4 >> 2u;
        let Logits_vector_3 = Logits[vector_at_3];
        let x_12 = Logits_vector_3.x;
        let x_13 = Logits_vector_3.y;
        let x_14 = Logits_vector_3.z;
        let x_15 = Logits_vector_3.w;
        let part = max(max(max(max(x, x_1), max(x_2, x_3)), max(max(x_4, x_5), max(x_6, x_7))), max(max(max(x_8, x_9), max(x_10, x_11)), max(max(x_12, x_13), max(x_14, x_15))));
        if (part > peak) {
          let scale = exp(max(peak - part, -104.0));
          exp_sum = exp_sum * scale;
          peak = part;
        }
        let shift = select(peak, 0.0, (peak > 0x1.fffffep+127f));
        let term = exp(max(x - shift, -104.0));
        let term_1 = exp(max(x_1 - shift, -104.0));
        let term_2 = exp(max(x_2 - shift, -104.0));
        let term_3 = exp(max(x_3 - shift, -104.0));
        let term_4 = exp(max(x_4 - shift, -104.0));
        let term_5 = exp(max(x_5 - shift, -104.0));
        let term_6 = exp(max(x_6 - shift, -104.0));
        let term_7 = exp(max(x_7 - shift, -104.0));
        let term_8 = exp(max(x_8 - shift, -104.0));
        let term_9 = exp(max(x_9 - shift, -104.0));
        let term_10 = exp(max(x_10 - shift, -104.0));
        let term_11 = exp(max(x_11 - shift, -104.0));
        let term_12 = exp(max(x_12 - shift, -104.0));
        let term_13 = exp(max(x_13 - shift, -104.0));
        let term_14 = exp(max(x_14 - shift, -104.0));
        let term_15 = exp(max(x_15 - shift, -104.0));
        let part_1 = term + term_1 + (term_2 + term_3) + (term_4 + term_5 + (term_6 + term_7)) + (term_8 + term_9 + (term_10 + term_11) + (term_12 + term_13 + (term_14 + term_15)));
        exp_sum = exp_sum + part_1;
        let part_2 = max(max(max(max(bitcast<u32>(x) & 2147483647u, bitcast<u32>(x_1) & 2147483647u), max(bitcast<u32>(x_2) & 2147483647u, bitcast<u32>(x_3) & 2147483647u)), max(max(bitcast<u32>(x_4) & 2147483647u, bitcast<u32>(x_5) & 2147483647u), max(bitcast<u32>(x_6) & 2147483647u, bitcast<u32>(x_7) & 2147483647u))), max(max(max(bitcast<u32>(x_8) & 2147483647u, bitcast<u32>(x_9) & 2147483647u), max(bitcast<u32>(x_10) & 2147483647u, bitcast<u32>(x_11) & 2147483647u)), max(max(bitcast<u32>(x_12) & 2147483647u, bitcast<u32>(x_13) & 2147483647u), max(bitcast<u32>(x_14) & 2147483647u, bitcast<u32>(x_15) & 2147483647u))));
        magnitude = max(magnitude, part_2);
      }
    }
    let has_nan = magnitude > 2139095040u;
    lanes_0[i32(local_index)] = peak;
    lanes_1[i32(local_index)] = exp_sum;
    lanes_2[i32(local_index)] = select(0u, 1u, has_nan);
    workgroupBarrier();
    let folds = lane < 2;
    if (folds) {
      let first = lane * 16;
      let place = slot * 32 + first;
      let place_1 = slot * 32 + (first + 1);
      let place_2 = slot * 32 + (first + 2);
      let place_3 = slot * 32 + (first + 3);
      let place_4 = slot * 32 + (first + 4);
      let place_5 = slot * 32 + (first + 5);
      let place_6 = slot * 32 + (first + 6);
      let place_7 = slot * 32 + (first + 7);
      let place_8 = slot * 32 + (first + 8);
      let place_9 = slot * 32 + (first + 9);
      let place_10 = slot * 32 + (first + 10);
      let place_11 = slot * 32 + (first + 11);
      let place_12 = slot * 32 + (first + 12);
      let place_13 = slot * 32 + (first + 13);
      let place_14 = slot * 32 + (first + 14);
      let place_15 = slot * 32 + (first + 15);
      let part_3 = lanes_0[place];
      let part_4 = lanes_1[place];
      let part_5 = lanes_2[place] != 0u;
      let part_6 = lanes_0[place_1];
      let part_7 = lanes_1[place_1];
      let part_8 = lanes_2[place_1] != 0u;
      let part_9 = lanes_0[place_2];
      let part_10 = lanes_1[place_2];
      let part_11 = lanes_2[place_2] != 0u;
      let part_12 = lanes_0[place_3];
      let part_13 = lanes_1[place_3];
      let part_14 = lanes_2[place_3] != 0u;
      let part_15 = lanes_0[place_4];
      let part_16 = lanes_1[place_4];
      let part_17 = lanes_2[place_4] != 0u;
      let part_18 = lanes_0[place_5];
      let part_19 = lanes_1[place_5];
      let part_20 = lanes_2[place_5] != 0u;
      let part_21 = lanes_0[place_6];
      let part_22 = lanes_1[place_6];
      let part_23 = lanes_2[place_6] != 0u;
      let part_24 = lanes_0[place_7];
      let part_25 = lanes_1[place_7];
      let part_26 = lanes_2[place_7] != 0u;
      let part_27 = lanes_0[place_8];
      let part_28 = lanes_1[place_8];
      let part_29 = lanes_2[place_8] != 0u;
      let part_30 = lanes_0[place_9];
      let part_31 = lanes_1[place_9];
      let part_32 = lanes_2[place_9] != 0u;
      let part_33 = lanes_0[place_10];
      let part_34 = lanes_1[place_10];
      let part_35 = lanes_2[place_10] != 0u;
      let part_36 = lanes_0[place_11];
      let part_37 = lanes_1[place_11];
      let part_38 = lanes_2[place_11] != 0u;
      let part_39 = lanes_0[place_12];
      let part_40 = lanes_1[place_12];
      let part_41 = lanes_2[place_12] != 0u;
      let part_42 = lanes_0[place_13];
      let part_43 = lanes_1[place_13];
      let part_44 = lanes_2[place_13] != 0u;
      let part_45 = lanes_0[place_14];
      let part_46 = lanes_1[place_14];
      let part_47 = lanes_2[place_14] != 0u;
      let part_48 = lanes_0[place_15];
      let part_49 = lanes_1[place_15];
      let part_50 = lanes_2[place_15] != 0u;
      let part_51 = max(max(max(max(part_3, part_6), max(part_9, part_12)), max(max(part_15, part_18), max(part_21, part_24))), max(max(max(part_27, part_30), max(part_33, part_36)), max(max(part_39, part_42), max(part_45, part_48))));
      let shift_1 = select(part_51, 0.0, (part_51 > 0x1.fffffep+127f));
      let term_16 = part_4 * exp(max(part_3 - shift_1, -104.0));
      let term_17 = part_7 * exp(max(part_6 - shift_1, -104.0));
      let term_18 = part_10 * exp(max(part_9 - shift_1, -104.0));
      let term_19 = part_13 * exp(max(part_12 - shift_1, -104.0));
      let term_20 = part_16 * exp(max(part_15 - shift_1, -104.0));
      let term_21 = part_19 * exp(max(part_18 - shift_1, -104.0));
      let term_22 = part_22 * exp(max(part_21 - shift_1, -104.0));
      let term_23 = part_25 * exp(max(part_24 - shift_1, -104.0));
      let term_24 = part_28 * exp(max(part_27 - shift_1, -104.0));
      let term_25 = part_31 * exp(max(part_30 - shift_1, -104.0));
      let term_26 = part_34 * exp(max(part_33 - shift_1, -104.0));
      let term_27 = part_37 * exp(max(part_36 - shift_1, -104.0));
      let term_28 = part_40 * exp(max(part_39 - shift_1, -104.0));
      let term_29 = part_43 * exp(max(part_42 - shift_1, -104.0));
      let term_30 = part_46 * exp(max(part_45 - shift_1, -104.0));
      let term_31 = part_49 * exp(max(part_48 - shift_1, -104.0));
      let part_52 = term_16 + term_17 + (term_18 + term_19) + (term_20 + term_21 + (term_22 + term_23)) + (term_24 + term_25 + (term_26 + term_27) + (term_28 + term_29 + (term_30 + term_31)));
      let part_53 = part_5 | part_8 | (part_11 | part_14) | (part_17 | part_20 | (part_23 | part_26)) | (part_29 | part_32 | (part_35 | part_38) | (part_41 | part_44 | (part_47 | part_50)));
      groups_0[slot * 2 + lane] = part_51;
      groups_1[slot * 2 + lane] = part_52;
      groups_2[slot * 2 + lane] = select(0u, 1u, part_53);
    }
    workgroupBarrier();
    let place_16 = slot * 2;
    let place_17 = slot * 2 + 1;
    let part_54 = groups_0[place_16];
    let part_55 = groups_1[place_16];
    let part_56 = groups_2[place_16] != 0u;
    let part_57 = groups_0[place_17];
    let part_58 = groups_1[place_17];
    let part_59 = groups_2[place_17] != 0u;
    let part_60 = max(part_54, part_57);
    let shift_2 = select(part_60, 0.0, (part_60 > 0x1.fffffep+127f));
    let term_32 = part_55 * exp(max(part_54 - shift_2, -104.0));
    let term_33 = part_58 * exp(max(part_57 - shift_2, -104.0));
    let part_61 = term_32 + term_33;
    let part_62 = part_56 | part_59;
    let is_empty = eq_f32(part_61, 0.0);
    let is_huge = gt_f32(part_60, 0x1.fffffep+127f);
    let max_ = select(select(part_60, f32_from_bits(0xff800000u), is_empty), f32_from_bits(0x7fc00000u), part_62);
    let safe = select(part_61, 1.0, is_empty | is_huge);
    let rest = select(log_f32(safe), f32_from_bits(0x7fc00000u), part_62);
    let is_active_1 = job_1 < extent;
    if ((lane == 0) & valid & is_active_1) {
      let r_1 = block * 8;
      let position_1 = r_1 + job_1;
      let Target_at = u32(position_1);
      let value = Target[Target_at];
      var picked: f32 = 0.0;
      let is_active_2 = job_1 < extent;
      if ((u32(value) < 512u) & is_active_2) {
        let Logits_at_5 = u32(position_1);
        let Logits_at_6 = Logits_at_5 * 512u + u32(value);
        let vector_ = Logits[Logits_at_6 >> 2u];
        let place_18 = Logits_at_6 & 3u;
        let chosen = select(select(select(vector_.x, vector_.y, (place_18 == 1u)), vector_.z, (place_18 == 2u)), vector_.w, (place_18 == 3u));
        picked = chosen;
      }
      let sub = max_ - picked;
      let add = sub + rest;
      let Loss_at = u32(position_1);
      Loss[Loss_at] = add;
    }
  }
}
