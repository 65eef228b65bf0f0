// Kernel label_smoothing, written by tilec.

struct Params {
  n8_ceildiv_M_8: i32,
  M: i32,
  ignore_index: i32,
  V: i32,
  div_V_1024: i32,
  smoothing: f32,
  n8_ceildiv_M_8_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> Target: array<i32>;
@group(0) @binding(2) var<storage, read> Logits: array<f32>;
@group(0) @binding(3) var<storage, read_write> Loss: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;
var<workgroup> lanes_1: array<f32, 256>;
var<workgroup> lanes_2: array<u32, 256>;
var<workgroup> lanes_3: array<f32, 256>;
var<workgroup> groups_0: array<f32, 16>;
var<workgroup> groups_1: array<f32, 16>;
var<workgroup> groups_2: array<u32, 16>;
var<workgroup> groups_3: array<f32, 16>;

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

fn where_f32(condition: bool, chosen: f32, other: f32) -> f32 {
  return select(other, chosen, condition);
}

@compute @workgroup_size(256)
fn label_smoothing(
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
    var sum: f32 = 0.0;
    var sum_16: f32 = 0.0;
    var sum_256: f32 = 0.0;
    var sum_4096: f32 = 0.0;
    var sum_65536: f32 = 0.0;
    let extent = params.M - 8 * block;
    let is_active = job_1 < extent;
    if (is_active) {
      let r = block * 8;
      let position = r + job_1;
      let Target_at = u32(position);
      let value = Target[Target_at];
      let eq = value == params.ignore_index;
      let is_not = !eq;
      if (is_not) {
        let done = params.div_V_1024 * 1024;
        for (var round_: i32 = 0; round_ < params.div_V_1024; round_ += 1) {
          let start = round_ * 1024 + lane;
          let c = start + 256;
          let c_1 = start + 512;
          let c_2 = start + 768;
          let Logits_at = u32(position);
          let Logits_at_1 = Logits_at * u32(params.V) + u32(start);
          let value_1 = Logits[Logits_at_1];
          let Logits_at_2 = Logits_at * u32(params.V) + u32(c);
          let value_2 = Logits[Logits_at_2];
          let Logits_at_3 = Logits_at * u32(params.V) + u32(c_1);
          let value_3 = Logits[Logits_at_3];
          let Logits_at_4 = Logits_at * u32(params.V) + u32(c_2);
          let value_4 = Logits[Logits_at_4];
          let part = max(max(value_1, value_2), max(value_3, value_4));
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
          let term = exp(max(value_1 - shift, -104.0));
          let term_1 = exp(max(value_2 - shift, -104.0));
          let term_2 = exp(max(value_3 - shift, -104.0));
          let term_3 = exp(max(value_4 - shift, -104.0));
          let part_1 = term + term_1 + (term_2 + term_3);
          exp_sum = exp_sum + part_1;
          let part_2 = max(max(bitcast<u32>(value_1) & 2147483647u, bitcast<u32>(value_2) & 2147483647u), max(bitcast<u32>(value_3) & 2147483647u, bitcast<u32>(value_4) & 2147483647u));
          magnitude = max(magnitude, part_2);
          let part_3 = value_1 + value_2 + (value_3 + value_4);
          sum = sum + part_3;
          if ((round_ & 15) == 15) {
            exp_sum_16 = exp_sum_16 + exp_sum;
            exp_sum = 0.0;
            sum_16 = sum_16 + sum;
            sum = 0.0;
            if ((round_ & 255) == 255) {
              exp_sum_256 = exp_sum_256 + exp_sum_16;
              exp_sum_16 = 0.0;
              sum_256 = sum_256 + sum_16;
              sum_16 = 0.0;
              if ((round_ & 4095) == 4095) {
                exp_sum_4096 = exp_sum_4096 + exp_sum_256;
                exp_sum_256 = 0.0;
                sum_4096 = sum_4096 + sum_256;
                sum_256 = 0.0;
                if ((round_ & 65535) == 65535) {
                  exp_sum_65536 = exp_sum_65536 + exp_sum_4096;
                  exp_sum_4096 = 0.0;
                  sum_65536 = sum_65536 + sum_4096;
                  sum_4096 = 0.0;
                }
              }
            }
          }
        }
        let first = done + lane;
        for (var c_3: i32 = first; c_3 < params.V; c_3 += 256) {
          let Logits_at_5 = u32(position);
          let Logits_at_6 = Logits_at_5 * u32(params.V) + u32(c_3);
          let value_5 = Logits[Logits_at_6];
          if (value_5 > peak) {
            let scale_1 = exp(max(peak - value_5, -104.0));
            exp_sum = exp_sum * scale_1;
            exp_sum_16 = exp_sum_16 * scale_1;
            exp_sum_256 = exp_sum_256 * scale_1;
            exp_sum_4096 = exp_sum_4096 * scale_1;
            exp_sum_65536 = exp_sum_65536 * scale_1;
            peak = value_5;
          }
          let shift_1 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_4 = exp(max(value_5 - shift_1, -104.0));
          exp_sum = exp_sum + term_4;
          let part_4 = bitcast<u32>(value_5) & 2147483647u;
          magnitude = max(magnitude, part_4);
          sum = sum + value_5;
        }
      }
    }
    let part_5 = exp_sum + exp_sum_16 + (exp_sum_256 + exp_sum_4096) + exp_sum_65536;
    let has_nan = magnitude > 2139095040u;
    let part_6 = sum + sum_16 + (sum_256 + sum_4096) + sum_65536;
    lanes_0[i32(local_index)] = peak;
    lanes_1[i32(local_index)] = part_5;
    lanes_2[i32(local_index)] = select(0u, 1u, has_nan);
    lanes_3[i32(local_index)] = part_6;
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
      let part_7 = lanes_0[first_1];
      let part_8 = lanes_1[first_1];
      let part_9 = lanes_2[first_1] != 0u;
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
      let part_55 = max(max(max(max(part_7, part_10), max(part_13, part_16)), max(max(part_19, part_22), max(part_25, part_28))), max(max(max(part_31, part_34), max(part_37, part_40)), max(max(part_43, part_46), max(part_49, part_52))));
      let shift_2 = select(part_55, 0.0, (part_55 > 0x1.fffffep+127f));
      let term_5 = part_8 * exp(max(part_7 - shift_2, -104.0));
      let term_6 = part_11 * exp(max(part_10 - shift_2, -104.0));
      let term_7 = part_14 * exp(max(part_13 - shift_2, -104.0));
      let term_8 = part_17 * exp(max(part_16 - shift_2, -104.0));
      let term_9 = part_20 * exp(max(part_19 - shift_2, -104.0));
      let term_10 = part_23 * exp(max(part_22 - shift_2, -104.0));
      let term_11 = part_26 * exp(max(part_25 - shift_2, -104.0));
      let term_12 = part_29 * exp(max(part_28 - shift_2, -104.0));
      let term_13 = part_32 * exp(max(part_31 - shift_2, -104.0));
      let term_14 = part_35 * exp(max(part_34 - shift_2, -104.0));
      let term_15 = part_38 * exp(max(part_37 - shift_2, -104.0));
      let term_16 = part_41 * exp(max(part_40 - shift_2, -104.0));
      let term_17 = part_44 * exp(max(part_43 - shift_2, -104.0));
      let term_18 = part_47 * exp(max(part_46 - shift_2, -104.0));
      let term_19 = part_50 * exp(max(part_49 - shift_2, -104.0));
      let term_20 = part_53 * exp(max(part_52 - shift_2, -104.0));
      let part_56 = term_5 + term_6 + (term_7 + term_8) + (term_9 + term_10 + (term_11 + term_12)) + (term_13 + term_14 + (term_15 + term_16) + (term_17 + term_18 + (term_19 + term_20)));
      let part_57 = part_9 | part_12 | (part_15 | part_18) | (part_21 | part_24 | (part_27 | part_30)) | (part_33 | part_36 | (part_39 | part_42) | (part_45 | part_48 | (part_51 | part_54)));
      let part_58 = lanes_3[first_1];
      let part_59 = lanes_3[place];
      let part_60 = lanes_3[place_1];
      let part_61 = lanes_3[place_2];
      let part_62 = lanes_3[place_3];
      let part_63 = lanes_3[place_4];
      let part_64 = lanes_3[place_5];
      let part_65 = lanes_3[place_6];
      let part_66 = lanes_3[place_7];
      let part_67 = lanes_3[place_8];
      let part_68 = lanes_3[place_9];
      let part_69 = lanes_3[place_10];
      let part_70 = lanes_3[place_11];
      let part_71 = lanes_3[place_12];
      let part_72 = lanes_3[place_13];
      let part_73 = lanes_3[place_14];
      let part_74 = part_58 + part_59 + (part_60 + part_61) + (part_62 + part_63 + (part_64 + part_65)) + (part_66 + part_67 + (part_68 + part_69) + (part_70 + part_71 + (part_72 + part_73)));
      groups_0[lane] = part_55;
      groups_1[lane] = part_56;
      groups_2[lane] = select(0u, 1u, part_57);
      groups_3[lane] = part_74;
    }
    workgroupBarrier();
    let part_75 = groups_0[0];
    let part_76 = groups_1[0];
    let part_77 = groups_2[0] != 0u;
    let part_78 = groups_0[1];
    let part_79 = groups_1[1];
    let part_80 = groups_2[1] != 0u;
    let part_81 = groups_0[2];
    let part_82 = groups_1[2];
    let part_83 = groups_2[2] != 0u;
    let part_84 = groups_0[3];
    let part_85 = groups_1[3];
    let part_86 = groups_2[3] != 0u;
    let part_87 = groups_0[4];
    let part_88 = groups_1[4];
    let part_89 = groups_2[4] != 0u;
    let part_90 = groups_0[5];
    let part_91 = groups_1[5];
    let part_92 = groups_2[5] != 0u;
    let part_93 = groups_0[6];
    let part_94 = groups_1[6];
    let part_95 = groups_2[6] != 0u;
    let part_96 = groups_0[7];
    let part_97 = groups_1[7];
    let part_98 = groups_2[7] != 0u;
    let part_99 = groups_0[8];
    let part_100 = groups_1[8];
    let part_101 = groups_2[8] != 0u;
    let part_102 = groups_0[9];
    let part_103 = groups_1[9];
    let part_104 = groups_2[9] != 0u;
    let part_105 = groups_0[10];
    let part_106 = groups_1[10];
    let part_107 = groups_2[10] != 0u;
    let part_108 = groups_0[11];
    let part_109 = groups_1[11];
    let part_110 = groups_2[11] != 0u;
    let part_111 = groups_0[12];
    let part_112 = groups_1[12];
    let part_113 = groups_2[12] != 0u;
    let part_114 = groups_0[13];
    let part_115 = groups_1[13];
    let part_116 = groups_2[13] != 0u;
    let part_117 = groups_0[14];
    let part_118 = groups_1[14];
    let part_119 = groups_2[14] != 0u;
    let part_120 = groups_0[15];
    let part_121 = groups_1[15];
    let part_122 = groups_2[15] != 0u;
    let part_123 = max(max(max(max(part_75, part_78), max(part_81, part_84)), max(max(part_87, part_90), max(part_93, part_96))), max(max(max(part_99, part_102), max(part_105, part_108)), max(max(part_111, part_114), max(part_117, part_120))));
    let shift_3 = select(part_123, 0.0, (part_123 > 0x1.fffffep+127f));
    let term_21 = part_76 * exp(max(part_75 - shift_3, -104.0));
    let term_22 = part_79 * exp(max(part_78 - shift_3, -104.0));
    let term_23 = part_82 * exp(max(part_81 - shift_3, -104.0));
    let term_24 = part_85 * exp(max(part_84 - shift_3, -104.0));
    let term_25 = part_88 * exp(max(part_87 - shift_3, -104.0));
    let term_26 = part_91 * exp(max(part_90 - shift_3, -104.0));
    let term_27 = part_94 * exp(max(part_93 - shift_3, -104.0));
    let term_28 = part_97 * exp(max(part_96 - shift_3, -104.0));
    let term_29 = part_100 * exp(max(part_99 - shift_3, -104.0));
    let term_30 = part_103 * exp(max(part_102 - shift_3, -104.0));
    let term_31 = part_106 * exp(max(part_105 - shift_3, -104.0));
    let term_32 = part_109 * exp(max(part_108 - shift_3, -104.0));
    let term_33 = part_112 * exp(max(part_111 - shift_3, -104.0));
    let term_34 = part_115 * exp(max(part_114 - shift_3, -104.0));
    let term_35 = part_118 * exp(max(part_117 - shift_3, -104.0));
    let term_36 = part_121 * exp(max(part_120 - shift_3, -104.0));
    let part_124 = term_21 + term_22 + (term_23 + term_24) + (term_25 + term_26 + (term_27 + term_28)) + (term_29 + term_30 + (term_31 + term_32) + (term_33 + term_34 + (term_35 + term_36)));
    let part_125 = part_77 | part_80 | (part_83 | part_86) | (part_89 | part_92 | (part_95 | part_98)) | (part_101 | part_104 | (part_107 | part_110) | (part_113 | part_116 | (part_119 | part_122)));
    let part_126 = groups_3[0];
    let part_127 = groups_3[1];
    let part_128 = groups_3[2];
    let part_129 = groups_3[3];
    let part_130 = groups_3[4];
    let part_131 = groups_3[5];
    let part_132 = groups_3[6];
    let part_133 = groups_3[7];
    let part_134 = groups_3[8];
    let part_135 = groups_3[9];
    let part_136 = groups_3[10];
    let part_137 = groups_3[11];
    let part_138 = groups_3[12];
    let part_139 = groups_3[13];
    let part_140 = groups_3[14];
    let part_141 = groups_3[15];
    let part_142 = part_126 + part_127 + (part_128 + part_129) + (part_130 + part_131 + (part_132 + part_133)) + (part_134 + part_135 + (part_136 + part_137) + (part_138 + part_139 + (part_140 + part_141)));
    let is_empty = eq_f32(part_124, 0.0);
    let is_huge = gt_f32(part_123, 0x1.fffffep+127f);
    let max_ = select(select(part_123, f32_from_bits(0xff800000u), is_empty), f32_from_bits(0x7fc00000u), part_125);
    let safe = select(part_124, 1.0, is_empty | is_huge);
    let rest = select(log_f32(safe), f32_from_bits(0x7fc00000u), part_125);
    let is_active_1 = job_1 < extent;
    if ((lane == 0) & is_active_1) {
      let r_1 = block * 8;
      let position_1 = r_1 + job_1;
      let Target_at_1 = u32(position_1);
      let value_6 = Target[Target_at_1];
      let eq_1 = value_6 == params.ignore_index;
      var chosen: f32 = 0.0;
      if (eq_1) {
        chosen = 0.0;
      } else {
        let count = 1 * params.V;
        let value_7 = f32(count);
        let div_f32 = part_142 / value_7;
        let sub = max_ - div_f32;
        let add = sub + rest;
        let mul = params.smoothing * add;
        let gt = gt_f32(params.smoothing, 0.0);
        let spread = where_f32(gt, mul, 0.0);
        var picked: f32 = 0.0;
        let is_active_2 = job_1 < extent;
        if ((u32(value_6) < u32(params.V)) & is_active_2) {
          let Logits_at_7 = u32(position_1);
          let Logits_at_8 = Logits_at_7 * u32(params.V) + u32(value_6);
          let value_8 = Logits[Logits_at_8];
          picked = value_8;
        }
        let sub_1 = max_ - picked;
        let hard = sub_1 + rest;
        let sub_2 = 1.0 - params.smoothing;
        let mul_1 = sub_2 * hard;
        let add_1 = mul_1 + spread;
        chosen = add_1;
      }
      let Loss_at = u32(position_1);
      Loss[Loss_at] = chosen;
    }
  }
}
