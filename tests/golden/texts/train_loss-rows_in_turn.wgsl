// Kernel train_loss, written by tilec.
// Only for V % 8 != 0.
// Only for V > 1023.
// Only for V % 4 != 0.
// Only for V % 2 == 0.
// Only for 8 * ceildiv(M, 8) > 255.
// Only for V > 1024 && V <= 2048.
// Only for V > 1024.
// Only for V <= 8192.
// Only for V == 1030.

struct Params {
  n8_ceildiv_M_8: i32,
  V: i32,
  M: i32,
  ignore_index: i32,
  beta: f32,
  alpha: f32,
  inv_norm: f32,
  ceildiv_8_ceildiv_M_8_2: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> Target: array<i32>;
@group(0) @binding(2) var<storage, read_write> Logits: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> Loss: array<f32>;
var<workgroup> lanes_0: array<f32, 128>;
var<workgroup> lanes_1: array<f32, 128>;
var<workgroup> lanes_2: array<u32, 128>;
var<workgroup> lanes_3: array<f32, 128>;
var<workgroup> lanes_4: array<f32, 128>;
var<workgroup> groups_0: array<f32, 8>;
var<workgroup> groups_1: array<f32, 8>;
var<workgroup> groups_2: array<u32, 8>;
var<workgroup> groups_3: array<f32, 8>;
var<workgroup> groups_4: array<f32, 8>;

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

@compute @workgroup_size(128)
fn train_loss(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_8_ceildiv_M_8_2) {
    let lane = i32(local_index);
    for (var turn: i32 = 0; turn < 2; turn += 1) {
      let job = i32(workgroup_index) * 2 + turn;
      let valid = job < params.n8_ceildiv_M_8;
      let block = job >> 3u;
      let job_1 = job & 7;
      let extent = 8 * block;
      let begins = u32(extent + job_1) * u32(params.V);
      let head = i32((0u - begins) & 3u);
      let end = head + ((params.V - head) & -4);
      let c = head + lane * 4;
      let c_1 = head + (lane * 4 + 1);
      let c_2 = head + (lane * 4 + 2);
      let c_3 = head + (lane * 4 + 3);
      let c_4 = head + (lane * 4 + 512);
      let c_5 = head + (lane * 4 + 513);
      let c_6 = head + (lane * 4 + 514);
      let c_7 = head + (lane * 4 + 515);
      let c_8 = head + (lane * 4 + 1024);
      let exists = c_8 < end;
      let c_9 = head + (lane * 4 + 1025);
      let c_10 = head + (lane * 4 + 1026);
      let c_11 = head + (lane * 4 + 1027);
      var x: f32 = 0.0;
      var x_1: f32 = 0.0;
      var x_2: f32 = 0.0;
      var x_3: f32 = 0.0;
      var x_4: f32 = 0.0;
      var x_5: f32 = 0.0;
      var x_6: f32 = 0.0;
      var x_7: f32 = 0.0;
      var x_8: f32 = 0.0;
      var x_9: f32 = 0.0;
      var x_10: f32 = 0.0;
      var x_11: f32 = 0.0;
      let extent_1 = params.M - 8 * block;
      let is_active = job_1 < extent_1;
      if (valid & is_active) {
        let r = block * 8;
        let position = r + job_1;
        let Target_at = u32(position);
        let value = Target[Target_at];
        let lt = value < params.V;
        let ge = value >= 0;
        let ne = value != params.ignore_index;
        let and = ne & ge;
        let and_1 = and & lt;
        if (and_1) {
          let Logits_at = u32(position);
          let Logits_at_1 = Logits_at * u32(params.V) + u32(c);
          let vector_at = Logits_at_1 >> 2u;
          let Logits_vector = Logits[vector_at];
          let x_12 = Logits_vector.x;
          x = x_12;
          let x_13 = Logits_vector.y;
          x_1 = x_13;
          let x_14 = Logits_vector.z;
          x_2 = x_14;
          let x_15 = Logits_vector.w;
          x_3 = x_15;
          let Logits_at_2 = u32(position);
          let Logits_at_3 = Logits_at_2 * u32(params.V) + u32(c_4);
          let vector_at_1 = Logits_at_3 >> 2u;
          let Logits_vector_1 = Logits[vector_at_1];
          let x_16 = Logits_vector_1.x;
          x_4 = x_16;
          let x_17 = Logits_vector_1.y;
          x_5 = x_17;
          let x_18 = Logits_vector_1.z;
          x_6 = x_18;
          let x_19 = Logits_vector_1.w;
          x_7 = x_19;
          if (exists) {
            let Logits_at_4 = u32(position);
            let Logits_at_5 = Logits_at_4 * u32(params.V) + u32(c_8);
            let vector_at_2 = Logits_at_5 >> 2u;
            let Logits_vector_2 = Logits[vector_at_2];
            let x_20 = Logits_vector_2.x;
            x_8 = x_20;
            let x_21 = Logits_vector_2.y;
            x_9 = x_21;
            let x_22 = Logits_vector_2.z;
            x_10 = x_22;
            let x_23 = Logits_vector_2.w;
            x_11 = x_23;
          }
        }
      }
      var peak: f32 = -0x1.fffffep+127f;
      var exp_sum: f32 = 0.0;
      var magnitude: u32 = 0u;
      var sum: f32 = 0.0;
      var picked: f32 = 0.0;
      let is_active_1 = job_1 < extent_1;
      if (valid & is_active_1) {
        let r_1 = block * 8;
        let position_1 = r_1 + job_1;
        let Target_at_1 = u32(position_1);
        let value_1 = Target[Target_at_1];
        let lt_1 = value_1 < params.V;
        let ge_1 = value_1 >= 0;
        let ne_1 = value_1 != params.ignore_index;
        let and_2 = ne_1 & ge_1;
        let and_3 = and_2 & lt_1;
        if (and_3) {
          let parity = (extent + job_1) & 1;
          let other = 1 - parity;
          let is_active_2 = job_1 < extent_1;
          let exists_1 = (u32(value_1) < u32(params.V)) & is_active_2;
          if (exists_1) {
            let is_mine = select(select((u32(value_1 - head) >> 2u) & 127u, u32(other), (value_1 >= end)), u32(parity), (value_1 < head)) == u32(lane);
            if (is_mine) {
              let Logits_at_6 = u32(position_1);
              let Logits_at_7 = Logits_at_6 * u32(params.V) + u32(value_1);
              let vector_ = Logits[Logits_at_7 >> 2u];
              let place = Logits_at_7 & 3u;
              let chosen = select(select(select(vector_.x, vector_.y, (place == 1u)), vector_.z, (place == 2u)), vector_.w, (place == 3u));
              picked = chosen;
            }
          }
        }
        if (and_3) {
          let parity_1 = (extent + job_1) & 1;
          let other_1 = 1 - parity_1;
          for (var end_1: i32 = lane; end_1 < 2; end_1 += 128) {
            let c_12 = select(end, head - 4, (end_1 == parity_1));
            let exists_2 = u32(c_12) < u32(params.V);
            let c_13 = c_12 + 1;
            let exists_3 = u32(c_13) < u32(params.V);
            let c_14 = c_12 + 2;
            let exists_4 = u32(c_14) < u32(params.V);
            let c_15 = c_12 + 3;
            let exists_5 = u32(c_15) < u32(params.V);
            if (exists_2 | exists_3 | exists_4 | exists_5) {
              let Logits_at_8 = u32(position_1);
              let Logits_at_9 = Logits_at_8 * u32(params.V) + u32(c_12);
              let vector_at_3 = Logits_at_9 >> 2u;
              let Logits_vector_3 = Logits[vector_at_3];
              let x_24 = Logits_vector_3.x;
              let x_25 = Logits_vector_3.y;
              let x_26 = Logits_vector_3.z;
              let x_27 = Logits_vector_3.w;
              var held: f32 = f32_from_bits(0xff800000u);
              var held_1: f32 = 0.0;
              if (exists_2) {
                held = x_24;
                held_1 = x_24;
              }
              var held_2: f32 = f32_from_bits(0xff800000u);
              var held_3: f32 = 0.0;
              if (exists_3) {
                held_2 = x_25;
                held_3 = x_25;
              }
              var held_4: f32 = f32_from_bits(0xff800000u);
              var held_5: f32 = 0.0;
              if (exists_4) {
                held_4 = x_26;
                held_5 = x_26;
              }
              var held_6: f32 = f32_from_bits(0xff800000u);
              var held_7: f32 = 0.0;
              if (exists_5) {
                held_6 = x_27;
                held_7 = x_27;
              }
              let part = max(max(held, held_2), max(held_4, held_6));
              if (part > peak) {
                let scale = exp(max(peak - part, -104.0));
                exp_sum = exp_sum * scale;
                peak = part;
              }
              let shift = select(peak, 0.0, (peak > 0x1.fffffep+127f));
              let term = exp(max(held - shift, -104.0));
              let term_1 = exp(max(held_2 - shift, -104.0));
              let term_2 = exp(max(held_4 - shift, -104.0));
              let term_3 = exp(max(held_6 - shift, -104.0));
              let part_1 = term + term_1 + (term_2 + term_3);
              exp_sum = exp_sum + part_1;
              let part_2 = max(max(bitcast<u32>(held) & 2147483647u, bitcast<u32>(held_2) & 2147483647u), max(bitcast<u32>(held_4) & 2147483647u, bitcast<u32>(held_6) & 2147483647u));
              magnitude = max(magnitude, part_2);
              let part_3 = held_1 + held_3 + (held_5 + held_7);
              sum = sum + part_3;
            }
          }
          let part_4 = max(max(x, x_1), max(x_2, x_3));
          if (part_4 > peak) {
            let scale_1 = exp(max(peak - part_4, -104.0));
            exp_sum = exp_sum * scale_1;
            peak = part_4;
          }
          let shift_1 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_4 = exp(max(x - shift_1, -104.0));
          let term_5 = exp(max(x_1 - shift_1, -104.0));
          let term_6 = exp(max(x_2 - shift_1, -104.0));
          let term_7 = exp(max(x_3 - shift_1, -104.0));
          let part_5 = term_4 + term_5 + (term_6 + term_7);
          exp_sum = exp_sum + part_5;
          let part_6 = max(max(bitcast<u32>(x) & 2147483647u, bitcast<u32>(x_1) & 2147483647u), max(bitcast<u32>(x_2) & 2147483647u, bitcast<u32>(x_3) & 2147483647u));
          magnitude = max(magnitude, part_6);
          let part_7 = x + x_1 + (x_2 + x_3);
          sum = sum + part_7;
          let part_8 = max(max(x_4, x_5), max(x_6, x_7));
          if (part_8 > peak) {
            let scale_2 = exp(max(peak - part_8, -104.0));
            exp_sum = exp_sum * scale_2;
            peak = part_8;
          }
          let shift_2 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_8 = exp(max(x_4 - shift_2, -104.0));
          let term_9 = exp(max(x_5 - shift_2, -104.0));
          let term_10 = exp(max(x_6 - shift_2, -104.0));
          let term_11 = exp(max(x_7 - shift_2, -104.0));
          let part_9 = term_8 + term_9 + (term_10 + term_11);
          exp_sum = exp_sum + part_9;
          let part_10 = max(max(bitcast<u32>(x_4) & 2147483647u, bitcast<u32>(x_5) & 2147483647u), max(bitcast<u32>(x_6) & 2147483647u, bitcast<u32>(x_7) & 2147483647u));
          magnitude = max(magnitude, part_10);
          let part_11 = x_4 + x_5 + (x_6 + x_7);
          sum = sum + part_11;
          if (exists) {
            let part_12 = max(max(x_8, x_9), max(x_10, x_11));
            if (part_12 > peak) {
              let scale_3 = exp(max(peak - part_12, -104.0));
              exp_sum = exp_sum * scale_3;
              peak = part_12;
            }
            let shift_3 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
            let term_12 = exp(max(x_8 - shift_3, -104.0));
            let term_13 = exp(max(x_9 - shift_3, -104.0));
            let term_14 = exp(max(x_10 - shift_3, -104.0));
            let term_15 = exp(max(x_11 - shift_3, -104.0));
            let part_13 = term_12 + term_13 + (term_14 + term_15);
            exp_sum = exp_sum + part_13;
            let part_14 = max(max(bitcast<u32>(x_8) & 2147483647u, bitcast<u32>(x_9) & 2147483647u), max(bitcast<u32>(x_10) & 2147483647u, bitcast<u32>(x_11) & 2147483647u));
            magnitude = max(magnitude, part_14);
            let part_15 = x_8 + x_9 + (x_10 + x_11);
            sum = sum + part_15;
          }
        }
      }
      let has_nan = magnitude > 2139095040u;
      workgroupBarrier();
      lanes_0[i32(local_index)] = peak;
      lanes_1[i32(local_index)] = exp_sum;
      lanes_2[i32(local_index)] = select(0u, 1u, has_nan);
      lanes_3[i32(local_index)] = sum;
      lanes_4[i32(local_index)] = picked;
      workgroupBarrier();
      let folds = lane < 8;
      if (folds) {
        let first = lane * 16;
        let place_1 = first + 1;
        let place_2 = first + 2;
        let place_3 = first + 3;
        let place_4 = first + 4;
        let place_5 = first + 5;
        let place_6 = first + 6;
        let place_7 = first + 7;
        let place_8 = first + 8;
        let place_9 = first + 9;
        let place_10 = first + 10;
        let place_11 = first + 11;
        let place_12 = first + 12;
        let place_13 = first + 13;
        let place_14 = first + 14;
        let place_15 = first + 15;
        let part_16 = lanes_0[first];
        let part_17 = lanes_1[first];
        let part_18 = lanes_2[first] != 0u;
        let part_19 = lanes_0[place_1];
        let part_20 = lanes_1[place_1];
        let part_21 = lanes_2[place_1] != 0u;
        let part_22 = lanes_0[place_2];
        let part_23 = lanes_1[place_2];
        let part_24 = lanes_2[place_2] != 0u;
        let part_25 = lanes_0[place_3];
        let part_26 = lanes_1[place_3];
        let part_27 = lanes_2[place_3] != 0u;
        let part_28 = lanes_0[place_4];
        let part_29 = lanes_1[place_4];
        let part_30 = lanes_2[place_4] != 0u;
        let part_31 = lanes_0[place_5];
        let part_32 = lanes_1[place_5];
        let part_33 = lanes_2[place_5] != 0u;
        let part_34 = lanes_0[place_6];
        let part_35 = lanes_1[place_6];
        let part_36 = lanes_2[place_6] != 0u;
        let part_37 = lanes_0[place_7];
        let part_38 = lanes_1[place_7];
        let part_39 = lanes_2[place_7] != 0u;
        let part_40 = lanes_0[place_8];
        let part_41 = lanes_1[place_8];
        let part_42 = lanes_2[place_8] != 0u;
        let part_43 = lanes_0[place_9];
        let part_44 = lanes_1[place_9];
        let part_45 = lanes_2[place_9] != 0u;
        let part_46 = lanes_0[place_10];
        let part_47 = lanes_1[place_10];
        let part_48 = lanes_2[place_10] != 0u;
        let part_49 = lanes_0[place_11];
        let part_50 = lanes_1[place_11];
        let part_51 = lanes_2[place_11] != 0u;
        let part_52 = lanes_0[place_12];
        let part_53 = lanes_1[place_12];
        let part_54 = lanes_2[place_12] != 0u;
        let part_55 = lanes_0[place_13];
        let part_56 = lanes_1[place_13];
        let part_57 = lanes_2[place_13] != 0u;
        let part_58 = lanes_0[place_14];
        let part_59 = lanes_1[place_14];
        let part_60 = lanes_2[place_14] != 0u;
        let part_61 = lanes_0[place_15];
        let part_62 = lanes_1[place_15];
        let part_63 = lanes_2[place_15] != 0u;
        let part_64 = max(max(max(max(part_16, part_19), max(part_22, part_25)), max(max(part_28, part_31), max(part_34, part_37))), max(max(max(part_40, part_43), max(part_46, part_49)), max(max(part_52, part_55), max(part_58, part_61))));
        let shift_4 = select(part_64, 0.0, (part_64 > 0x1.fffffep+127f));
        let term_16 = part_17 * exp(max(part_16 - shift_4, -104.0));
        let term_17 = part_20 * exp(max(part_19 - shift_4, -104.0));
        let term_18 = part_23 * exp(max(part_22 - shift_4, -104.0));
        let term_19 = part_26 * exp(max(part_25 - shift_4, -104.0));
        let term_20 = part_29 * exp(max(part_28 - shift_4, -104.0));
        let term_21 = part_32 * exp(max(part_31 - shift_4, -104.0));
        let term_22 = part_35 * exp(max(part_34 - shift_4, -104.0));
        let term_23 = part_38 * exp(max(part_37 - shift_4, -104.0));
        let term_24 = part_41 * exp(max(part_40 - shift_4, -104.0));
        let term_25 = part_44 * exp(max(part_43 - shift_4, -104.0));
        let term_26 = part_47 * exp(max(part_46 - shift_4, -104.0));
        let term_27 = part_50 * exp(max(part_49 - shift_4, -104.0));
        let term_28 = part_53 * exp(max(part_52 - shift_4, -104.0));
        let term_29 = part_56 * exp(max(part_55 - shift_4, -104.0));
        let term_30 = part_59 * exp(max(part_58 - shift_4, -104.0));
        let term_31 = part_62 * exp(max(part_61 - shift_4, -104.0));
        let part_65 = term_16 + term_17 + (term_18 + term_19) + (term_20 + term_21 + (term_22 + term_23)) + (term_24 + term_25 + (term_26 + term_27) + (term_28 + term_29 + (term_30 + term_31)));
        let part_66 = part_18 | part_21 | (part_24 | part_27) | (part_30 | part_33 | (part_36 | part_39)) | (part_42 | part_45 | (part_48 | part_51) | (part_54 | part_57 | (part_60 | part_63)));
        let part_67 = lanes_3[first];
        let part_68 = lanes_3[place_1];
        let part_69 = lanes_3[place_2];
        let part_70 = lanes_3[place_3];
        let part_71 = lanes_3[place_4];
        let part_72 = lanes_3[place_5];
        let part_73 = lanes_3[place_6];
        let part_74 = lanes_3[place_7];
        let part_75 = lanes_3[place_8];
        let part_76 = lanes_3[place_9];
        let part_77 = lanes_3[place_10];
        let part_78 = lanes_3[place_11];
        let part_79 = lanes_3[place_12];
        let part_80 = lanes_3[place_13];
        let part_81 = lanes_3[place_14];
        let part_82 = lanes_3[place_15];
        let part_83 = part_67 + part_68 + (part_69 + part_70) + (part_71 + part_72 + (part_73 + part_74)) + (part_75 + part_76 + (part_77 + part_78) + (part_79 + part_80 + (part_81 + part_82)));
        let part_84 = lanes_4[first];
        let part_85 = lanes_4[place_1];
        let part_86 = lanes_4[place_2];
        let part_87 = lanes_4[place_3];
        let part_88 = lanes_4[place_4];
        let part_89 = lanes_4[place_5];
        let part_90 = lanes_4[place_6];
        let part_91 = lanes_4[place_7];
        let part_92 = lanes_4[place_8];
        let part_93 = lanes_4[place_9];
        let part_94 = lanes_4[place_10];
        let part_95 = lanes_4[place_11];
        let part_96 = lanes_4[place_12];
        let part_97 = lanes_4[place_13];
        let part_98 = lanes_4[place_14];
        let part_99 = lanes_4[place_15];
        let part_100 = part_84 + part_85 + (part_86 + part_87) + (part_88 + part_89 + (part_90 + part_91)) + (part_92 + part_93 + (part_94 + part_95) + (part_96 + part_97 + (part_98 + part_99)));
        groups_0[lane] = part_64;
        groups_1[lane] = part_65;
        groups_2[lane] = select(0u, 1u, part_66);
        groups_3[lane] = part_83;
        groups_4[lane] = part_100;
      }
      workgroupBarrier();
      let part_101 = groups_0[0];
      let part_102 = groups_1[0];
      let part_103 = groups_2[0] != 0u;
      let part_104 = groups_0[1];
      let part_105 = groups_1[1];
      let part_106 = groups_2[1] != 0u;
      let part_107 = groups_0[2];
      let part_108 = groups_1[2];
      let part_109 = groups_2[2] != 0u;
      let part_110 = groups_0[3];
      let part_111 = groups_1[3];
      let part_112 = groups_2[3] != 0u;
      let part_113 = groups_0[4];
      let part_114 = groups_1[4];
      let part_115 = groups_2[4] != 0u;
      let part_116 = groups_0[5];
      let part_117 = groups_1[5];
      let part_118 = groups_2[5] != 0u;
      let part_119 = groups_0[6];
      let part_120 = groups_1[6];
      let part_121 = groups_2[6] != 0u;
      let part_122 = groups_0[7];
      let part_123 = groups_1[7];
      let part_124 = groups_2[7] != 0u;
      let part_125 = max(max(max(part_101, part_104), max(part_107, part_110)), max(max(part_113, part_116), max(part_119, part_122)));
      let shift_5 = select(part_125, 0.0, (part_125 > 0x1.fffffep+127f));
      let term_32 = part_102 * exp(max(part_101 - shift_5, -104.0));
      let term_33 = part_105 * exp(max(part_104 - shift_5, -104.0));
      let term_34 = part_108 * exp(max(part_107 - shift_5, -104.0));
      let term_35 = part_111 * exp(max(part_110 - shift_5, -104.0));
      let term_36 = part_114 * exp(max(part_113 - shift_5, -104.0));
      let term_37 = part_117 * exp(max(part_116 - shift_5, -104.0));
      let term_38 = part_120 * exp(max(part_119 - shift_5, -104.0));
      let term_39 = part_123 * exp(max(part_122 - shift_5, -104.0));
      let part_126 = term_32 + term_33 + (term_34 + term_35) + (term_36 + term_37 + (term_38 + term_39));
      let part_127 = part_103 | part_106 | (part_109 | part_112) | (part_115 | part_118 | (part_121 | part_124));
      let part_128 = groups_3[0];
      let part_129 = groups_3[1];
      let part_130 = groups_3[2];
      let part_131 = groups_3[3];
      let part_132 = groups_3[4];
      let part_133 = groups_3[5];
      let part_134 = groups_3[6];
      let part_135 = groups_3[7];
      let part_136 = part_128 + part_129 + (part_130 + part_131) + (part_132 + part_133 + (part_134 + part_135));
      let part_137 = groups_4[0];
      let part_138 = groups_4[1];
      let part_139 = groups_4[2];
      let part_140 = groups_4[3];
      let part_141 = groups_4[4];
      let part_142 = groups_4[5];
      let part_143 = groups_4[6];
      let part_144 = groups_4[7];
      let part_145 = part_137 + part_138 + (part_139 + part_140) + (part_141 + part_142 + (part_143 + part_144));
      let is_empty = eq_f32(part_126, 0.0);
      let is_huge = gt_f32(part_125, 0x1.fffffep+127f);
      let max_ = select(select(part_125, f32_from_bits(0xff800000u), is_empty), f32_from_bits(0x7fc00000u), part_127);
      let safe = select(part_126, 1.0, is_empty | is_huge);
      let rest = select(log_f32(safe), f32_from_bits(0x7fc00000u), part_127);
      let is_active_3 = job_1 < extent_1;
      if ((lane == 0) & valid & is_active_3) {
        let lse = max_ + rest;
        let square = square_f32(lse);
        let mul = params.beta * square;
        let count = 1 * params.V;
        let value_2 = f32(count);
        let div_f32 = part_136 / value_2;
        let mul_1 = params.alpha * div_f32;
        let gt = gt_f32(params.alpha, 0.0);
        let smooth_ = where_f32(gt, mul_1, 0.0);
        let sub = 1.0 - params.alpha;
        let mul_2 = sub * part_145;
        let sub_1 = max_ - mul_2;
        let add = sub_1 + rest;
        let sub_2 = add - smooth_;
        let add_1 = sub_2 + mul;
        let r_2 = block * 8;
        let position_2 = r_2 + job_1;
        let Target_at_2 = u32(position_2);
        let value_3 = Target[Target_at_2];
        let lt_2 = value_3 < params.V;
        let ge_2 = value_3 >= 0;
        let ne_2 = value_3 != params.ignore_index;
        let and_4 = ne_2 & ge_2;
        let and_5 = and_4 & lt_2;
        let loss = where_f32(and_5, add_1, 0.0);
        let Loss_at = u32(position_2);
        Loss[Loss_at] = loss;
      }
      let is_active_4 = job_1 < extent_1;
      if (valid & is_active_4) {
        let r_3 = block * 8;
        let position_3 = r_3 + job_1;
        let Target_at_3 = u32(position_3);
        let value_4 = Target[Target_at_3];
        let lt_3 = value_4 < params.V;
        let ge_3 = value_4 >= 0;
        let ne_3 = value_4 != params.ignore_index;
        let and_6 = ne_3 & ge_3;
        let and_7 = and_6 & lt_3;
        if (and_7) {
          let count_1 = 1 * params.V;
          let value_5 = f32(count_1);
          let div_f32_1 = params.alpha / value_5;
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
          let parity_2 = (extent + job_1) & 1;
          let other_2 = 1 - parity_2;
          for (var end_2: i32 = lane; end_2 < 2; end_2 += 128) {
            let c_16 = select(end, head - 4, (end_2 == parity_2));
            let exists_6 = u32(c_16) < u32(params.V);
            let c_17 = c_16 + 1;
            let exists_7 = u32(c_17) < u32(params.V);
            let c_18 = c_16 + 2;
            let exists_8 = u32(c_18) < u32(params.V);
            let c_19 = c_16 + 3;
            let exists_9 = u32(c_19) < u32(params.V);
            if (exists_6 | exists_7 | exists_8 | exists_9) {
              let Logits_at_10 = u32(position_3);
              let Logits_at_11 = Logits_at_10 * u32(params.V) + u32(c_16);
              let vector_at_4 = Logits_at_11 >> 2u;
              let Logits_vector_4 = Logits[vector_at_4];
              let x_28 = Logits_vector_4.x;
              let x_29 = Logits_vector_4.y;
              let x_30 = Logits_vector_4.z;
              let x_31 = Logits_vector_4.w;
              var held_8: f32 = 0.0;
              if (exists_6) {
                let eq = c_16 == value_4;
                let where_1 = where_f32(eq, mul_4, mul_3);
                let sub_4 = x_28 - max_;
                let exp_1 = exp_f32(sub_4);
                let mul_9 = exp_1 * mul_8;
                let sub_5 = mul_9 - where_1;
                held_8 = sub_5;
              }
              var held_9: f32 = 0.0;
              if (exists_7) {
                let eq_1 = c_17 == value_4;
                let where_2 = where_f32(eq_1, mul_4, mul_3);
                let sub_6 = x_29 - max_;
                let exp_2 = exp_f32(sub_6);
                let mul_10 = exp_2 * mul_8;
                let sub_7 = mul_10 - where_2;
                held_9 = sub_7;
              }
              var held_10: f32 = 0.0;
              if (exists_8) {
                let eq_2 = c_18 == value_4;
                let where_3 = where_f32(eq_2, mul_4, mul_3);
                let sub_8 = x_30 - max_;
                let exp_3 = exp_f32(sub_8);
                let mul_11 = exp_3 * mul_8;
                let sub_9 = mul_11 - where_3;
                held_10 = sub_9;
              }
              var held_11: f32 = 0.0;
              if (exists_9) {
                let eq_3 = c_19 == value_4;
                let where_4 = where_f32(eq_3, mul_4, mul_3);
                let sub_10 = x_31 - max_;
                let exp_4 = exp_f32(sub_10);
                let mul_12 = exp_4 * mul_8;
                let sub_11 = mul_12 - where_4;
                held_11 = sub_11;
              }
              if (exists_6 | exists_7 | exists_8 | exists_9) {
                let old = Logits[vector_at_4];
                var word: f32 = old.x;
                var word_1: f32 = old.y;
                var word_2: f32 = old.z;
                var word_3: f32 = old.w;
                if (exists_6) {
                  word = held_8;
                }
                if (exists_7) {
                  word_1 = held_9;
                }
                if (exists_8) {
                  word_2 = held_10;
                }
                if (exists_9) {
                  word_3 = held_11;
                }
                Logits[vector_at_4] = vec4<f32>(word, word_1, word_2, word_3);
              }
            }
          }
          let eq_4 = c == value_4;
          let where_5 = where_f32(eq_4, mul_4, mul_3);
          let sub_12 = x - max_;
          let exp_5 = exp_f32(sub_12);
          let mul_13 = exp_5 * mul_8;
          let sub_13 = mul_13 - where_5;
          let eq_5 = c_1 == value_4;
          let where_6 = where_f32(eq_5, mul_4, mul_3);
          let sub_14 = x_1 - max_;
          let exp_6 = exp_f32(sub_14);
          let mul_14 = exp_6 * mul_8;
          let sub_15 = mul_14 - where_6;
          let eq_6 = c_2 == value_4;
          let where_7 = where_f32(eq_6, mul_4, mul_3);
          let sub_16 = x_2 - max_;
          let exp_7 = exp_f32(sub_16);
          let mul_15 = exp_7 * mul_8;
          let sub_17 = mul_15 - where_7;
          let eq_7 = c_3 == value_4;
          let where_8 = where_f32(eq_7, mul_4, mul_3);
          let sub_18 = x_3 - max_;
          let exp_8 = exp_f32(sub_18);
          let mul_16 = exp_8 * mul_8;
          let sub_19 = mul_16 - where_8;
          let Logits_at_12 = u32(position_3);
          let Logits_at_13 = Logits_at_12 * u32(params.V) + u32(c);
          let vector_at_5 = Logits_at_13 >> 2u;
          Logits[vector_at_5] = vec4<f32>(sub_13, sub_15, sub_17, sub_19);
          let eq_8 = c_4 == value_4;
          let where_9 = where_f32(eq_8, mul_4, mul_3);
          let sub_20 = x_4 - max_;
          let exp_9 = exp_f32(sub_20);
          let mul_17 = exp_9 * mul_8;
          let sub_21 = mul_17 - where_9;
          let eq_9 = c_5 == value_4;
          let where_10 = where_f32(eq_9, mul_4, mul_3);
          let sub_22 = x_5 - max_;
          let exp_10 = exp_f32(sub_22);
          let mul_18 = exp_10 * mul_8;
          let sub_23 = mul_18 - where_10;
          let eq_10 = c_6 == value_4;
          let where_11 = where_f32(eq_10, mul_4, mul_3);
          let sub_24 = x_6 - max_;
          let exp_11 = exp_f32(sub_24);
          let mul_19 = exp_11 * mul_8;
          let sub_25 = mul_19 - where_11;
          let eq_11 = c_7 == value_4;
          let where_12 = where_f32(eq_11, mul_4, mul_3);
          let sub_26 = x_7 - max_;
          let exp_12 = exp_f32(sub_26);
          let mul_20 = exp_12 * mul_8;
          let sub_27 = mul_20 - where_12;
          let Logits_at_14 = u32(position_3);
          let Logits_at_15 = Logits_at_14 * u32(params.V) + u32(c_4);
          let vector_at_6 = Logits_at_15 >> 2u;
          Logits[vector_at_6] = vec4<f32>(sub_21, sub_23, sub_25, sub_27);
          if (exists) {
            let eq_12 = c_8 == value_4;
            let where_13 = where_f32(eq_12, mul_4, mul_3);
            let sub_28 = x_8 - max_;
            let exp_13 = exp_f32(sub_28);
            let mul_21 = exp_13 * mul_8;
            let sub_29 = mul_21 - where_13;
            let eq_13 = c_9 == value_4;
            let where_14 = where_f32(eq_13, mul_4, mul_3);
            let sub_30 = x_9 - max_;
            let exp_14 = exp_f32(sub_30);
            let mul_22 = exp_14 * mul_8;
            let sub_31 = mul_22 - where_14;
            let eq_14 = c_10 == value_4;
            let where_15 = where_f32(eq_14, mul_4, mul_3);
            let sub_32 = x_10 - max_;
            let exp_15 = exp_f32(sub_32);
            let mul_23 = exp_15 * mul_8;
            let sub_33 = mul_23 - where_15;
            let eq_15 = c_11 == value_4;
            let where_16 = where_f32(eq_15, mul_4, mul_3);
            let sub_34 = x_11 - max_;
            let exp_16 = exp_f32(sub_34);
            let mul_24 = exp_16 * mul_8;
            let sub_35 = mul_24 - where_16;
            let Logits_at_16 = u32(position_3);
            let Logits_at_17 = Logits_at_16 * u32(params.V) + u32(c_8);
            let vector_at_7 = Logits_at_17 >> 2u;
            Logits[vector_at_7] = vec4<f32>(sub_29, sub_31, sub_33, sub_35);
          }
        } else {
          let parity_3 = (extent + job_1) & 1;
          let other_3 = 1 - parity_3;
          for (var end_3: i32 = lane; end_3 < 2; end_3 += 128) {
            let c_20 = select(end, head - 4, (end_3 == parity_3));
            let exists_10 = u32(c_20) < u32(params.V);
            let c_21 = c_20 + 1;
            let exists_11 = u32(c_21) < u32(params.V);
            let c_22 = c_20 + 2;
            let exists_12 = u32(c_22) < u32(params.V);
            let c_23 = c_20 + 3;
            let exists_13 = u32(c_23) < u32(params.V);
            if (exists_10 | exists_11 | exists_12 | exists_13) {
              var held_12: f32 = 0.0;
              if (exists_10) {
                held_12 = 0.0;
              }
              var held_13: f32 = 0.0;
              if (exists_11) {
                held_13 = 0.0;
              }
              var held_14: f32 = 0.0;
              if (exists_12) {
                held_14 = 0.0;
              }
              var held_15: f32 = 0.0;
              if (exists_13) {
                held_15 = 0.0;
              }
              let Logits_at_18 = u32(position_3);
              let Logits_at_19 = Logits_at_18 * u32(params.V) + u32(c_20);
              if (exists_10 | exists_11 | exists_12 | exists_13) {
                let vector_at_8 = Logits_at_19 >> 2u;
                let old_1 = Logits[vector_at_8];
                var word_4: f32 = old_1.x;
                var word_5: f32 = old_1.y;
                var word_6: f32 = old_1.z;
                var word_7: f32 = old_1.w;
                if (exists_10) {
                  word_4 = held_12;
                }
                if (exists_11) {
                  word_5 = held_13;
                }
                if (exists_12) {
                  word_6 = held_14;
                }
                if (exists_13) {
                  word_7 = held_15;
                }
                Logits[vector_at_8] = vec4<f32>(word_4, word_5, word_6, word_7);
              }
            }
          }
          let Logits_at_20 = u32(position_3);
          let Logits_at_21 = Logits_at_20 * u32(params.V) + u32(c);
          let vector_at_9 = Logits_at_21 >> 2u;
          Logits[vector_at_9] = vec4<f32>(0.0, 0.0, 0.0, 0.0);
          let Logits_at_22 = u32(position_3);
          let Logits_at_23 = Logits_at_22 * u32(params.V) + u32(c_4);
          let vector_at_10 = Logits_at_23 >> 2u;
          Logits[vector_at_10] = vec4<f32>(0.0, 0.0, 0.0, 0.0);
          if (exists) {
            let Logits_at_24 = u32(position_3);
            let Logits_at_25 = Logits_at_24 * u32(params.V) + u32(c_8);
            let vector_at_11 = Logits_at_25 >> 2u;
            Logits[vector_at_11] = vec4<f32>(0.0, 0.0, 0.0, 0.0);
          }
        }
      }
    }
  }
}
