// Kernel train_loss, written by tilec.

struct Params {
  n8_ceildiv_M_8: i32,
  M: i32,
  V: i32,
  ignore_index: i32,
  div_V_1024: i32,
  beta: f32,
  alpha: f32,
  inv_norm: f32,
  n8_ceildiv_M_8_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> Target: array<i32>;
@group(0) @binding(2) var<storage, read_write> Logits: array<f32>;
@group(0) @binding(3) var<storage, read_write> Loss: array<f32>;
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
fn train_loss(
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
    var picked: f32 = 0.0;
    let extent = params.M - 8 * block;
    let is_active = job_1 < extent;
    if (is_active) {
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
        let is_active_1 = job_1 < extent;
        let exists = (u32(value) < u32(params.V)) & is_active_1;
        if (exists) {
          let is_mine = (u32(value) & 255u) == u32(lane);
          if (is_mine) {
            let Logits_at = u32(position);
            let Logits_at_1 = Logits_at * u32(params.V) + u32(value);
            let x = Logits[Logits_at_1];
            picked = x;
          }
        }
      }
      if (and_1) {
        let done = params.div_V_1024 * 1024;
        for (var round_: i32 = 0; round_ < params.div_V_1024; round_ += 1) {
          let start = round_ * 1024 + lane;
          let c = start + 256;
          let c_1 = start + 512;
          let c_2 = start + 768;
          let Logits_at_2 = u32(position);
          let Logits_at_3 = Logits_at_2 * u32(params.V) + u32(start);
          let x_1 = Logits[Logits_at_3];
          let Logits_at_4 = Logits_at_2 * u32(params.V) + u32(c);
          let x_2 = Logits[Logits_at_4];
          let Logits_at_5 = Logits_at_2 * u32(params.V) + u32(c_1);
          let x_3 = Logits[Logits_at_5];
          let Logits_at_6 = Logits_at_2 * u32(params.V) + u32(c_2);
          let x_4 = Logits[Logits_at_6];
          let part = max(max(x_1, x_2), max(x_3, x_4));
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
          let term = exp(max(x_1 - shift, -104.0));
          let term_1 = exp(max(x_2 - shift, -104.0));
          let term_2 = exp(max(x_3 - shift, -104.0));
          let term_3 = exp(max(x_4 - shift, -104.0));
          let part_1 = term + term_1 + (term_2 + term_3);
          exp_sum = exp_sum + part_1;
          let part_2 = max(max(bitcast<u32>(x_1) & 2147483647u, bitcast<u32>(x_2) & 2147483647u), max(bitcast<u32>(x_3) & 2147483647u, bitcast<u32>(x_4) & 2147483647u));
          magnitude = max(magnitude, part_2);
          let part_3 = x_1 + x_2 + (x_3 + x_4);
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
          let Logits_at_7 = u32(position);
          let Logits_at_8 = Logits_at_7 * u32(params.V) + u32(c_3);
          let x_5 = Logits[Logits_at_8];
          if (x_5 > peak) {
            let scale_1 = exp(max(peak - x_5, -104.0));
            exp_sum = exp_sum * scale_1;
            exp_sum_16 = exp_sum_16 * scale_1;
            exp_sum_256 = exp_sum_256 * scale_1;
            exp_sum_4096 = exp_sum_4096 * scale_1;
            exp_sum_65536 = exp_sum_65536 * scale_1;
            peak = x_5;
          }
          let shift_1 = select(peak, 0.0, (peak > 0x1.fffffep+127f));
          let term_4 = exp(max(x_5 - shift_1, -104.0));
          exp_sum = exp_sum + term_4;
          let part_4 = bitcast<u32>(x_5) & 2147483647u;
          magnitude = max(magnitude, part_4);
          sum = sum + x_5;
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
    lanes_4[i32(local_index)] = picked;
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
      let part_75 = lanes_4[first_1];
      let part_76 = lanes_4[place];
      let part_77 = lanes_4[place_1];
      let part_78 = lanes_4[place_2];
      let part_79 = lanes_4[place_3];
      let part_80 = lanes_4[place_4];
      let part_81 = lanes_4[place_5];
      let part_82 = lanes_4[place_6];
      let part_83 = lanes_4[place_7];
      let part_84 = lanes_4[place_8];
      let part_85 = lanes_4[place_9];
      let part_86 = lanes_4[place_10];
      let part_87 = lanes_4[place_11];
      let part_88 = lanes_4[place_12];
      let part_89 = lanes_4[place_13];
      let part_90 = lanes_4[place_14];
      let part_91 = part_75 + part_76 + (part_77 + part_78) + (part_79 + part_80 + (part_81 + part_82)) + (part_83 + part_84 + (part_85 + part_86) + (part_87 + part_88 + (part_89 + part_90)));
      groups_0[lane] = part_55;
      groups_1[lane] = part_56;
      groups_2[lane] = select(0u, 1u, part_57);
      groups_3[lane] = part_74;
      groups_4[lane] = part_91;
    }
    workgroupBarrier();
    let part_92 = groups_0[0];
    let part_93 = groups_1[0];
    let part_94 = groups_2[0] != 0u;
    let part_95 = groups_0[1];
    let part_96 = groups_1[1];
    let part_97 = groups_2[1] != 0u;
    let part_98 = groups_0[2];
    let part_99 = groups_1[2];
    let part_100 = groups_2[2] != 0u;
    let part_101 = groups_0[3];
    let part_102 = groups_1[3];
    let part_103 = groups_2[3] != 0u;
    let part_104 = groups_0[4];
    let part_105 = groups_1[4];
    let part_106 = groups_2[4] != 0u;
    let part_107 = groups_0[5];
    let part_108 = groups_1[5];
    let part_109 = groups_2[5] != 0u;
    let part_110 = groups_0[6];
    let part_111 = groups_1[6];
    let part_112 = groups_2[6] != 0u;
    let part_113 = groups_0[7];
    let part_114 = groups_1[7];
    let part_115 = groups_2[7] != 0u;
    let part_116 = groups_0[8];
    let part_117 = groups_1[8];
    let part_118 = groups_2[8] != 0u;
    let part_119 = groups_0[9];
    let part_120 = groups_1[9];
    let part_121 = groups_2[9] != 0u;
    let part_122 = groups_0[10];
    let part_123 = groups_1[10];
    let part_124 = groups_2[10] != 0u;
    let part_125 = groups_0[11];
    let part_126 = groups_1[11];
    let part_127 = groups_2[11] != 0u;
    let part_128 = groups_0[12];
    let part_129 = groups_1[12];
    let part_130 = groups_2[12] != 0u;
    let part_131 = groups_0[13];
    let part_132 = groups_1[13];
    let part_133 = groups_2[13] != 0u;
    let part_134 = groups_0[14];
    let part_135 = groups_1[14];
    let part_136 = groups_2[14] != 0u;
    let part_137 = groups_0[15];
    let part_138 = groups_1[15];
    let part_139 = groups_2[15] != 0u;
    let part_140 = max(max(max(max(part_92, part_95), max(part_98, part_101)), max(max(part_104, part_107), max(part_110, part_113))), max(max(max(part_116, part_119), max(part_122, part_125)), max(max(part_128, part_131), max(part_134, part_137))));
    let shift_3 = select(part_140, 0.0, (part_140 > 0x1.fffffep+127f));
    let term_21 = part_93 * exp(max(part_92 - shift_3, -104.0));
    let term_22 = part_96 * exp(max(part_95 - shift_3, -104.0));
    let term_23 = part_99 * exp(max(part_98 - shift_3, -104.0));
    let term_24 = part_102 * exp(max(part_101 - shift_3, -104.0));
    let term_25 = part_105 * exp(max(part_104 - shift_3, -104.0));
    let term_26 = part_108 * exp(max(part_107 - shift_3, -104.0));
    let term_27 = part_111 * exp(max(part_110 - shift_3, -104.0));
    let term_28 = part_114 * exp(max(part_113 - shift_3, -104.0));
    let term_29 = part_117 * exp(max(part_116 - shift_3, -104.0));
    let term_30 = part_120 * exp(max(part_119 - shift_3, -104.0));
    let term_31 = part_123 * exp(max(part_122 - shift_3, -104.0));
    let term_32 = part_126 * exp(max(part_125 - shift_3, -104.0));
    let term_33 = part_129 * exp(max(part_128 - shift_3, -104.0));
    let term_34 = part_132 * exp(max(part_131 - shift_3, -104.0));
    let term_35 = part_135 * exp(max(part_134 - shift_3, -104.0));
    let term_36 = part_138 * exp(max(part_137 - shift_3, -104.0));
    let part_141 = term_21 + term_22 + (term_23 + term_24) + (term_25 + term_26 + (term_27 + term_28)) + (term_29 + term_30 + (term_31 + term_32) + (term_33 + term_34 + (term_35 + term_36)));
    let part_142 = part_94 | part_97 | (part_100 | part_103) | (part_106 | part_109 | (part_112 | part_115)) | (part_118 | part_121 | (part_124 | part_127) | (part_130 | part_133 | (part_136 | part_139)));
    let part_143 = groups_3[0];
    let part_144 = groups_3[1];
    let part_145 = groups_3[2];
    let part_146 = groups_3[3];
    let part_147 = groups_3[4];
    let part_148 = groups_3[5];
    let part_149 = groups_3[6];
    let part_150 = groups_3[7];
    let part_151 = groups_3[8];
    let part_152 = groups_3[9];
    let part_153 = groups_3[10];
    let part_154 = groups_3[11];
    let part_155 = groups_3[12];
    let part_156 = groups_3[13];
    let part_157 = groups_3[14];
    let part_158 = groups_3[15];
    let part_159 = part_143 + part_144 + (part_145 + part_146) + (part_147 + part_148 + (part_149 + part_150)) + (part_151 + part_152 + (part_153 + part_154) + (part_155 + part_156 + (part_157 + part_158)));
    let part_160 = groups_4[0];
    let part_161 = groups_4[1];
    let part_162 = groups_4[2];
    let part_163 = groups_4[3];
    let part_164 = groups_4[4];
    let part_165 = groups_4[5];
    let part_166 = groups_4[6];
    let part_167 = groups_4[7];
    let part_168 = groups_4[8];
    let part_169 = groups_4[9];
    let part_170 = groups_4[10];
    let part_171 = groups_4[11];
    let part_172 = groups_4[12];
    let part_173 = groups_4[13];
    let part_174 = groups_4[14];
    let part_175 = groups_4[15];
    let part_176 = part_160 + part_161 + (part_162 + part_163) + (part_164 + part_165 + (part_166 + part_167)) + (part_168 + part_169 + (part_170 + part_171) + (part_172 + part_173 + (part_174 + part_175)));
    let is_empty = eq_f32(part_141, 0.0);
    let is_huge = gt_f32(part_140, 0x1.fffffep+127f);
    let max_ = select(select(part_140, f32_from_bits(0xff800000u), is_empty), f32_from_bits(0x7fc00000u), part_142);
    let safe = select(part_141, 1.0, is_empty | is_huge);
    let rest = select(log_f32(safe), f32_from_bits(0x7fc00000u), part_142);
    let is_active_2 = job_1 < extent;
    if ((lane == 0) & is_active_2) {
      let lse = max_ + rest;
      let square = square_f32(lse);
      let mul = params.beta * square;
      let count = 1 * params.V;
      let value_1 = f32(count);
      let div_f32 = part_159 / value_1;
      let mul_1 = params.alpha * div_f32;
      let gt = gt_f32(params.alpha, 0.0);
      let smooth_ = where_f32(gt, mul_1, 0.0);
      let sub = 1.0 - params.alpha;
      let mul_2 = sub * part_176;
      let sub_1 = max_ - mul_2;
      let add = sub_1 + rest;
      let sub_2 = add - smooth_;
      let add_1 = sub_2 + mul;
      let r_1 = block * 8;
      let position_1 = r_1 + job_1;
      let Target_at_1 = u32(position_1);
      let value_2 = Target[Target_at_1];
      let lt_1 = value_2 < params.V;
      let ge_1 = value_2 >= 0;
      let ne_1 = value_2 != params.ignore_index;
      let and_2 = ne_1 & ge_1;
      let and_3 = and_2 & lt_1;
      let loss = where_f32(and_3, add_1, 0.0);
      let Loss_at = u32(position_1);
      Loss[Loss_at] = loss;
    }
    let is_active_3 = job_1 < extent;
    if (is_active_3) {
      let r_2 = block * 8;
      let position_2 = r_2 + job_1;
      let Target_at_2 = u32(position_2);
      let value_3 = Target[Target_at_2];
      let lt_2 = value_3 < params.V;
      let ge_2 = value_3 >= 0;
      let ne_2 = value_3 != params.ignore_index;
      let and_4 = ne_2 & ge_2;
      let and_5 = and_4 & lt_2;
      if (and_5) {
        let count_1 = 1 * params.V;
        let value_4 = f32(count_1);
        let div_f32_1 = params.alpha / value_4;
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
        let done_1 = params.div_V_1024 * 1024;
        let first_2 = done_1 + lane;
        for (var c_4: i32 = first_2; c_4 < params.V; c_4 += 256) {
          let eq = c_4 == value_3;
          let where_1 = where_f32(eq, mul_4, mul_3);
          let Logits_at_9 = u32(position_2);
          let Logits_at_10 = Logits_at_9 * u32(params.V) + u32(c_4);
          let x_6 = Logits[Logits_at_10];
          let sub_4 = x_6 - max_;
          let exp_1 = exp_f32(sub_4);
          let mul_9 = exp_1 * mul_8;
          let sub_5 = mul_9 - where_1;
          Logits[Logits_at_10] = sub_5;
        }
        for (var round_1: i32 = 0; round_1 < params.div_V_1024; round_1 += 1) {
          let start_1 = (params.div_V_1024 - 1 - round_1) * 1024 + lane;
          let c_5 = start_1 + 256;
          let c_6 = start_1 + 512;
          let c_7 = start_1 + 768;
          let Logits_at_11 = u32(position_2);
          let Logits_at_12 = Logits_at_11 * u32(params.V) + u32(start_1);
          let x_7 = Logits[Logits_at_12];
          let Logits_at_13 = Logits_at_11 * u32(params.V) + u32(c_5);
          let x_8 = Logits[Logits_at_13];
          let Logits_at_14 = Logits_at_11 * u32(params.V) + u32(c_6);
          let x_9 = Logits[Logits_at_14];
          let Logits_at_15 = Logits_at_11 * u32(params.V) + u32(c_7);
          let x_10 = Logits[Logits_at_15];
          let eq_1 = start_1 == value_3;
          let where_2 = where_f32(eq_1, mul_4, mul_3);
          let sub_6 = x_7 - max_;
          let exp_2 = exp_f32(sub_6);
          let mul_10 = exp_2 * mul_8;
          let sub_7 = mul_10 - where_2;
          Logits[Logits_at_12] = sub_7;
          let eq_2 = c_5 == value_3;
          let where_3 = where_f32(eq_2, mul_4, mul_3);
          let sub_8 = x_8 - max_;
          let exp_3 = exp_f32(sub_8);
          let mul_11 = exp_3 * mul_8;
          let sub_9 = mul_11 - where_3;
          Logits[Logits_at_13] = sub_9;
          let eq_3 = c_6 == value_3;
          let where_4 = where_f32(eq_3, mul_4, mul_3);
          let sub_10 = x_9 - max_;
          let exp_4 = exp_f32(sub_10);
          let mul_12 = exp_4 * mul_8;
          let sub_11 = mul_12 - where_4;
          Logits[Logits_at_14] = sub_11;
          let eq_4 = c_7 == value_3;
          let where_5 = where_f32(eq_4, mul_4, mul_3);
          let sub_12 = x_10 - max_;
          let exp_5 = exp_f32(sub_12);
          let mul_13 = exp_5 * mul_8;
          let sub_13 = mul_13 - where_5;
          Logits[Logits_at_15] = sub_13;
        }
      } else {
        let done_2 = params.div_V_1024 * 1024;
        let first_3 = done_2 + lane;
        for (var c_8: i32 = first_3; c_8 < params.V; c_8 += 256) {
          let Logits_at_16 = u32(position_2);
          let Logits_at_17 = Logits_at_16 * u32(params.V) + u32(c_8);
          Logits[Logits_at_17] = 0.0;
        }
        for (var round_2: i32 = 0; round_2 < params.div_V_1024; round_2 += 1) {
          let start_2 = (params.div_V_1024 - 1 - round_2) * 1024 + lane;
          let c_9 = start_2 + 256;
          let c_10 = start_2 + 512;
          let c_11 = start_2 + 768;
          let Logits_at_18 = u32(position_2);
          let Logits_at_19 = Logits_at_18 * u32(params.V) + u32(start_2);
          Logits[Logits_at_19] = 0.0;
          let Logits_at_20 = u32(position_2);
          let Logits_at_21 = Logits_at_20 * u32(params.V) + u32(c_9);
          Logits[Logits_at_21] = 0.0;
          let Logits_at_22 = u32(position_2);
          let Logits_at_23 = Logits_at_22 * u32(params.V) + u32(c_10);
          Logits[Logits_at_23] = 0.0;
          let Logits_at_24 = u32(position_2);
          let Logits_at_25 = Logits_at_24 * u32(params.V) + u32(c_11);
          Logits[Logits_at_25] = 0.0;
        }
      }
    }
  }
}
