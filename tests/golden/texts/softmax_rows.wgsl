// Kernel softmax_rows, written by tilec.

struct Params {
  n8_ceildiv_M_8: i32,
  M: i32,
  C: i32,
  div_C_1024: i32,
  n8_ceildiv_M_8_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> X: array<f32>;
@group(0) @binding(2) var<storage, read_write> Y: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;
var<workgroup> lanes_1: array<f32, 256>;
var<workgroup> lanes_2: array<u32, 256>;
var<workgroup> groups_0: array<f32, 16>;
var<workgroup> groups_1: array<f32, 16>;
var<workgroup> groups_2: array<u32, 16>;

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

@compute @workgroup_size(256)
fn softmax_rows(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.n8_ceildiv_M_8_1) {
    let lane = i32(local_index);
    let job = i32(workgroup_index);
    let block = job >> 3u;
    let job_1 = job & 7;
    var peak: f32 = -0x1.fffffep+127f;
    var exp_sum: f32 = 0.0;
    var exp_sum_16: f32 = 0.0;
    var exp_sum_256: f32 = 0.0;
    var exp_sum_4096: f32 = 0.0;
    var exp_sum_65536: f32 = 0.0;
    var magnitude: u32 = 0u;
    let extent = params.M - 8 * block;
    let is_active = job_1 < extent;
    if (is_active) {
      let r = block * 8;
      let done = params.div_C_1024 * 1024;
      for (var round_: i32 = 0; round_ < params.div_C_1024; round_ += 1) {
        let start = round_ * 1024 + lane;
        let c = start + 256;
        let c_1 = start + 512;
        let c_2 = start + 768;
        let position = r + job_1;
        let X_at = u32(position);
        let X_at_1 = X_at * u32(params.C) + u32(start);
        let value = X[X_at_1];
        let X_at_2 = X_at * u32(params.C) + u32(c);
        let value_1 = X[X_at_2];
        let X_at_3 = X_at * u32(params.C) + u32(c_1);
        let value_2 = X[X_at_3];
        let X_at_4 = X_at * u32(params.C) + u32(c_2);
        let value_3 = X[X_at_4];
        let part = max(max(value, value_1), max(value_2, value_3));
        if (part > peak) {
          let scale = exp(max(peak - part, -104.0));
          exp_sum = exp_sum * scale;
          exp_sum_16 = exp_sum_16 * scale;
          exp_sum_256 = exp_sum_256 * scale;
          exp_sum_4096 = exp_sum_4096 * scale;
          exp_sum_65536 = exp_sum_65536 * scale;
          peak = part;
        }
        let shift = select(peak, 0.0, (peak > 0x1.fffffep+127f));
        let term = exp(max(value - shift, -104.0));
        let term_1 = exp(max(value_1 - shift, -104.0));
        let term_2 = exp(max(value_2 - shift, -104.0));
        let term_3 = exp(max(value_3 - shift, -104.0));
        let part_1 = term + term_1 + (term_2 + term_3);
        exp_sum = exp_sum + part_1;
        let part_2 = max(max(bitcast<u32>(value) & 2147483647u, bitcast<u32>(value_1) & 2147483647u), max(bitcast<u32>(value_2) & 2147483647u, bitcast<u32>(value_3) & 2147483647u));
        magnitude = max(magnitude, part_2);
        if ((round_ & 15) == 15) {
          exp_sum_16 = exp_sum_16 + exp_sum;
          exp_sum = 0.0;
          if ((round_ & 255) == 255) {
            exp_sum_256 = exp_sum_256 + exp_sum_16;
            exp_sum_16 = 0.0;
            if ((round_ & 4095) == 4095) {
              exp_sum_4096 = exp_sum_4096 + exp_sum_256;
              exp_sum_256 = 0.0;
              if ((round_ & 65535) == 65535) {
                exp_sum_65536 = exp_sum_65536 + exp_sum_4096;
                exp_sum_4096 = 0.0;
              }
            }
          }
        }
      }
      let first = done + lane;
      for (var c_3: i32 = first; c_3 < params.C; c_3 += 256) {
        let position_1 = r + job_1;
        let X_at_5 = u32(position_1);
        let X_at_6 = X_at_5 * u32(params.C) + u32(c_3);
        let value_4 = X[X_at_6];
        if (value_4 > peak) {
          let scale_1 = exp(max(peak - value_4, -104.0));
          exp_sum = exp_sum * scale_1;
          exp_sum_16 = exp_sum_16 * scale_1;
          exp_sum_256 = exp_sum_256 * scale_1;
          exp_sum_4096 = exp_sum_4096 * scale_1;
          exp_sum_65536 = exp_sum_65536 * scale_1;
          peak = value_4;
        }
        let shift_1 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
        let term_4 = exp(max(value_4 - shift_1, -104.0));
        exp_sum = exp_sum + term_4;
        let part_3 = bitcast<u32>(value_4) & 2147483647u;
        magnitude = max(magnitude, part_3);
      }
    }
    let part_4 = exp_sum + exp_sum_16 + (exp_sum_256 + exp_sum_4096) + exp_sum_65536;
    let has_nan = magnitude > 2139095040u;
    lanes_0[i32(local_index)] = peak;
    lanes_1[i32(local_index)] = part_4;
    lanes_2[i32(local_index)] = select(0u, 1u, has_nan);
    workgroupBarrier();
    let folds = lane < 16;
    if (folds) {
      let first_1 = lane * 16;
      let place = first_1 + 1;
      let place_1 = first_1 + 2;
      let place_2 = first_1 + 3;
      let place_3 = first_1 + 4;
      let place_4 = first_1 + 5;
      let place_5 = first_1 + 6;
      let place_6 = first_1 + 7;
      let place_7 = first_1 + 8;
      let place_8 = first_1 + 9;
      let place_9 = first_1 + 10;
      let place_10 = first_1 + 11;
      let place_11 = first_1 + 12;
      let place_12 = first_1 + 13;
      let place_13 = first_1 + 14;
      let place_14 = first_1 + 15;
      let part_5 = lanes_0[first_1];
      let part_6 = lanes_1[first_1];
      let part_7 = lanes_2[first_1] != 0u;
      let part_8 = lanes_0[place];
      let part_9 = lanes_1[place];
      let part_10 = lanes_2[place] != 0u;
      let part_11 = lanes_0[place_1];
      let part_12 = lanes_1[place_1];
      let part_13 = lanes_2[place_1] != 0u;
      let part_14 = lanes_0[place_2];
      let part_15 = lanes_1[place_2];
      let part_16 = lanes_2[place_2] != 0u;
      let part_17 = lanes_0[place_3];
      let part_18 = lanes_1[place_3];
      let part_19 = lanes_2[place_3] != 0u;
      let part_20 = lanes_0[place_4];
      let part_21 = lanes_1[place_4];
      let part_22 = lanes_2[place_4] != 0u;
      let part_23 = lanes_0[place_5];
      let part_24 = lanes_1[place_5];
      let part_25 = lanes_2[place_5] != 0u;
      let part_26 = lanes_0[place_6];
      let part_27 = lanes_1[place_6];
      let part_28 = lanes_2[place_6] != 0u;
      let part_29 = lanes_0[place_7];
      let part_30 = lanes_1[place_7];
      let part_31 = lanes_2[place_7] != 0u;
      let part_32 = lanes_0[place_8];
      let part_33 = lanes_1[place_8];
      let part_34 = lanes_2[place_8] != 0u;
      let part_35 = lanes_0[place_9];
      let part_36 = lanes_1[place_9];
      let part_37 = lanes_2[place_9] != 0u;
      let part_38 = lanes_0[place_10];
      let part_39 = lanes_1[place_10];
      let part_40 = lanes_2[place_10] != 0u;
      let part_41 = lanes_0[place_11];
      let part_42 = lanes_1[place_11];
      let part_43 = lanes_2[place_11] != 0u;
      let part_44 = lanes_0[place_12];
      let part_45 = lanes_1[place_12];
      let part_46 = lanes_2[place_12] != 0u;
      let part_47 = lanes_0[place_13];
      let part_48 = lanes_1[place_13];
      let part_49 = lanes_2[place_13] != 0u;
      let part_50 = lanes_0[place_14];
      let part_51 = lanes_1[place_14];
      let part_52 = lanes_2[place_14] != 0u;
      let part_53 = max(max(max(max(part_5, part_8), max(part_11, part_14)), max(max(part_17, part_20), max(part_23, part_26))), max(max(max(part_29, part_32), max(part_35, part_38)), max(max(part_41, part_44), max(part_47, part_50))));
      let shift_2 = select(part_53, 0.0, (part_53 > 0x1.fffffep+127f));
      let term_5 = part_6 * exp(max(part_5 - shift_2, -104.0));
      let term_6 = part_9 * exp(max(part_8 - shift_2, -104.0));
      let term_7 = part_12 * exp(max(part_11 - shift_2, -104.0));
      let term_8 = part_15 * exp(max(part_14 - shift_2, -104.0));
      let term_9 = part_18 * exp(max(part_17 - shift_2, -104.0));
      let term_10 = part_21 * exp(max(part_20 - shift_2, -104.0));
      let term_11 = part_24 * exp(max(part_23 - shift_2, -104.0));
      let term_12 = part_27 * exp(max(part_26 - shift_2, -104.0));
      let term_13 = part_30 * exp(max(part_29 - shift_2, -104.0));
      let term_14 = part_33 * exp(max(part_32 - shift_2, -104.0));
      let term_15 = part_36 * exp(max(part_35 - shift_2, -104.0));
      let term_16 = part_39 * exp(max(part_38 - shift_2, -104.0));
      let term_17 = part_42 * exp(max(part_41 - shift_2, -104.0));
      let term_18 = part_45 * exp(max(part_44 - shift_2, -104.0));
      let term_19 = part_48 * exp(max(part_47 - shift_2, -104.0));
      let term_20 = part_51 * exp(max(part_50 - shift_2, -104.0));
      let part_54 = term_5 + term_6 + (term_7 + term_8) + (term_9 + term_10 + (term_11 + term_12)) + (term_13 + term_14 + (term_15 + term_16) + (term_17 + term_18 + (term_19 + term_20)));
      let part_55 = part_7 | part_10 | (part_13 | part_16) | (part_19 | part_22 | (part_25 | part_28)) | (part_31 | part_34 | (part_37 | part_40) | (part_43 | part_46 | (part_49 | part_52)));
      groups_0[lane] = part_53;
      groups_1[lane] = part_54;
      groups_2[lane] = select(0u, 1u, part_55);
    }
    workgroupBarrier();
    let part_56 = groups_0[0];
    let part_57 = groups_1[0];
    let part_58 = groups_2[0] != 0u;
    let part_59 = groups_0[1];
    let part_60 = groups_1[1];
    let part_61 = groups_2[1] != 0u;
    let part_62 = groups_0[2];
    let part_63 = groups_1[2];
    let part_64 = groups_2[2] != 0u;
    let part_65 = groups_0[3];
    let part_66 = groups_1[3];
    let part_67 = groups_2[3] != 0u;
    let part_68 = groups_0[4];
    let part_69 = groups_1[4];
    let part_70 = groups_2[4] != 0u;
    let part_71 = groups_0[5];
    let part_72 = groups_1[5];
    let part_73 = groups_2[5] != 0u;
    let part_74 = groups_0[6];
    let part_75 = groups_1[6];
    let part_76 = groups_2[6] != 0u;
    let part_77 = groups_0[7];
    let part_78 = groups_1[7];
    let part_79 = groups_2[7] != 0u;
    let part_80 = groups_0[8];
    let part_81 = groups_1[8];
    let part_82 = groups_2[8] != 0u;
    let part_83 = groups_0[9];
    let part_84 = groups_1[9];
    let part_85 = groups_2[9] != 0u;
    let part_86 = groups_0[10];
    let part_87 = groups_1[10];
    let part_88 = groups_2[10] != 0u;
    let part_89 = groups_0[11];
    let part_90 = groups_1[11];
    let part_91 = groups_2[11] != 0u;
    let part_92 = groups_0[12];
    let part_93 = groups_1[12];
    let part_94 = groups_2[12] != 0u;
    let part_95 = groups_0[13];
    let part_96 = groups_1[13];
    let part_97 = groups_2[13] != 0u;
    let part_98 = groups_0[14];
    let part_99 = groups_1[14];
    let part_100 = groups_2[14] != 0u;
    let part_101 = groups_0[15];
    let part_102 = groups_1[15];
    let part_103 = groups_2[15] != 0u;
    let part_104 = max(max(max(max(part_56, part_59), max(part_62, part_65)), max(max(part_68, part_71), max(part_74, part_77))), max(max(max(part_80, part_83), max(part_86, part_89)), max(max(part_92, part_95), max(part_98, part_101))));
    let shift_3 = select(part_104, 0.0, (part_104 > 0x1.fffffep+127f));
    let term_21 = part_57 * exp(max(part_56 - shift_3, -104.0));
    let term_22 = part_60 * exp(max(part_59 - shift_3, -104.0));
    let term_23 = part_63 * exp(max(part_62 - shift_3, -104.0));
    let term_24 = part_66 * exp(max(part_65 - shift_3, -104.0));
    let term_25 = part_69 * exp(max(part_68 - shift_3, -104.0));
    let term_26 = part_72 * exp(max(part_71 - shift_3, -104.0));
    let term_27 = part_75 * exp(max(part_74 - shift_3, -104.0));
    let term_28 = part_78 * exp(max(part_77 - shift_3, -104.0));
    let term_29 = part_81 * exp(max(part_80 - shift_3, -104.0));
    let term_30 = part_84 * exp(max(part_83 - shift_3, -104.0));
    let term_31 = part_87 * exp(max(part_86 - shift_3, -104.0));
    let term_32 = part_90 * exp(max(part_89 - shift_3, -104.0));
    let term_33 = part_93 * exp(max(part_92 - shift_3, -104.0));
    let term_34 = part_96 * exp(max(part_95 - shift_3, -104.0));
    let term_35 = part_99 * exp(max(part_98 - shift_3, -104.0));
    let term_36 = part_102 * exp(max(part_101 - shift_3, -104.0));
    let part_105 = term_21 + term_22 + (term_23 + term_24) + (term_25 + term_26 + (term_27 + term_28)) + (term_29 + term_30 + (term_31 + term_32) + (term_33 + term_34 + (term_35 + term_36)));
    let part_106 = part_58 | part_61 | (part_64 | part_67) | (part_70 | part_73 | (part_76 | part_79)) | (part_82 | part_85 | (part_88 | part_91) | (part_94 | part_97 | (part_100 | part_103)));
    let is_empty = eq_f32(part_105, 0.0);
    let is_huge = gt_f32(part_104, 0x1.fffffep+127f);
    let max_ = select(select(part_104, f32_from_bits(0xff800000u), is_empty), f32_from_bits(0x7fc00000u), part_106);
    let safe = select(part_105, 1.0, is_empty | is_huge);
    let rest = select(log_f32(safe), f32_from_bits(0x7fc00000u), part_106);
    let is_active_1 = job_1 < extent;
    if (is_active_1) {
      let r_1 = block * 8;
      let done_1 = params.div_C_1024 * 1024;
      let first_2 = done_1 + lane;
      for (var c_4: i32 = first_2; c_4 < params.C; c_4 += 256) {
        let position_2 = r_1 + job_1;
        let X_at_7 = u32(position_2);
        let X_at_8 = X_at_7 * u32(params.C) + u32(c_4);
        let value_5 = X[X_at_8];
        let sub = value_5 - max_;
        let sub_1 = sub - rest;
        let exp_ = exp_f32(sub_1);
        let Y_at = u32(position_2);
        let Y_at_1 = Y_at * u32(params.C) + u32(c_4);
        Y[Y_at_1] = exp_;
      }
      for (var round_1: i32 = 0; round_1 < params.div_C_1024; round_1 += 1) {
        let start_1 = (params.div_C_1024 - 1 - round_1) * 1024 + lane;
        let c_5 = start_1 + 256;
        let c_6 = start_1 + 512;
        let c_7 = start_1 + 768;
        let position_3 = r_1 + job_1;
        let X_at_9 = u32(position_3);
        let X_at_10 = X_at_9 * u32(params.C) + u32(start_1);
        let value_6 = X[X_at_10];
        let X_at_11 = X_at_9 * u32(params.C) + u32(c_5);
        let value_7 = X[X_at_11];
        let X_at_12 = X_at_9 * u32(params.C) + u32(c_6);
        let value_8 = X[X_at_12];
        let X_at_13 = X_at_9 * u32(params.C) + u32(c_7);
        let value_9 = X[X_at_13];
        let sub_2 = value_6 - max_;
        let sub_3 = sub_2 - rest;
        let exp_1 = exp_f32(sub_3);
        let Y_at_2 = u32(position_3);
        let Y_at_3 = Y_at_2 * u32(params.C) + u32(start_1);
        Y[Y_at_3] = exp_1;
        let sub_4 = value_7 - max_;
        let sub_5 = sub_4 - rest;
        let exp_2 = exp_f32(sub_5);
        let Y_at_4 = u32(position_3);
        let Y_at_5 = Y_at_4 * u32(params.C) + u32(c_5);
        Y[Y_at_5] = exp_2;
        let sub_6 = value_8 - max_;
        let sub_7 = sub_6 - rest;
        let exp_3 = exp_f32(sub_7);
        let Y_at_6 = u32(position_3);
        let Y_at_7 = Y_at_6 * u32(params.C) + u32(c_6);
        Y[Y_at_7] = exp_3;
        let sub_8 = value_9 - max_;
        let sub_9 = sub_8 - rest;
        let exp_4 = exp_f32(sub_9);
        let Y_at_8 = u32(position_3);
        let Y_at_9 = Y_at_8 * u32(params.C) + u32(c_7);
        Y[Y_at_9] = exp_4;
      }
    }
  }
}
