// Kernel loss, written by tilec.

struct Params {
  n8_ceildiv_M_8: i32,
  M: i32,
  C: i32,
  div_C_1024: i32,
  n8_ceildiv_M_8_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> Y: array<f32>;
@group(0) @binding(2) var<storage, read> X: array<f32>;
@group(0) @binding(3) var<storage, read_write> L: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;
var<workgroup> groups_0: array<f32, 16>;

fn square_f32(x: f32) -> f32 {
  return x * x;
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
        let Y_at = u32(position);
        let Y_at_1 = Y_at * u32(params.C) + u32(start);
        let value = Y[Y_at_1];
        let X_at = u32(position);
        let X_at_1 = X_at * u32(params.C) + u32(start);
        let value_1 = X[X_at_1];
        let sub = value_1 - value;
        let square = square_f32(sub);
        let Y_at_2 = Y_at * u32(params.C) + u32(c);
        let value_2 = Y[Y_at_2];
        let X_at_2 = X_at * u32(params.C) + u32(c);
        let value_3 = X[X_at_2];
        let sub_1 = value_3 - value_2;
        let square_1 = square_f32(sub_1);
        let Y_at_3 = Y_at * u32(params.C) + u32(c_1);
        let value_4 = Y[Y_at_3];
        let X_at_3 = X_at * u32(params.C) + u32(c_1);
        let value_5 = X[X_at_3];
        let sub_2 = value_5 - value_4;
        let square_2 = square_f32(sub_2);
        let Y_at_4 = Y_at * u32(params.C) + u32(c_2);
        let value_6 = Y[Y_at_4];
        let X_at_4 = X_at * u32(params.C) + u32(c_2);
        let value_7 = X[X_at_4];
        let sub_3 = value_7 - value_6;
        let square_3 = square_f32(sub_3);
        let part = square + square_1 + (square_2 + square_3);
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
        let Y_at_5 = u32(position_1);
        let Y_at_6 = Y_at_5 * u32(params.C) + u32(c_3);
        let value_8 = Y[Y_at_6];
        let X_at_5 = u32(position_1);
        let X_at_6 = X_at_5 * u32(params.C) + u32(c_3);
        let value_9 = X[X_at_6];
        let sub_4 = value_9 - value_8;
        let square_4 = square_f32(sub_4);
        sum = sum + square_4;
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
