// Kernel train_loss, written by tilec.
// Only for V % 8 == 0.
// Only for V % 4 == 0.
// Only for V > 2048.
// Only for V > 4096.
// Only for V > 16384.
// Only for V > 10240.
// Only for V <= 65535.
// Only for V > 32768.
// Only for 8 * ceildiv(M, 8) <= 128.

struct Params {
  max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8: i32,
  n8_ceildiv_M_8: i32,
  V: u32,
  n4096_ceildiv_ceildiv_V_max_1_min_ceildiv_V_4096_ceildiv_512: u32,
  M: i32,
  V_1: i32,
  ignore_index: i32,
  n8_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_c: u32,
  n16_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8: u32,
  n24_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8: u32,
  n32_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8: u32,
  beta: f32,
  alpha: f32,
  inv_norm: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> Target: array<i32>;
@group(0) @binding(2) var<storage, read_write> Logits: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(4) var<storage, read_write> Loss: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;
var<workgroup> lanes_1: array<f32, 256>;
var<workgroup> lanes_2: array<u32, 256>;
var<workgroup> lanes_3: array<f32, 256>;
var<workgroup> lanes_4: array<f32, 256>;
var<workgroup> groups_0: array<f32, 16>;
var<workgroup> groups_1: array<f32, 16>;
var<workgroup> groups_2: array<u32, 16>;
var<workgroup> groups_3: array<f32, 16>;
var<workgroup> groups_4: array<f32, 16>;
var<workgroup> lanes_0_1: array<f32, 256>;
var<workgroup> lanes_1_1: array<f32, 256>;
var<workgroup> lanes_2_1: array<u32, 256>;
var<workgroup> lanes_3_1: array<f32, 256>;
var<workgroup> lanes_4_1: array<f32, 256>;
var<workgroup> groups_0_1: array<f32, 16>;
var<workgroup> groups_1_1: array<f32, 16>;
var<workgroup> groups_2_1: array<u32, 16>;
var<workgroup> groups_3_1: array<f32, 16>;
var<workgroup> groups_4_1: array<f32, 16>;

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

fn square_f32(x: f32) -> f32 {
  return x * x;
}

fn where_f32(condition: bool, chosen: f32, other: f32) -> f32 {
  return select(other, chosen, condition);
}

@compute @workgroup_size(256)
fn train_loss_0(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.n8_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_c) {
    let lane = i32(local_index);
    let part = i32(u32(i32(workgroup_index)) % u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8));
    let group_1 = i32(u32(i32(workgroup_index)) / u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8));
    let block = group_1 >> 3u;
    let job = group_1 & 7;
    let bound = min(u32(part) * params.n4096_ceildiv_ceildiv_V_max_1_min_ceildiv_V_4096_ceildiv_512, params.V);
    let bound_1 = min(bound + params.n4096_ceildiv_ceildiv_V_max_1_min_ceildiv_V_4096_ceildiv_512, params.V);
    let first = i32(bound);
    let end = i32(bound_1);
    var peak: f32 = -0x1.fffffep+127f;
    var exp_sum: f32 = 0.0;
    var magnitude: u32 = 0u;
    var sum: f32 = 0.0;
    var picked: f32 = 0.0;
    let extent = params.M - 8 * block;
    let is_active = job < extent;
    if (is_active) {
      let r = block * 8;
      let position = r + job;
      let Target_at = u32(position);
      let value = Target[Target_at];
      let lt = value < params.V_1;
      let ge = value >= 0;
      let ne = value != params.ignore_index;
      let and = ne & ge;
      let and_1 = and & lt;
      if (and_1) {
        let is_active_1 = job < extent;
        let exists = (u32(value) < u32(params.V_1)) & is_active_1;
        if (exists) {
          let is_mine = (first <= value) & (value < end) & (((u32(value) >> 2u) & 255u) == u32(lane));
          if (is_mine) {
            let Logits_at = u32(position);
            let Logits_at_1 = Logits_at * u32(params.V_1) + u32(value);
            let vector_ = Logits[Logits_at_1 >> 2u];
            let place = Logits_at_1 & 3u;
            let chosen = select(select(select(vector_.x, vector_.y, (place == 1u)), vector_.z, (place == 2u)), vector_.w, (place == 3u));
            picked = chosen;
          }
        }
      }
      if (and_1) {
        let offset = lane * 4;
        let rounds = (end - first) >> 12u;
        let done = first + rounds * 4096;
        for (var round_: i32 = 0; round_ < rounds; round_ += 1) {
          let start = first + round_ * 4096 + offset;
          let c = start + 1;
          let c_1 = start + 2;
          let c_2 = start + 3;
          let c_3 = start + 1024;
          let c_4 = c_3 + 1;
          let c_5 = c_3 + 2;
          let c_6 = c_3 + 3;
          let c_7 = start + 2048;
          let c_8 = c_7 + 1;
          let c_9 = c_7 + 2;
          let c_10 = c_7 + 3;
          let c_11 = start + 3072;
          let c_12 = c_11 + 1;
          let c_13 = c_11 + 2;
          let c_14 = c_11 + 3;
          let Logits_at_2 = u32(position);
          let Logits_at_3 = Logits_at_2 * u32(params.V_1) + u32(start);
          let vector_at = Logits_at_3 >> 2u;
          let Logits_vector = Logits[vector_at];
          let x = Logits_vector.x;
          let x_1 = Logits_vector.y;
          let x_2 = Logits_vector.z;
          let x_3 = Logits_vector.w;
          let Logits_at_4 = Logits_at_2 * u32(params.V_1) + u32(c_3);
          let vector_at_1 = Logits_at_4 >> 2u;
          let Logits_vector_1 = Logits[vector_at_1];
          let x_4 = Logits_vector_1.x;
          let x_5 = Logits_vector_1.y;
          let x_6 = Logits_vector_1.z;
          let x_7 = Logits_vector_1.w;
          let Logits_at_5 = Logits_at_2 * u32(params.V_1) + u32(c_7);
          let vector_at_2 = Logits_at_5 >> 2u;
          let Logits_vector_2 = Logits[vector_at_2];
          let x_8 = Logits_vector_2.x;
          let x_9 = Logits_vector_2.y;
          let x_10 = Logits_vector_2.z;
          let x_11 = Logits_vector_2.w;
          let Logits_at_6 = Logits_at_2 * u32(params.V_1) + u32(c_11);
          let vector_at_3 = Logits_at_6 >> 2u;
          let Logits_vector_3 = Logits[vector_at_3];
          let x_12 = Logits_vector_3.x;
          let x_13 = Logits_vector_3.y;
          let x_14 = Logits_vector_3.z;
          let x_15 = Logits_vector_3.w;
          let part_1 = max(max(max(max(x, x_1), max(x_2, x_3)), max(max(x_4, x_5), max(x_6, x_7))), max(max(max(x_8, x_9), max(x_10, x_11)), max(max(x_12, x_13), max(x_14, x_15))));
          if (part_1 > peak) {
            let scale = exp(max(peak - part_1, -104.0));
            exp_sum = exp_sum * scale;
            peak = part_1;
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
          let part_2 = term + term_1 + (term_2 + term_3) + (term_4 + term_5 + (term_6 + term_7)) + (term_8 + term_9 + (term_10 + term_11) + (term_12 + term_13 + (term_14 + term_15)));
          exp_sum = exp_sum + part_2;
          let part_3 = max(max(max(max(bitcast<u32>(x) & 2147483647u, bitcast<u32>(x_1) & 2147483647u), max(bitcast<u32>(x_2) & 2147483647u, bitcast<u32>(x_3) & 2147483647u)), max(max(bitcast<u32>(x_4) & 2147483647u, bitcast<u32>(x_5) & 2147483647u), max(bitcast<u32>(x_6) & 2147483647u, bitcast<u32>(x_7) & 2147483647u))), max(max(max(bitcast<u32>(x_8) & 2147483647u, bitcast<u32>(x_9) & 2147483647u), max(bitcast<u32>(x_10) & 2147483647u, bitcast<u32>(x_11) & 2147483647u)), max(max(bitcast<u32>(x_12) & 2147483647u, bitcast<u32>(x_13) & 2147483647u), max(bitcast<u32>(x_14) & 2147483647u, bitcast<u32>(x_15) & 2147483647u))));
          magnitude = max(magnitude, part_3);
          let part_4 = x + x_1 + (x_2 + x_3) + (x_4 + x_5 + (x_6 + x_7)) + (x_8 + x_9 + (x_10 + x_11) + (x_12 + x_13 + (x_14 + x_15)));
          sum = sum + part_4;
        }
        let first_1 = done + offset;
        for (var c_15: i32 = first_1; c_15 < end; c_15 += 1024) {
          let c_16 = c_15 + 1;
          let c_17 = c_15 + 2;
          let c_18 = c_15 + 3;
          let Logits_at_7 = u32(position);
          let Logits_at_8 = Logits_at_7 * u32(params.V_1) + u32(c_15);
          let vector_at_4 = Logits_at_8 >> 2u;
          let Logits_vector_4 = Logits[vector_at_4];
          let x_16 = Logits_vector_4.x;
          let x_17 = Logits_vector_4.y;
          let x_18 = Logits_vector_4.z;
          let x_19 = Logits_vector_4.w;
          let part_5 = max(max(x_16, x_17), max(x_18, x_19));
          if (part_5 > peak) {
            let scale_1 = exp(max(peak - part_5, -104.0));
            exp_sum = exp_sum * scale_1;
            peak = part_5;
          }
          let shift_1 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_16 = exp(max(x_16 - shift_1, -104.0));
          let term_17 = exp(max(x_17 - shift_1, -104.0));
          let term_18 = exp(max(x_18 - shift_1, -104.0));
          let term_19 = exp(max(x_19 - shift_1, -104.0));
          let part_6 = term_16 + term_17 + (term_18 + term_19);
          exp_sum = exp_sum + part_6;
          let part_7 = max(max(bitcast<u32>(x_16) & 2147483647u, bitcast<u32>(x_17) & 2147483647u), max(bitcast<u32>(x_18) & 2147483647u, bitcast<u32>(x_19) & 2147483647u));
          magnitude = max(magnitude, part_7);
          let part_8 = x_16 + x_17 + (x_18 + x_19);
          sum = sum + part_8;
        }
      }
    }
    let has_nan = magnitude > 2139095040u;
    lanes_0[i32(local_index)] = peak;
    lanes_1[i32(local_index)] = exp_sum;
    lanes_2[i32(local_index)] = select(0u, 1u, has_nan);
    lanes_3[i32(local_index)] = sum;
    lanes_4[i32(local_index)] = picked;
    workgroupBarrier();
    let folds = lane < 16;
    if (folds) {
      let first_2 = lane * 16;
      let place_1 = first_2 + 1;
      let place_2 = first_2 + 2;
      let place_3 = first_2 + 3;
      let place_4 = first_2 + 4;
      let place_5 = first_2 + 5;
      let place_6 = first_2 + 6;
      let place_7 = first_2 + 7;
      let place_8 = first_2 + 8;
      let place_9 = first_2 + 9;
      let place_10 = first_2 + 10;
      let place_11 = first_2 + 11;
      let place_12 = first_2 + 12;
      let place_13 = first_2 + 13;
      let place_14 = first_2 + 14;
      let place_15 = first_2 + 15;
      let part_9 = lanes_0[first_2];
      let part_10 = lanes_1[first_2];
      let part_11 = lanes_2[first_2] != 0u;
      let part_12 = lanes_0[place_1];
      let part_13 = lanes_1[place_1];
      let part_14 = lanes_2[place_1] != 0u;
      let part_15 = lanes_0[place_2];
      let part_16 = lanes_1[place_2];
      let part_17 = lanes_2[place_2] != 0u;
      let part_18 = lanes_0[place_3];
      let part_19 = lanes_1[place_3];
      let part_20 = lanes_2[place_3] != 0u;
      let part_21 = lanes_0[place_4];
      let part_22 = lanes_1[place_4];
      let part_23 = lanes_2[place_4] != 0u;
      let part_24 = lanes_0[place_5];
      let part_25 = lanes_1[place_5];
      let part_26 = lanes_2[place_5] != 0u;
      let part_27 = lanes_0[place_6];
      let part_28 = lanes_1[place_6];
      let part_29 = lanes_2[place_6] != 0u;
      let part_30 = lanes_0[place_7];
      let part_31 = lanes_1[place_7];
      let part_32 = lanes_2[place_7] != 0u;
      let part_33 = lanes_0[place_8];
      let part_34 = lanes_1[place_8];
      let part_35 = lanes_2[place_8] != 0u;
      let part_36 = lanes_0[place_9];
      let part_37 = lanes_1[place_9];
      let part_38 = lanes_2[place_9] != 0u;
      let part_39 = lanes_0[place_10];
      let part_40 = lanes_1[place_10];
      let part_41 = lanes_2[place_10] != 0u;
      let part_42 = lanes_0[place_11];
      let part_43 = lanes_1[place_11];
      let part_44 = lanes_2[place_11] != 0u;
      let part_45 = lanes_0[place_12];
      let part_46 = lanes_1[place_12];
      let part_47 = lanes_2[place_12] != 0u;
      let part_48 = lanes_0[place_13];
      let part_49 = lanes_1[place_13];
      let part_50 = lanes_2[place_13] != 0u;
      let part_51 = lanes_0[place_14];
      let part_52 = lanes_1[place_14];
      let part_53 = lanes_2[place_14] != 0u;
      let part_54 = lanes_0[place_15];
      let part_55 = lanes_1[place_15];
      let part_56 = lanes_2[place_15] != 0u;
      let part_57 = max(max(max(max(part_9, part_12), max(part_15, part_18)), max(max(part_21, part_24), max(part_27, part_30))), max(max(max(part_33, part_36), max(part_39, part_42)), max(max(part_45, part_48), max(part_51, part_54))));
      let shift_2 = select(part_57, 0.0, (part_57 > 0x1.fffffep+127f));
      let term_20 = part_10 * exp(max(part_9 - shift_2, -104.0));
      let term_21 = part_13 * exp(max(part_12 - shift_2, -104.0));
      let term_22 = part_16 * exp(max(part_15 - shift_2, -104.0));
      let term_23 = part_19 * exp(max(part_18 - shift_2, -104.0));
      let term_24 = part_22 * exp(max(part_21 - shift_2, -104.0));
      let term_25 = part_25 * exp(max(part_24 - shift_2, -104.0));
      let term_26 = part_28 * exp(max(part_27 - shift_2, -104.0));
      let term_27 = part_31 * exp(max(part_30 - shift_2, -104.0));
      let term_28 = part_34 * exp(max(part_33 - shift_2, -104.0));
      let term_29 = part_37 * exp(max(part_36 - shift_2, -104.0));
      let term_30 = part_40 * exp(max(part_39 - shift_2, -104.0));
      let term_31 = part_43 * exp(max(part_42 - shift_2, -104.0));
      let term_32 = part_46 * exp(max(part_45 - shift_2, -104.0));
      let term_33 = part_49 * exp(max(part_48 - shift_2, -104.0));
      let term_34 = part_52 * exp(max(part_51 - shift_2, -104.0));
      let term_35 = part_55 * exp(max(part_54 - shift_2, -104.0));
      let part_58 = term_20 + term_21 + (term_22 + term_23) + (term_24 + term_25 + (term_26 + term_27)) + (term_28 + term_29 + (term_30 + term_31) + (term_32 + term_33 + (term_34 + term_35)));
      let part_59 = part_11 | part_14 | (part_17 | part_20) | (part_23 | part_26 | (part_29 | part_32)) | (part_35 | part_38 | (part_41 | part_44) | (part_47 | part_50 | (part_53 | part_56)));
      let part_60 = lanes_3[first_2];
      let part_61 = lanes_3[place_1];
      let part_62 = lanes_3[place_2];
      let part_63 = lanes_3[place_3];
      let part_64 = lanes_3[place_4];
      let part_65 = lanes_3[place_5];
      let part_66 = lanes_3[place_6];
      let part_67 = lanes_3[place_7];
      let part_68 = lanes_3[place_8];
      let part_69 = lanes_3[place_9];
      let part_70 = lanes_3[place_10];
      let part_71 = lanes_3[place_11];
      let part_72 = lanes_3[place_12];
      let part_73 = lanes_3[place_13];
      let part_74 = lanes_3[place_14];
      let part_75 = lanes_3[place_15];
      let part_76 = part_60 + part_61 + (part_62 + part_63) + (part_64 + part_65 + (part_66 + part_67)) + (part_68 + part_69 + (part_70 + part_71) + (part_72 + part_73 + (part_74 + part_75)));
      let part_77 = lanes_4[first_2];
      let part_78 = lanes_4[place_1];
      let part_79 = lanes_4[place_2];
      let part_80 = lanes_4[place_3];
      let part_81 = lanes_4[place_4];
      let part_82 = lanes_4[place_5];
      let part_83 = lanes_4[place_6];
      let part_84 = lanes_4[place_7];
      let part_85 = lanes_4[place_8];
      let part_86 = lanes_4[place_9];
      let part_87 = lanes_4[place_10];
      let part_88 = lanes_4[place_11];
      let part_89 = lanes_4[place_12];
      let part_90 = lanes_4[place_13];
      let part_91 = lanes_4[place_14];
      let part_92 = lanes_4[place_15];
      let part_93 = part_77 + part_78 + (part_79 + part_80) + (part_81 + part_82 + (part_83 + part_84)) + (part_85 + part_86 + (part_87 + part_88) + (part_89 + part_90 + (part_91 + part_92)));
      groups_0[lane] = part_57;
      groups_1[lane] = part_58;
      groups_2[lane] = select(0u, 1u, part_59);
      groups_3[lane] = part_76;
      groups_4[lane] = part_93;
    }
    workgroupBarrier();
    let part_94 = groups_0[0];
    let part_95 = groups_1[0];
    let part_96 = groups_2[0] != 0u;
    let part_97 = groups_0[1];
    let part_98 = groups_1[1];
    let part_99 = groups_2[1] != 0u;
    let part_100 = groups_0[2];
    let part_101 = groups_1[2];
    let part_102 = groups_2[2] != 0u;
    let part_103 = groups_0[3];
    let part_104 = groups_1[3];
    let part_105 = groups_2[3] != 0u;
    let part_106 = groups_0[4];
    let part_107 = groups_1[4];
    let part_108 = groups_2[4] != 0u;
    let part_109 = groups_0[5];
    let part_110 = groups_1[5];
    let part_111 = groups_2[5] != 0u;
    let part_112 = groups_0[6];
    let part_113 = groups_1[6];
    let part_114 = groups_2[6] != 0u;
    let part_115 = groups_0[7];
    let part_116 = groups_1[7];
    let part_117 = groups_2[7] != 0u;
    let part_118 = groups_0[8];
    let part_119 = groups_1[8];
    let part_120 = groups_2[8] != 0u;
    let part_121 = groups_0[9];
    let part_122 = groups_1[9];
    let part_123 = groups_2[9] != 0u;
    let part_124 = groups_0[10];
    let part_125 = groups_1[10];
    let part_126 = groups_2[10] != 0u;
    let part_127 = groups_0[11];
    let part_128 = groups_1[11];
    let part_129 = groups_2[11] != 0u;
    let part_130 = groups_0[12];
    let part_131 = groups_1[12];
    let part_132 = groups_2[12] != 0u;
    let part_133 = groups_0[13];
    let part_134 = groups_1[13];
    let part_135 = groups_2[13] != 0u;
    let part_136 = groups_0[14];
    let part_137 = groups_1[14];
    let part_138 = groups_2[14] != 0u;
    let part_139 = groups_0[15];
    let part_140 = groups_1[15];
    let part_141 = groups_2[15] != 0u;
    let part_142 = max(max(max(max(part_94, part_97), max(part_100, part_103)), max(max(part_106, part_109), max(part_112, part_115))), max(max(max(part_118, part_121), max(part_124, part_127)), max(max(part_130, part_133), max(part_136, part_139))));
    let shift_3 = select(part_142, 0.0, (part_142 > 0x1.fffffep+127f));
    let term_36 = part_95 * exp(max(part_94 - shift_3, -104.0));
    let term_37 = part_98 * exp(max(part_97 - shift_3, -104.0));
    let term_38 = part_101 * exp(max(part_100 - shift_3, -104.0));
    let term_39 = part_104 * exp(max(part_103 - shift_3, -104.0));
    let term_40 = part_107 * exp(max(part_106 - shift_3, -104.0));
    let term_41 = part_110 * exp(max(part_109 - shift_3, -104.0));
    let term_42 = part_113 * exp(max(part_112 - shift_3, -104.0));
    let term_43 = part_116 * exp(max(part_115 - shift_3, -104.0));
    let term_44 = part_119 * exp(max(part_118 - shift_3, -104.0));
    let term_45 = part_122 * exp(max(part_121 - shift_3, -104.0));
    let term_46 = part_125 * exp(max(part_124 - shift_3, -104.0));
    let term_47 = part_128 * exp(max(part_127 - shift_3, -104.0));
    let term_48 = part_131 * exp(max(part_130 - shift_3, -104.0));
    let term_49 = part_134 * exp(max(part_133 - shift_3, -104.0));
    let term_50 = part_137 * exp(max(part_136 - shift_3, -104.0));
    let term_51 = part_140 * exp(max(part_139 - shift_3, -104.0));
    let part_143 = term_36 + term_37 + (term_38 + term_39) + (term_40 + term_41 + (term_42 + term_43)) + (term_44 + term_45 + (term_46 + term_47) + (term_48 + term_49 + (term_50 + term_51)));
    let part_144 = part_96 | part_99 | (part_102 | part_105) | (part_108 | part_111 | (part_114 | part_117)) | (part_120 | part_123 | (part_126 | part_129) | (part_132 | part_135 | (part_138 | part_141)));
    let part_145 = groups_3[0];
    let part_146 = groups_3[1];
    let part_147 = groups_3[2];
    let part_148 = groups_3[3];
    let part_149 = groups_3[4];
    let part_150 = groups_3[5];
    let part_151 = groups_3[6];
    let part_152 = groups_3[7];
    let part_153 = groups_3[8];
    let part_154 = groups_3[9];
    let part_155 = groups_3[10];
    let part_156 = groups_3[11];
    let part_157 = groups_3[12];
    let part_158 = groups_3[13];
    let part_159 = groups_3[14];
    let part_160 = groups_3[15];
    let part_161 = part_145 + part_146 + (part_147 + part_148) + (part_149 + part_150 + (part_151 + part_152)) + (part_153 + part_154 + (part_155 + part_156) + (part_157 + part_158 + (part_159 + part_160)));
    let part_162 = groups_4[0];
    let part_163 = groups_4[1];
    let part_164 = groups_4[2];
    let part_165 = groups_4[3];
    let part_166 = groups_4[4];
    let part_167 = groups_4[5];
    let part_168 = groups_4[6];
    let part_169 = groups_4[7];
    let part_170 = groups_4[8];
    let part_171 = groups_4[9];
    let part_172 = groups_4[10];
    let part_173 = groups_4[11];
    let part_174 = groups_4[12];
    let part_175 = groups_4[13];
    let part_176 = groups_4[14];
    let part_177 = groups_4[15];
    let part_178 = part_162 + part_163 + (part_164 + part_165) + (part_166 + part_167 + (part_168 + part_169)) + (part_170 + part_171 + (part_172 + part_173) + (part_174 + part_175 + (part_176 + part_177)));
    if (lane == 0) {
      let word = u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part);
      scratch[word] = bitcast<u32>(part_142);
      let word_1 = params.n8_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_c + (u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part));
      scratch[word_1] = bitcast<u32>(part_143);
      let word_2 = params.n16_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8 + (u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part));
      scratch[word_2] = select(0u, 1u, part_144);
      let word_3 = params.n24_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8 + (u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part));
      scratch[word_3] = bitcast<u32>(part_161);
      let word_4 = params.n32_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8 + (u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part));
      scratch[word_4] = bitcast<u32>(part_178);
    }
  }
}

