// Kernel quantize, written by tilec.

struct Params {
  C_M: u32,
  ceildiv_ceildiv_C_M_4_256: u32,
  n8_ceildiv_M_8: i32,
  M: i32,
  C: i32,
  div_C_1024: i32,
  n8_ceildiv_M_8_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> Q: array<u32>;
@group(0) @binding(2) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(3) var<storage, read> X: array<f32>;
@group(0) @binding(4) var<storage, read_write> Scale: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;
var<workgroup> groups_0: array<f32, 16>;

fn f32_from_bits(bits: u32) -> f32 {
  return bitcast<f32>(bits);
}

fn isnan_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn i32_from_f32(x: f32) -> i32 {
  let inside = i32(clamp(x, -2147483648.0, 2147483520.0));
  return select(select(inside, 2147483647, x >= 2147483648.0), 0, isnan_f32(x));
}

fn max_f32(x: f32, y: f32) -> f32 {
  return select(select(max(x, y), y, isnan_f32(y)), x, isnan_f32(x));
}

@compute @workgroup_size(256)
fn quantize_0(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_ceildiv_C_M_4_256) {
    let word = workgroup_index * 256u + local_index;
    let first = word * 4u;
    let exists = first < params.C_M;
    if (exists) {
      var joined: u32 = 0u;
      let word_1 = first >> 2u;
      let bits = Q[word_1];
      scratch[first] = bitcast<u32>(bitcast<i32>((bits >> ((first & 3u) << 3u)) << 24u) >> 24u);
      let number = first + 1u;
      if (number < params.C_M) {
        let word_2 = number >> 2u;
        let bits_1 = Q[word_2];
        scratch[number] = bitcast<u32>(bitcast<i32>((bits_1 >> ((number & 3u) << 3u)) << 24u) >> 24u);
      }
      let number_1 = first + 2u;
      if (number_1 < params.C_M) {
        let word_3 = number_1 >> 2u;
        let bits_2 = Q[word_3];
        scratch[number_1] = bitcast<u32>(bitcast<i32>((bits_2 >> ((number_1 & 3u) << 3u)) << 24u) >> 24u);
      }
      let number_2 = first + 3u;
      if (number_2 < params.C_M) {
        let word_4 = number_2 >> 2u;
        let bits_3 = Q[word_4];
        scratch[number_2] = bitcast<u32>(bitcast<i32>((bits_3 >> ((number_2 & 3u) << 3u)) << 24u) >> 24u);
      }
    }
  }
}

