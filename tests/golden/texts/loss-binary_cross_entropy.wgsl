// Kernel loss, written by tilec.

struct Params {
  n8_ceildiv_M_8: i32,
  M: i32,
  C: i32,
  div_C_1024: i32,
  n8_ceildiv_M_8_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> X: array<f32>;
@group(0) @binding(2) var<storage, read> Y: array<f32>;
@group(0) @binding(3) var<storage, read_write> L: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;
var<workgroup> groups_0: array<f32, 16>;

fn f32_from_bits(bits: u32) -> f32 {
  return bitcast<f32>(bits);
}

fn isnan_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn exp_f32(x: f32) -> f32 {
  let inside = select(exp(clamp(x, -104.0, 88.7228)), f32_from_bits(0x7f800000u), x > 88.72284);
  return select(inside, x, isnan_f32(x));
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

fn log1p_f32(x: f32) -> f32 {
  let is_near = (x > -0.29) & (x < 0.41);
  let f = select(x, 0.0, isnan_f32(x));
  return select(log_f32(1.0 + x), log1p_near_0(clamp(f, -0.29, 0.41)), is_near & !isnan_f32(x));
}

fn max_f32(x: f32, y: f32) -> f32 {
  return select(select(max(x, y), y, isnan_f32(y)), x, isnan_f32(x));
}

@compute @workgroup_size(256)
fn loss(
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
    var sum: f32 = 0.0;
    var sum_16: f32 = 0.0;
    var sum_256: f32 = 0.0;
    var sum_4096: f32 = 0.0;
    var sum_65536: f32 = 0.0;
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
        let abs_ = abs(value);
        let neg = -abs_;
        let exp_ = exp_f32(neg);
        let log1p = log1p_f32(exp_);
        let Y_at = u32(position);
        let Y_at_1 = Y_at * u32(params.C) + u32(start);
        let value_1 = Y[Y_at_1];
        let mul = value * value_1;
        let max_ = max_f32(value, 0.0);
        let sub = max_ - mul;
        let add = sub + log1p;
        let X_at_2 = X_at * u32(params.C) + u32(c);
        let value_2 = X[X_at_2];
        let abs_1 = abs(value_2);
        let neg_1 = -abs_1;
        let exp_1 = exp_f32(neg_1);
        let log1p_1 = log1p_f32(exp_1);
        let Y_at_2 = Y_at * u32(params.C) + u32(c);
        let value_3 = Y[Y_at_2];
        let mul_1 = value_2 * value_3;
        let max_1 = max_f32(value_2, 0.0);
        let sub_1 = max_1 - mul_1;
        let add_1 = sub_1 + log1p_1;
        let X_at_3 = X_at * u32(params.C) + u32(c_1);
        let value_4 = X[X_at_3];
        let abs_2 = abs(value_4);
        let neg_2 = -abs_2;
        let exp_2 = exp_f32(neg_2);
        let log1p_2 = log1p_f32(exp_2);
        let Y_at_3 = Y_at * u32(params.C) + u32(c_1);
        let value_5 = Y[Y_at_3];
        let mul_2 = value_4 * value_5;
        let max_2 = max_f32(value_4, 0.0);
        let sub_2 = max_2 - mul_2;
        let add_2 = sub_2 + log1p_2;
        let X_at_4 = X_at * u32(params.C) + u32(c_2);
        let value_6 = X[X_at_4];
        let abs_3 = abs(value_6);
        let neg_3 = -abs_3;
        let exp_3 = exp_f32(neg_3);
        let log1p_3 = log1p_f32(exp_3);
        let Y_at_4 = Y_at * u32(params.C) + u32(c_2);
        let value_7 = Y[Y_at_4];
        let mul_3 = value_6 * value_7;
        let max_3 = max_f32(value_6, 0.0);
        let sub_3 = max_3 - mul_3;
        let add_3 = sub_3 + log1p_3;
        let part = add + add_1 + (add_2 + add_3);
        sum = sum + part;
        if ((round_ & 15) == 15) {
          sum_16 = sum_16 + sum;
          sum = 0.0;
          if ((round_ & 255) == 255) {
            sum_256 = sum_256 + sum_16;
            sum_16 = 0.0;
            if ((round_ & 4095) == 4095) {
              sum_4096 = sum_4096 + sum_256;
              sum_256 = 0.0;
              if ((round_ & 65535) == 65535) {
                sum_65536 = sum_65536 + sum_4096;
                sum_4096 = 0.0;
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
        let value_8 = X[X_at_6];
        let abs_4 = abs(value_8);
        let neg_4 = -abs_4;
        let exp_4 = exp_f32(neg_4);
        let log1p_4 = log1p_f32(exp_4);
        let Y_at_5 = u32(position_1);
        let Y_at_6 = Y_at_5 * u32(params.C) + u32(c_3);
        let value_9 = Y[Y_at_6];
        let mul_4 = value_8 * value_9;
        let max_4 = max_f32(value_8, 0.0);
        let sub_4 = max_4 - mul_4;
        let add_4 = sub_4 + log1p_4;
        sum = sum + add_4;
      }
    }
    let part_1 = sum + sum_16 + (sum_256 + sum_4096) + sum_65536;
    lanes_0[i32(local_index)] = part_1;
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
      let part_2 = lanes_0[first_1];
      let part_3 = lanes_0[place];
      let part_4 = lanes_0[place_1];
      let part_5 = lanes_0[place_2];
      let part_6 = lanes_0[place_3];
      let part_7 = lanes_0[place_4];
      let part_8 = lanes_0[place_5];
      let part_9 = lanes_0[place_6];
      let part_10 = lanes_0[place_7];
      let part_11 = lanes_0[place_8];
      let part_12 = lanes_0[place_9];
      let part_13 = lanes_0[place_10];
      let part_14 = lanes_0[place_11];
      let part_15 = lanes_0[place_12];
      let part_16 = lanes_0[place_13];
      let part_17 = lanes_0[place_14];
      let part_18 = part_2 + part_3 + (part_4 + part_5) + (part_6 + part_7 + (part_8 + part_9)) + (part_10 + part_11 + (part_12 + part_13) + (part_14 + part_15 + (part_16 + part_17)));
      groups_0[lane] = part_18;
    }
    workgroupBarrier();
    let part_19 = groups_0[0];
    let part_20 = groups_0[1];
    let part_21 = groups_0[2];
    let part_22 = groups_0[3];
    let part_23 = groups_0[4];
    let part_24 = groups_0[5];
    let part_25 = groups_0[6];
    let part_26 = groups_0[7];
    let part_27 = groups_0[8];
    let part_28 = groups_0[9];
    let part_29 = groups_0[10];
    let part_30 = groups_0[11];
    let part_31 = groups_0[12];
    let part_32 = groups_0[13];
    let part_33 = groups_0[14];
    let part_34 = groups_0[15];
    let part_35 = part_19 + part_20 + (part_21 + part_22) + (part_23 + part_24 + (part_25 + part_26)) + (part_27 + part_28 + (part_29 + part_30) + (part_31 + part_32 + (part_33 + part_34)));
    let is_active_1 = job_1 < extent;
    if ((lane == 0) & is_active_1) {
      let count = 1 * params.C;
      let value_10 = f32(count);
      let div_f32 = part_35 / value_10;
      let r_1 = block * 8;
      let position_2 = r_1 + job_1;
      let L_at = u32(position_2);
      L[L_at] = div_f32;
    }
  }
}