@compute @workgroup_size(256)
fn train_loss_1(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.n8_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_c) {
    let lane = i32(local_index);
    let part = i32(u32(i32(workgroup_index)) % u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8));
    let group_1 = i32(u32(i32(workgroup_index)) / u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8));
    let block = group_1 >> 3u;
    let job = group_1 & 7;
    var peak: f32 = -0x1.fffffep+127f;
    var exp_sum: f32 = 0.0;
    var magnitude: u32 = 0u;
    let has_nan = magnitude > 2139095040u;
    var held: f32 = peak;
    var held_1: f32 = exp_sum;
    var held_2: bool = has_nan;
    var sum: f32 = 0.0;
    var held_3: f32 = sum;
    var picked: f32 = 0.0;
    var held_4: f32 = picked;
    for (var part_1: i32 = lane; part_1 < params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8; part_1 += 256) {
      let word = u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part_1);
      let loaded = bitcast<f32>(scratch[word]);
      let word_1 = params.n8_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_c + (u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part_1));
      let loaded_1 = bitcast<f32>(scratch[word_1]);
      let word_2 = params.n16_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8 + (u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part_1));
      let loaded_2 = scratch[word_2] != 0u;
      let part_2 = max(held, loaded);
      let shift = select(part_2, 0.0, (part_2 > 0x1.fffffep+127f));
      let term = held_1 * exp(max(held - shift, -104.0));
      let term_1 = loaded_1 * exp(max(loaded - shift, -104.0));
      let part_3 = term + term_1;
      let part_4 = held_2 | loaded_2;
      held = part_2;
      held_1 = part_3;
      held_2 = part_4;
      let word_3 = params.n24_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8 + (u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part_1));
      let loaded_3 = bitcast<f32>(scratch[word_3]);
      let part_5 = held_3 + loaded_3;
      held_3 = part_5;
      let word_4 = params.n32_ceildiv_M_8_max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8 + (u32(group_1) * u32(params.max_1_min_ceildiv_V_4096_ceildiv_512_max_1_8_ceildiv_M_8) + u32(part_1));
      let loaded_4 = bitcast<f32>(scratch[word_4]);
      let part_6 = held_4 + loaded_4;
      held_4 = part_6;
    }
    lanes_0_1[i32(local_index)] = held;
    lanes_1_1[i32(local_index)] = held_1;
    lanes_2_1[i32(local_index)] = select(0u, 1u, held_2);
    lanes_3_1[i32(local_index)] = held_3;
    lanes_4_1[i32(local_index)] = held_4;
    workgroupBarrier();
    let folds = lane < 16;
    if (folds) {
      let first = lane * 16;
      let place = first + 1;
      let place_1 = first + 2;
      let place_2 = first + 3;
      let place_3 = first + 4;
      let place_4 = first + 5;
      let place_5 = first + 6;
      let place_6 = first + 7;
      let place_7 = first + 8;
      let place_8 = first + 9;
      let place_9 = first + 10;
      let place_10 = first + 11;
      let place_11 = first + 12;
      let place_12 = first + 13;
      let place_13 = first + 14;
      let place_14 = first + 15;
      let part_7 = lanes_0_1[first];
      let part_8 = lanes_1_1[first];
      let part_9 = lanes_2_1[first] != 0u;
      let part_10 = lanes_0_1[place];
      let part_11 = lanes_1_1[place];
      let part_12 = lanes_2_1[place] != 0u;
      let part_13 = lanes_0_1[place_1];
      let part_14 = lanes_1_1[place_1];
      let part_15 = lanes_2_1[place_1] != 0u;
      let part_16 = lanes_0_1[place_2];
      let part_17 = lanes_1_1[place_2];
      let part_18 = lanes_2_1[place_2] != 0u;
      let part_19 = lanes_0_1[place_3];
      let part_20 = lanes_1_1[place_3];
      let part_21 = lanes_2_1[place_3] != 0u;
      let part_22 = lanes_0_1[place_4];
      let part_23 = lanes_1_1[place_4];
      let part_24 = lanes_2_1[place_4] != 0u;
      let part_25 = lanes_0_1[place_5];
      let part_26 = lanes_1_1[place_5];
      let part_27 = lanes_2_1[place_5] != 0u;
      let part_28 = lanes_0_1[place_6];
      let part_29 = lanes_1_1[place_6];
      let part_30 = lanes_2_1[place_6] != 0u;
      let part_31 = lanes_0_1[place_7];
      let part_32 = lanes_1_1[place_7];
      let part_33 = lanes_2_1[place_7] != 0u;
      let part_34 = lanes_0_1[place_8];
      let part_35 = lanes_1_1[place_8];
      let part_36 = lanes_2_1[place_8] != 0u;
      let part_37 = lanes_0_1[place_9];
      let part_38 = lanes_1_1[place_9];
      let part_39 = lanes_2_1[place_9] != 0u;
      let part_40 = lanes_0_1[place_10];
      let part_41 = lanes_1_1[place_10];
      let part_42 = lanes_2_1[place_10] != 0u;
      let part_43 = lanes_0_1[place_11];
      let part_44 = lanes_1_1[place_11];
      let part_45 = lanes_2_1[place_11] != 0u;
      let part_46 = lanes_0_1[place_12];
      let part_47 = lanes_1_1[place_12];
      let part_48 = lanes_2_1[place_12] != 0u;
      let part_49 = lanes_0_1[place_13];
      let part_50 = lanes_1_1[place_13];
      let part_51 = lanes_2_1[place_13] != 0u;
      let part_52 = lanes_0_1[place_14];
      let part_53 = lanes_1_1[place_14];
      let part_54 = lanes_2_1[place_14] != 0u;
      let part_55 = max(max(max(max(part_7, part_10), max(part_13, part_16)), max(max(part_19, part_22), max(part_25, part_28))), max(max(max(part_31, part_34), max(part_37, part_40)), max(max(part_43, part_46), max(part_49, part_52))));
      let shift_1 = select(part_55, 0.0, (part_55 > 0x1.fffffep+127f));
      let term_2 = part_8 * exp(max(part_7 - shift_1, -104.0));
      let term_3 = part_11 * exp(max(part_10 - shift_1, -104.0));
      let term_4 = part_14 * exp(max(part_13 - shift_1, -104.0));
      let term_5 = part_17 * exp(max(part_16 - shift_1, -104.0));
      let term_6 = part_20 * exp(max(part_19 - shift_1, -104.0));
      let term_7 = part_23 * exp(max(part_22 - shift_1, -104.0));
      let term_8 = part_26 * exp(max(part_25 - shift_1, -104.0));
      let term_9 = part_29 * exp(max(part_28 - shift_1, -104.0));
      let term_10 = part_32 * exp(max(part_31 - shift_1, -104.0));
      let term_11 = part_35 * exp(max(part_34 - shift_1, -104.0));
      let term_12 = part_38 * exp(max(part_37 - shift_1, -104.0));
      let term_13 = part_41 * exp(max(part_40 - shift_1, -104.0));
      let term_14 = part_44 * exp(max(part_43 - shift_1, -104.0));
      let term_15 = part_47 * exp(max(part_46 - shift_1, -104.0));
      let term_16 = part_50 * exp(max(part_49 - shift_1, -104.0));
      let term_17 = part_53 * exp(max(part_52 - shift_1, -104.0));
      let part_56 = term_2 + term_3 + (term_4 + term_5) + (term_6 + term_7 + (term_8 + term_9)) + (term_10 + term_11 + (term_12 + term_13) + (term_14 + term_15 + (term_16 + term_17)));
      let part_57 = part_9 | part_12 | (part_15 | part_18) | (part_21 | part_24 | (part_27 | part_30)) | (part_33 | part_36 | (part_39 | part_42) | (part_45 | part_48 | (part_51 | part_54)));
      let part_58 = lanes_3_1[first];
      let part_59 = lanes_3_1[place];
      let part_60 = lanes_3_1[place_1];
      let part_61 = lanes_3_1[place_2];
      let part_62 = lanes_3_1[place_3];
      let part_63 = lanes_3_1[place_4];
      let part_64 = lanes_3_1[place_5];
      let part_65 = lanes_3_1[place_6];
      let part_66 = lanes_3_1[place_7];
      let part_67 = lanes_3_1[place_8];
      let part_68 = lanes_3_1[place_9];
      let part_69 = lanes_3_1[place_10];
      let part_70 = lanes_3_1[place_11];
      let part_71 = lanes_3_1[place_12];
      let part_72 = lanes_3_1[place_13];
      let part_73 = lanes_3_1[place_14];
      let part_74 = part_58 + part_59 + (part_60 + part_61) + (part_62 + part_63 + (part_64 + part_65)) + (part_66 + part_67 + (part_68 + part_69) + (part_70 + part_71 + (part_72 + part_73)));
      let part_75 = lanes_4_1[first];
      let part_76 = lanes_4_1[place];
      let part_77 = lanes_4_1[place_1];
      let part_78 = lanes_4_1[place_2];
      let part_79 = lanes_4_1[place_3];
      let part_80 = lanes_4_1[place_4];
      let part_81 = lanes_4_1[place_5];
      let part_82 = lanes_4_1[place_6];
      let part_83 = lanes_4_1[place_7];
      let part_84 = lanes_4_1[place_8];
      let part_85 = lanes_4_1[place_9];
      let part_86 = lanes_4_1[place_10];
      let part_87 = lanes_4_1[place_11];
      let part_88 = lanes_4_1[place_12];
      let part_89 = lanes_4_1[place_13];
      let part_90 = lanes_4_1[place_14];
      let part_91 = part_75 + part_76 + (part_77 + part_78) + (part_79 + part_80 + (part_81 + part_82)) + (part_83 + part_84 + (part_85 + part_86) + (part_87 + part_88 + (part_89 + part_90)));
      groups_0_1[lane] = part_55;
      groups_1_1[lane] = part_56;
      groups_2_1[lane] = select(0u, 1u, part_57);
      groups_3_1[lane] = part_74;
      groups_4_1[lane] = part_91;
    }
    workgroupBarrier();
    let part_92 = groups_0_1[0];
    let part_93 = groups_1_1[0];
    let part_94 = groups_2_1[0] != 0u;
    let part_95 = groups_0_1[1];
    let part_96 = groups_1_1[1];
    let part_97 = groups_2_1[1] != 0u;
    let part_98 = groups_0_1[2];
    let part_99 = groups_1_1[2];
    let part_100 = groups_2_1[2] != 0u;
    let part_101 = groups_0_1[3];
    let part_102 = groups_1_1[3];
    let part_103 = groups_2_1[3] != 0u;
    let part_104 = groups_0_1[4];
    let part_105 = groups_1_1[4];
    let part_106 = groups_2_1[4] != 0u;
    let part_107 = groups_0_1[5];
    let part_108 = groups_1_1[5];
    let part_109 = groups_2_1[5] != 0u;
    let part_110 = groups_0_1[6];
    let part_111 = groups_1_1[6];
    let part_112 = groups_2_1[6] != 0u;
    let part_113 = groups_0_1[7];
    let part_114 = groups_1_1[7];
    let part_115 = groups_2_1[7] != 0u;
    let part_116 = groups_0_1[8];
    let part_117 = groups_1_1[8];
    let part_118 = groups_2_1[8] != 0u;
    let part_119 = groups_0_1[9];
    let part_120 = groups_1_1[9];
    let part_121 = groups_2_1[9] != 0u;
    let part_122 = groups_0_1[10];
    let part_123 = groups_1_1[10];
    let part_124 = groups_2_1[10] != 0u;
    let part_125 = groups_0_1[11];
    let part_126 = groups_1_1[11];
    let part_127 = groups_2_1[11] != 0u;
    let part_128 = groups_0_1[12];
    let part_129 = groups_1_1[12];
    let part_130 = groups_2_1[12] != 0u;
    let part_131 = groups_0_1[13];
    let part_132 = groups_1_1[13];
    let part_133 = groups_2_1[13] != 0u;
    let part_134 = groups_0_1[14];
    let part_135 = groups_1_1[14];
    let part_136 = groups_2_1[14] != 0u;
    let part_137 = groups_0_1[15];
    let part_138 = groups_1_1[15];
    let part_139 = groups_2_1[15] != 0u;
    let part_140 = max(max(max(max(part_92, part_95), max(part_98, part_101)), max(max(part_104, part_107), max(part_110, part_113))), max(max(max(part_116, part_119), max(part_122, part_125)), max(max(part_128, part_131), max(part_134, part_137))));
    let shift_2 = select(part_140, 0.0, (part_140 > 0x1.fffffep+127f));
    let term_18 = part_93 * exp(max(part_92 - shift_2, -104.0));
    let term_19 = part_96 * exp(max(part_95 - shift_2, -104.0));
    let term_20 = part_99 * exp(max(part_98 - shift_2, -104.0));
    let term_21 = part_102 * exp(max(part_101 - shift_2, -104.0));
    let term_22 = part_105 * exp(max(part_104 - shift_2, -104.0));
    let term_23 = part_108 * exp(max(part_107 - shift_2, -104.0));
    let term_24 = part_111 * exp(max(part_110 - shift_2, -104.0));
    let term_25 = part_114 * exp(max(part_113 - shift_2, -104.0));
    let term_26 = part_117 * exp(max(part_116 - shift_2, -104.0));
    let term_27 = part_120 * exp(max(part_119 - shift_2, -104.0));
    let term_28 = part_123 * exp(max(part_122 - shift_2, -104.0));
    let term_29 = part_126 * exp(max(part_125 - shift_2, -104.0));
    let term_30 = part_129 * exp(max(part_128 - shift_2, -104.0));
    let term_31 = part_132 * exp(max(part_131 - shift_2, -104.0));
    let term_32 = part_135 * exp(max(part_134 - shift_2, -104.0));
    let term_33 = part_138 * exp(max(part_137 - shift_2, -104.0));
    let part_141 = term_18 + term_19 + (term_20 + term_21) + (term_22 + term_23 + (term_24 + term_25)) + (term_26 + term_27 + (term_28 + term_29) + (term_30 + term_31 + (term_32 + term_33)));
    let part_142 = part_94 | part_97 | (part_100 | part_103) | (part_106 | part_109 | (part_112 | part_115)) | (part_118 | part_121 | (part_124 | part_127) | (part_130 | part_133 | (part_136 | part_139)));
    let part_143 = groups_3_1[0];
    let part_144 = groups_3_1[1];
    let part_145 = groups_3_1[2];
    let part_146 = groups_3_1[3];
    let part_147 = groups_3_1[4];
    let part_148 = groups_3_1[5];
    let part_149 = groups_3_1[6];
    let part_150 = groups_3_1[7];
    let part_151 = groups_3_1[8];
    let part_152 = groups_3_1[9];
    let part_153 = groups_3_1[10];
    let part_154 = groups_3_1[11];
    let part_155 = groups_3_1[12];
    let part_156 = groups_3_1[13];
    let part_157 = groups_3_1[14];
    let part_158 = groups_3_1[15];
    let part_159 = part_143 + part_144 + (part_145 + part_146) + (part_147 + part_148 + (part_149 + part_150)) + (part_151 + part_152 + (part_153 + part_154) + (part_155 + part_156 + (part_157 + part_158)));
    let part_160 = groups_4_1[0];
    let part_161 = groups_4_1[1];
    let part_162 = groups_4_1[2];
    let part_163 = groups_4_1[3];
    let part_164 = groups_4_1[4];
    let part_165 = groups_4_1[5];
    let part_166 = groups_4_1[6];
    let part_167 = groups_4_1[7];
    let part_168 = groups_4_1[8];
    let part_169 = groups_4_1[9];
    let part_170 = groups_4_1[10];
    let part_171 = groups_4_1[11];
    let part_172 = groups_4_1[12];
    let part_173 = groups_4_1[13];
    let part_174 = groups_4_1[14];
    let part_175 = groups_4_1[15];
    let part_176 = part_160 + part_161 + (part_162 + part_163) + (part_164 + part_165 + (part_166 + part_167)) + (part_168 + part_169 + (part_170 + part_171) + (part_172 + part_173 + (part_174 + part_175)));
    let is_empty = eq_f32(part_141, 0.0);
    let is_huge = gt_f32(part_140, 0x1.fffffep+127f);
    let max_ = select(select(part_140, f32_from_bits(0xff800000u), is_empty), f32_from_bits(0x7fc00000u), part_142);
    let safe = select(part_141, 1.0, is_empty | is_huge);
    let rest = select(log_f32(safe), f32_from_bits(0x7fc00000u), part_142);
    if (part == 0) {
      let extent = params.M - 8 * block;
      let is_active = job < extent;
      if ((lane == 0) & is_active) {
        let lse = max_ + rest;
        let square = square_f32(lse);
        let mul = params.beta * square;
        let count = 1 * params.V_1;
        let value = f32(count);
        let div_f32 = part_159 / value;
        let mul_1 = params.alpha * div_f32;
        let gt = gt_f32(params.alpha, 0.0);
        let smooth_ = where_f32(gt, mul_1, 0.0);
        let sub = 1.0 - params.alpha;
        let mul_2 = sub * part_176;
        let sub_1 = max_ - mul_2;
        let add = sub_1 + rest;
        let sub_2 = add - smooth_;
        let add_1 = sub_2 + mul;
        let r = block * 8;
        let position = r + job;
        let Target_at = u32(position);
        let value_1 = Target[Target_at];
        let lt = value_1 < params.V_1;
        let ge = value_1 >= 0;
        let ne = value_1 != params.ignore_index;
        let and = ne & ge;
        let and_1 = and & lt;
        let loss = where_f32(and_1, add_1, 0.0);
        let Loss_at = u32(position);
        Loss[Loss_at] = loss;
      }
    }
    let bound = min(u32(part) * params.n4096_ceildiv_ceildiv_V_max_1_min_ceildiv_V_4096_ceildiv_512, params.V);
    let bound_1 = min(bound + params.n4096_ceildiv_ceildiv_V_max_1_min_ceildiv_V_4096_ceildiv_512, params.V);
    let first_1 = i32(bound);
    let end = i32(bound_1);
    let extent_1 = params.M - 8 * block;
    let is_active_1 = job < extent_1;
    if (is_active_1) {
      let r_1 = block * 8;
      let position_1 = r_1 + job;
      let Target_at_1 = u32(position_1);
      let value_2 = Target[Target_at_1];
      let lt_1 = value_2 < params.V_1;
      let ge_1 = value_2 >= 0;
      let ne_1 = value_2 != params.ignore_index;
      let and_2 = ne_1 & ge_1;
      let and_3 = and_2 & lt_1;
      if (and_3) {
        let count_1 = 1 * params.V_1;
        let value_3 = f32(count_1);
        let div_f32_1 = params.alpha / value_3;
        let gt_1 = gt_f32(params.alpha, 0.0);
        let where_ = where_f32(gt_1, div_f32_1, 0.0);
        let mul_3 = where_ * params.inv_norm;
        let sub_3 = 1.0 - params.alpha;
        let add_2 = sub_3 + where_;
        let mul_4 = add_2 * params.inv_norm;
        let mul_5 = params.beta * 2.0;
        let lse_1 = max_ + rest;
        let mul_6 = lse_1 * mul_5;
        let add_3 = mul_6 + 1.0;
        let neg = -rest;
        let exp_ = exp_f32(neg);
        let mul_7 = exp_ * add_3;
        let mul_8 = mul_7 * params.inv_norm;
        let offset = lane * 4;
        let rounds = (end - first_1) >> 12u;
        let done = first_1 + rounds * 4096;
        let first_2 = done + offset;
        for (var c: i32 = first_2; c < end; c += 1024) {
          let c_1 = c + 1;
          let c_2 = c + 2;
          let c_3 = c + 3;
          let meets = (u32(value_2 - c) & 4294967292u) == 0u;
          if (meets) {
            let eq = c == value_2;
            let where_1 = where_f32(eq, mul_4, mul_3);
            let Logits_at = u32(position_1);
            let Logits_at_1 = Logits_at * u32(params.V_1) + u32(c);
            let vector_at = Logits_at_1 >> 2u;
            let Logits_vector = Logits[vector_at];
            let x = Logits_vector.x;
            let sub_4 = x - max_;
            let exp_1 = exp_f32(sub_4);
            let mul_9 = exp_1 * mul_8;
            let sub_5 = mul_9 - where_1;
            let eq_1 = c_1 == value_2;
            let where_2 = where_f32(eq_1, mul_4, mul_3);
            let x_1 = Logits_vector.y;
            let sub_6 = x_1 - max_;
            let exp_2 = exp_f32(sub_6);
            let mul_10 = exp_2 * mul_8;
            let sub_7 = mul_10 - where_2;
            let eq_2 = c_2 == value_2;
            let where_3 = where_f32(eq_2, mul_4, mul_3);
            let x_2 = Logits_vector.z;
            let sub_8 = x_2 - max_;
            let exp_3 = exp_f32(sub_8);
            let mul_11 = exp_3 * mul_8;
            let sub_9 = mul_11 - where_3;
            let eq_3 = c_3 == value_2;
            let where_4 = where_f32(eq_3, mul_4, mul_3);
            let x_3 = Logits_vector.w;
            let sub_10 = x_3 - max_;
            let exp_4 = exp_f32(sub_10);
            let mul_12 = exp_4 * mul_8;
            let sub_11 = mul_12 - where_4;
            Logits[vector_at] = vec4<f32>(sub_5, sub_7, sub_9, sub_11);
          } else {
            let Logits_at_2 = u32(position_1);
            let Logits_at_3 = Logits_at_2 * u32(params.V_1) + u32(c);
            let vector_at_1 = Logits_at_3 >> 2u;
            let Logits_vector_1 = Logits[vector_at_1];
            let x_4 = Logits_vector_1.x;
            let sub_12 = x_4 - max_;
            let exp_5 = exp_f32(sub_12);
            let mul_13 = exp_5 * mul_8;
            let sub_13 = mul_13 - mul_3;
            let x_5 = Logits_vector_1.y;
            let sub_14 = x_5 - max_;
            let exp_6 = exp_f32(sub_14);
            let mul_14 = exp_6 * mul_8;
            let sub_15 = mul_14 - mul_3;
            let x_6 = Logits_vector_1.z;
            let sub_16 = x_6 - max_;
            let exp_7 = exp_f32(sub_16);
            let mul_15 = exp_7 * mul_8;
            let sub_17 = mul_15 - mul_3;
            let x_7 = Logits_vector_1.w;
            let sub_18 = x_7 - max_;
            let exp_8 = exp_f32(sub_18);
            let mul_16 = exp_8 * mul_8;
            let sub_19 = mul_16 - mul_3;
            Logits[vector_at_1] = vec4<f32>(sub_13, sub_15, sub_17, sub_19);
          }
        }
        for (var round_: i32 = 0; round_ < rounds; round_ += 1) {
          let start = first_1 + (rounds - 1 - round_) * 4096 + offset;
          let c_4 = start + 1;
          let c_5 = start + 2;
          let c_6 = start + 3;
          let c_7 = start + 1024;
          let c_8 = c_7 + 1;
          let c_9 = c_7 + 2;
          let c_10 = c_7 + 3;
          let c_11 = start + 2048;
          let c_12 = c_11 + 1;
          let c_13 = c_11 + 2;
          let c_14 = c_11 + 3;
          let c_15 = start + 3072;
          let c_16 = c_15 + 1;
          let c_17 = c_15 + 2;
          let c_18 = c_15 + 3;
          let Logits_at_4 = u32(position_1);
          let Logits_at_5 = Logits_at_4 * u32(params.V_1) + u32(start);
          let vector_at_2 = Logits_at_5 >> 2u;
          let Logits_vector_2 = Logits[vector_at_2];
          let x_8 = Logits_vector_2.x;
          let x_9 = Logits_vector_2.y;
          let x_10 = Logits_vector_2.z;
          let x_11 = Logits_vector_2.w;
          let Logits_at_6 = Logits_at_4 * u32(params.V_1) + u32(c_7);
          let vector_at_3 = Logits_at_6 >> 2u;
          let Logits_vector_3 = Logits[vector_at_3];
          let x_12 = Logits_vector_3.x;
          let x_13 = Logits_vector_3.y;
          let x_14 = Logits_vector_3.z;
          let x_15 = Logits_vector_3.w;
          let Logits_at_7 = Logits_at_4 * u32(params.V_1) + u32(c_11);
          let vector_at_4 = Logits_at_7 >> 2u;
          let Logits_vector_4 = Logits[vector_at_4];
          let x_16 = Logits_vector_4.x;
          let x_17 = Logits_vector_4.y;
          let x_18 = Logits_vector_4.z;
          let x_19 = Logits_vector_4.w;
          let Logits_at_8 = Logits_at_4 * u32(params.V_1) + u32(c_15);
          let vector_at_5 = Logits_at_8 >> 2u;
          let Logits_vector_5 = Logits[vector_at_5];
          let x_20 = Logits_vector_5.x;
          let x_21 = Logits_vector_5.y;
          let x_22 = Logits_vector_5.z;
          let x_23 = Logits_vector_5.w;
          let meets_1 = (u32(value_2 - start) & 4294964220u) == 0u;
          if (meets_1) {
            let eq_4 = start == value_2;
            let where_5 = where_f32(eq_4, mul_4, mul_3);
            let sub_20 = x_8 - max_;
            let exp_9 = exp_f32(sub_20);
            let mul_17 = exp_9 * mul_8;
            let sub_21 = mul_17 - where_5;
            let eq_5 = c_4 == value_2;
            let where_6 = where_f32(eq_5, mul_4, mul_3);
            let sub_22 = x_9 - max_;
            let exp_10 = exp_f32(sub_22);
            let mul_18 = exp_10 * mul_8;
            let sub_23 = mul_18 - where_6;
            let eq_6 = c_5 == value_2;
            let where_7 = where_f32(eq_6, mul_4, mul_3);
            let sub_24 = x_10 - max_;
            let exp_11 = exp_f32(sub_24);
            let mul_19 = exp_11 * mul_8;
            let sub_25 = mul_19 - where_7;
            let eq_7 = c_6 == value_2;
            let where_8 = where_f32(eq_7, mul_4, mul_3);
            let sub_26 = x_11 - max_;
            let exp_12 = exp_f32(sub_26);
            let mul_20 = exp_12 * mul_8;
            let sub_27 = mul_20 - where_8;
            Logits[vector_at_2] = vec4<f32>(sub_21, sub_23, sub_25, sub_27);
            let eq_8 = c_7 == value_2;
            let where_9 = where_f32(eq_8, mul_4, mul_3);
            let sub_28 = x_12 - max_;
            let exp_13 = exp_f32(sub_28);
            let mul_21 = exp_13 * mul_8;
            let sub_29 = mul_21 - where_9;
            let eq_9 = c_8 == value_2;
            let where_10 = where_f32(eq_9, mul_4, mul_3);
            let sub_30 = x_13 - max_;
            let exp_14 = exp_f32(sub_30);
            let mul_22 = exp_14 * mul_8;
            let sub_31 = mul_22 - where_10;
            let eq_10 = c_9 == value_2;
            let where_11 = where_f32(eq_10, mul_4, mul_3);
            let sub_32 = x_14 - max_;
            let exp_15 = exp_f32(sub_32);
            let mul_23 = exp_15 * mul_8;
            let sub_33 = mul_23 - where_11;
            let eq_11 = c_10 == value_2;
            let where_12 = where_f32(eq_11, mul_4, mul_3);
            let sub_34 = x_15 - max_;
            let exp_16 = exp_f32(sub_34);
            let mul_24 = exp_16 * mul_8;
            let sub_35 = mul_24 - where_12;
            Logits[vector_at_3] = vec4<f32>(sub_29, sub_31, sub_33, sub_35);
            let eq_12 = c_11 == value_2;
            let where_13 = where_f32(eq_12, mul_4, mul_3);
            let sub_36 = x_16 - max_;
            let exp_17 = exp_f32(sub_36);
            let mul_25 = exp_17 * mul_8;
            let sub_37 = mul_25 - where_13;
            let eq_13 = c_12 == value_2;
            let where_14 = where_f32(eq_13, mul_4, mul_3);
            let sub_38 = x_17 - max_;
            let exp_18 = exp_f32(sub_38);
            let mul_26 = exp_18 * mul_8;
            let sub_39 = mul_26 - where_14;
            let eq_14 = c_13 == value_2;
            let where_15 = where_f32(eq_14, mul_4, mul_3);
            let sub_40 = x_18 - max_;
            let exp_19 = exp_f32(sub_40);
            let mul_27 = exp_19 * mul_8;
            let sub_41 = mul_27 - where_15;
            let eq_15 = c_14 == value_2;
            let where_16 = where_f32(eq_15, mul_4, mul_3);
            let sub_42 = x_19 - max_;
            let exp_20 = exp_f32(sub_42);
            let mul_28 = exp_20 * mul_8;
            let sub_43 = mul_28 - where_16;
            Logits[vector_at_4] = vec4<f32>(sub_37, sub_39, sub_41, sub_43);
            let eq_16 = c_15 == value_2;
            let where_17 = where_f32(eq_16, mul_4, mul_3);
            let sub_44 = x_20 - max_;
            let exp_21 = exp_f32(sub_44);
            let mul_29 = exp_21 * mul_8;
            let sub_45 = mul_29 - where_17;
            let eq_17 = c_16 == value_2;
            let where_18 = where_f32(eq_17, mul_4, mul_3);
            let sub_46 = x_21 - max_;
            let exp_22 = exp_f32(sub_46);
            let mul_30 = exp_22 * mul_8;
            let sub_47 = mul_30 - where_18;
            let eq_18 = c_17 == value_2;
            let where_19 = where_f32(eq_18, mul_4, mul_3);
            let sub_48 = x_22 - max_;
            let exp_23 = exp_f32(sub_48);
            let mul_31 = exp_23 * mul_8;
            let sub_49 = mul_31 - where_19;
            let eq_19 = c_18 == value_2;
            let where_20 = where_f32(eq_19, mul_4, mul_3);
            let sub_50 = x_23 - max_;
            let exp_24 = exp_f32(sub_50);
            let mul_32 = exp_24 * mul_8;
            let sub_51 = mul_32 - where_20;
            Logits[vector_at_5] = vec4<f32>(sub_45, sub_47, sub_49, sub_51);
          } else {
            let sub_52 = x_8 - max_;
            let exp_25 = exp_f32(sub_52);
            let mul_33 = exp_25 * mul_8;
            let sub_53 = mul_33 - mul_3;
            let sub_54 = x_9 - max_;
            let exp_26 = exp_f32(sub_54);
            let mul_34 = exp_26 * mul_8;
            let sub_55 = mul_34 - mul_3;
            let sub_56 = x_10 - max_;
            let exp_27 = exp_f32(sub_56);
            let mul_35 = exp_27 * mul_8;
            let sub_57 = mul_35 - mul_3;
            let sub_58 = x_11 - max_;
            let exp_28 = exp_f32(sub_58);
            let mul_36 = exp_28 * mul_8;
            let sub_59 = mul_36 - mul_3;
            Logits[vector_at_2] = vec4<f32>(sub_53, sub_55, sub_57, sub_59);
            let sub_60 = x_12 - max_;
            let exp_29 = exp_f32(sub_60);
            let mul_37 = exp_29 * mul_8;
            let sub_61 = mul_37 - mul_3;
            let sub_62 = x_13 - max_;
            let exp_30 = exp_f32(sub_62);
            let mul_38 = exp_30 * mul_8;
            let sub_63 = mul_38 - mul_3;
            let sub_64 = x_14 - max_;
            let exp_31 = exp_f32(sub_64);
            let mul_39 = exp_31 * mul_8;
            let sub_65 = mul_39 - mul_3;
            let sub_66 = x_15 - max_;
            let exp_32 = exp_f32(sub_66);
            let mul_40 = exp_32 * mul_8;
            let sub_67 = mul_40 - mul_3;
            Logits[vector_at_3] = vec4<f32>(sub_61, sub_63, sub_65, sub_67);
            let sub_68 = x_16 - max_;
            let exp_33 = exp_f32(sub_68);
            let mul_41 = exp_33 * mul_8;
            let sub_69 = mul_41 - mul_3;
            let sub_70 = x_17 - max_;
            let exp_34 = exp_f32(sub_70);
            let mul_42 = exp_34 * mul_8;
            let sub_71 = mul_42 - mul_3;
            let sub_72 = x_18 - max_;
            let exp_35 = exp_f32(sub_72);
            let mul_43 = exp_35 * mul_8;
            let sub_73 = mul_43 - mul_3;
            let sub_74 = x_19 - max_;
            let exp_36 = exp_f32(sub_74);
            let mul_44 = exp_36 * mul_8;
            let sub_75 = mul_44 - mul_3;
            Logits[vector_at_4] = vec4<f32>(sub_69, sub_71, sub_73, sub_75);
            let sub_76 = x_20 - max_;
            let exp_37 = exp_f32(sub_76);
            let mul_45 = exp_37 * mul_8;
            let sub_77 = mul_45 - mul_3;
            let sub_78 = x_21 - max_;
            let exp_38 = exp_f32(sub_78);
            let mul_46 = exp_38 * mul_8;
            let sub_79 = mul_46 - mul_3;
            let sub_80 = x_22 - max_;
            let exp_39 = exp_f32(sub_80);
            let mul_47 = exp_39 * mul_8;
            let sub_81 = mul_47 - mul_3;
            let sub_82 = x_23 - max_;
            let exp_40 = exp_f32(sub_82);
            let mul_48 = exp_40 * mul_8;
            let sub_83 = mul_48 - mul_3;
            Logits[vector_at_5] = vec4<f32>(sub_77, sub_79, sub_81, sub_83);
          }
        }
      } else {
        let offset_1 = lane * 4;
        let rounds_1 = (end - first_1) >> 12u;
        let done_1 = first_1 + rounds_1 * 4096;
        let first_3 = done_1 + offset_1;
        for (var c_19: i32 = first_3; c_19 < end; c_19 += 1024) {
          let c_20 = c_19 + 1;
          let c_21 = c_19 + 2;
          let c_22 = c_19 + 3;
          let Logits_at_9 = u32(position_1);
          let Logits_at_10 = Logits_at_9 * u32(params.V_1) + u32(c_19);
          let vector_at_6 = Logits_at_10 >> 2u;
          Logits[vector_at_6] = vec4<f32>(0.0, 0.0, 0.0, 0.0);
        }
        for (var round_1: i32 = 0; round_1 < rounds_1; round_1 += 1) {
          let start_1 = first_1 + (rounds_1 - 1 - round_1) * 4096 + offset_1;
          let c_23 = start_1 + 1;
          let c_24 = start_1 + 2;
          let c_25 = start_1 + 3;
          let c_26 = start_1 + 1024;
          let c_27 = c_26 + 1;
          let c_28 = c_26 + 2;
          let c_29 = c_26 + 3;
          let c_30 = start_1 + 2048;
          let c_31 = c_30 + 1;
          let c_32 = c_30 + 2;
          let c_33 = c_30 + 3;
          let c_34 = start_1 + 3072;
          let c_35 = c_34 + 1;
          let c_36 = c_34 + 2;
          let c_37 = c_34 + 3;
          let Logits_at_11 = u32(position_1);
          let Logits_at_12 = Logits_at_11 * u32(params.V_1) + u32(start_1);
          let vector_at_7 = Logits_at_12 >> 2u;
          Logits[vector_at_7] = vec4<f32>(0.0, 0.0, 0.0, 0.0);
          let Logits_at_13 = u32(position_1);
          let Logits_at_14 = Logits_at_13 * u32(params.V_1) + u32(c_26);
          let vector_at_8 = Logits_at_14 >> 2u;
          Logits[vector_at_8] = vec4<f32>(0.0, 0.0, 0.0, 0.0);
          let Logits_at_15 = u32(position_1);
          let Logits_at_16 = Logits_at_15 * u32(params.V_1) + u32(c_30);
          let vector_at_9 = Logits_at_16 >> 2u;
          Logits[vector_at_9] = vec4<f32>(0.0, 0.0, 0.0, 0.0);
          let Logits_at_17 = u32(position_1);
          let Logits_at_18 = Logits_at_17 * u32(params.V_1) + u32(c_34);
          let vector_at_10 = Logits_at_18 >> 2u;
          Logits[vector_at_10] = vec4<f32>(0.0, 0.0, 0.0, 0.0);
        }
      }
    }
  }
}