@compute @workgroup_size(256)
fn quantize_1(
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
    var max_: f32 = f32_from_bits(0xff800000u);
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
        let x = X[X_at_1];
        let abs_ = abs(x);
        let X_at_2 = X_at * u32(params.C) + u32(c);
        let x_1 = X[X_at_2];
        let abs_1 = abs(x_1);
        let X_at_3 = X_at * u32(params.C) + u32(c_1);
        let x_2 = X[X_at_3];
        let abs_2 = abs(x_2);
        let X_at_4 = X_at * u32(params.C) + u32(c_2);
        let x_3 = X[X_at_4];
        let abs_3 = abs(x_3);
        let part = max_f32(max_f32(abs_, abs_1), max_f32(abs_2, abs_3));
        max_ = max_f32(max_, part);
      }
      let first = done + lane;
      for (var c_3: i32 = first; c_3 < params.C; c_3 += 256) {
        let position_1 = r + job_1;
        let X_at_5 = u32(position_1);
        let X_at_6 = X_at_5 * u32(params.C) + u32(c_3);
        let x_4 = X[X_at_6];
        let abs_4 = abs(x_4);
        max_ = max_f32(max_, abs_4);
      }
    }
    lanes_0[i32(local_index)] = max_;
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
      let part_1 = lanes_0[first_1];
      let part_2 = lanes_0[place];
      let part_3 = lanes_0[place_1];
      let part_4 = lanes_0[place_2];
      let part_5 = lanes_0[place_3];
      let part_6 = lanes_0[place_4];
      let part_7 = lanes_0[place_5];
      let part_8 = lanes_0[place_6];
      let part_9 = lanes_0[place_7];
      let part_10 = lanes_0[place_8];
      let part_11 = lanes_0[place_9];
      let part_12 = lanes_0[place_10];
      let part_13 = lanes_0[place_11];
      let part_14 = lanes_0[place_12];
      let part_15 = lanes_0[place_13];
      let part_16 = lanes_0[place_14];
      let part_17 = max_f32(max_f32(max_f32(max_f32(part_1, part_2), max_f32(part_3, part_4)), max_f32(max_f32(part_5, part_6), max_f32(part_7, part_8))), max_f32(max_f32(max_f32(part_9, part_10), max_f32(part_11, part_12)), max_f32(max_f32(part_13, part_14), max_f32(part_15, part_16))));
      groups_0[lane] = part_17;
    }
    workgroupBarrier();
    let part_18 = groups_0[0];
    let part_19 = groups_0[1];
    let part_20 = groups_0[2];
    let part_21 = groups_0[3];
    let part_22 = groups_0[4];
    let part_23 = groups_0[5];
    let part_24 = groups_0[6];
    let part_25 = groups_0[7];
    let part_26 = groups_0[8];
    let part_27 = groups_0[9];
    let part_28 = groups_0[10];
    let part_29 = groups_0[11];
    let part_30 = groups_0[12];
    let part_31 = groups_0[13];
    let part_32 = groups_0[14];
    let part_33 = groups_0[15];
    let part_34 = max_f32(max_f32(max_f32(max_f32(part_18, part_19), max_f32(part_20, part_21)), max_f32(max_f32(part_22, part_23), max_f32(part_24, part_25))), max_f32(max_f32(max_f32(part_26, part_27), max_f32(part_28, part_29)), max_f32(max_f32(part_30, part_31), max_f32(part_32, part_33))));
    let is_active_1 = job_1 < extent;
    if ((lane == 0) & is_active_1) {
      let div_f32 = part_34 / 127.0;
      let scale = max_f32(div_f32, 1e-12);
      let r_1 = block * 8;
      let position_2 = r_1 + job_1;
      let Scale_at = u32(position_2);
      Scale[Scale_at] = scale;
    }
    let is_active_2 = job_1 < extent;
    if (is_active_2) {
      let r_2 = block * 8;
      let div_f32_1 = part_34 / 127.0;
      let scale_1 = max_f32(div_f32_1, 1e-12);
      let done_1 = params.div_C_1024 * 1024;
      let first_2 = done_1 + lane;
      for (var c_4: i32 = first_2; c_4 < params.C; c_4 += 256) {
        let position_3 = r_2 + job_1;
        let X_at_7 = u32(position_3);
        let X_at_8 = X_at_7 * u32(params.C) + u32(c_4);
        let x_5 = X[X_at_8];
        let div_f32_2 = x_5 / scale_1;
        let round_1 = round(div_f32_2);
        let i32_ = i32_from_f32(round_1);
        let word = u32(position_3) * u32(params.C) + u32(c_4);
        scratch[word] = bitcast<u32>((i32_ << 24u) >> 24u);
      }
      for (var round_2: i32 = 0; round_2 < params.div_C_1024; round_2 += 1) {
        let start_1 = (params.div_C_1024 - 1 - round_2) * 1024 + lane;
        let c_5 = start_1 + 256;
        let c_6 = start_1 + 512;
        let c_7 = start_1 + 768;
        let position_4 = r_2 + job_1;
        let X_at_9 = u32(position_4);
        let X_at_10 = X_at_9 * u32(params.C) + u32(start_1);
        let x_6 = X[X_at_10];
        let X_at_11 = X_at_9 * u32(params.C) + u32(c_5);
        let x_7 = X[X_at_11];
        let X_at_12 = X_at_9 * u32(params.C) + u32(c_6);
        let x_8 = X[X_at_12];
        let X_at_13 = X_at_9 * u32(params.C) + u32(c_7);
        let x_9 = X[X_at_13];
        let div_f32_3 = x_6 / scale_1;
        let round_3 = round(div_f32_3);
        let i32_1 = i32_from_f32(round_3);
        let word_1 = u32(position_4) * u32(params.C) + u32(start_1);
        scratch[word_1] = bitcast<u32>((i32_1 << 24u) >> 24u);
        let div_f32_4 = x_7 / scale_1;
        let round_4 = round(div_f32_4);
        let i32_2 = i32_from_f32(round_4);
        let word_2 = u32(position_4) * u32(params.C) + u32(c_5);
        scratch[word_2] = bitcast<u32>((i32_2 << 24u) >> 24u);
        let div_f32_5 = x_8 / scale_1;
        let round_5 = round(div_f32_5);
        let i32_3 = i32_from_f32(round_5);
        let word_3 = u32(position_4) * u32(params.C) + u32(c_6);
        scratch[word_3] = bitcast<u32>((i32_3 << 24u) >> 24u);
        let div_f32_6 = x_9 / scale_1;
        let round_6 = round(div_f32_6);
        let i32_4 = i32_from_f32(round_6);
        let word_4 = u32(position_4) * u32(params.C) + u32(c_7);
        scratch[word_4] = bitcast<u32>((i32_4 << 24u) >> 24u);
      }
    }
  }
}

@compute @workgroup_size(256)
fn quantize_2(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_ceildiv_C_M_4_256) {
    let word = workgroup_index * 256u + local_index;
    let first = word * 4u;
    let exists = first < params.C_M;
    if (exists) {
      var joined: u32 = 0u;
      let value = bitcast<i32>(scratch[first]);
      let constant_ = 0u;
      joined = joined | ((u32(value) & 255u) << constant_);
      let number = first + 1u;
      if (number < params.C_M) {
        let value_1 = bitcast<i32>(scratch[number]);
        joined = joined | ((u32(value_1) & 255u) << 8u);
      }
      let number_1 = first + 2u;
      if (number_1 < params.C_M) {
        let value_2 = bitcast<i32>(scratch[number_1]);
        joined = joined | ((u32(value_2) & 255u) << 16u);
      }
      let number_2 = first + 3u;
      if (number_2 < params.C_M) {
        let value_3 = bitcast<i32>(scratch[number_2]);
        joined = joined | ((u32(value_3) & 255u) << 24u);
      }
      Q[word] = joined;
    }
  }
}
