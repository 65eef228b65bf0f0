// Kernel layer_norm_rows, written by tilec.

struct Params {
  n8_ceildiv_M_8: i32,
  M: i32,
  D: i32,
  div_D_1024: i32,
  eps: f32,
  n8_ceildiv_M_8_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> X: array<f32>;
@group(0) @binding(2) var<storage, read> B: array<f32>;
@group(0) @binding(3) var<storage, read> W: array<f32>;
@group(0) @binding(4) var<storage, read_write> Y: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;
var<workgroup> groups_0: array<f32, 16>;

fn square_f32(x: f32) -> f32 {
  return x * x;
}

@compute @workgroup_size(256)
fn layer_norm_rows(
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
      let done = params.div_D_1024 * 1024;
      for (var round_: i32 = 0; round_ < params.div_D_1024; round_ += 1) {
        let start = round_ * 1024 + lane;
        let c = start + 256;
        let c_1 = start + 512;
        let c_2 = start + 768;
        let position = r + job_1;
        let X_at = u32(position);
        let X_at_1 = X_at * u32(params.D) + u32(start);
        let value = X[X_at_1];
        let X_at_2 = X_at * u32(params.D) + u32(c);
        let value_1 = X[X_at_2];
        let X_at_3 = X_at * u32(params.D) + u32(c_1);
        let value_2 = X[X_at_3];
        let X_at_4 = X_at * u32(params.D) + u32(c_2);
        let value_3 = X[X_at_4];
        let part = value + value_1 + (value_2 + value_3);
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
      for (var c_3: i32 = first; c_3 < params.D; c_3 += 256) {
        let position_1 = r + job_1;
        let X_at_5 = u32(position_1);
        let X_at_6 = X_at_5 * u32(params.D) + u32(c_3);
        let value_4 = X[X_at_6];
        sum = sum + value_4;
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
    var sum_1: f32 = 0.0;
    var sum_16_1: f32 = 0.0;
    var sum_256_1: f32 = 0.0;
    var sum_4096_1: f32 = 0.0;
    var sum_65536_1: f32 = 0.0;
    let is_active_1 = job_1 < extent;
    if (is_active_1) {
      let count = 1 * params.D;
      let value_5 = f32(count);
      let div_f32 = part_35 / value_5;
      let r_1 = block * 8;
      let done_1 = params.div_D_1024 * 1024;
      let first_2 = done_1 + lane;
      for (var c_4: i32 = first_2; c_4 < params.D; c_4 += 256) {
        let position_2 = r_1 + job_1;
        let X_at_7 = u32(position_2);
        let X_at_8 = X_at_7 * u32(params.D) + u32(c_4);
        let value_6 = X[X_at_8];
        let sub = value_6 - div_f32;
        let square = square_f32(sub);
        sum_1 = sum_1 + square;
      }
      for (var round_1: i32 = 0; round_1 < params.div_D_1024; round_1 += 1) {
        let start_1 = (params.div_D_1024 - 1 - round_1) * 1024 + lane;
        let c_5 = start_1 + 256;
        let c_6 = start_1 + 512;
        let c_7 = start_1 + 768;
        let position_3 = r_1 + job_1;
        let X_at_9 = u32(position_3);
        let X_at_10 = X_at_9 * u32(params.D) + u32(start_1);
        let value_7 = X[X_at_10];
        let sub_1 = value_7 - div_f32;
        let square_1 = square_f32(sub_1);
        let X_at_11 = X_at_9 * u32(params.D) + u32(c_5);
        let value_8 = X[X_at_11];
        let sub_2 = value_8 - div_f32;
        let square_2 = square_f32(sub_2);
        let X_at_12 = X_at_9 * u32(params.D) + u32(c_6);
        let value_9 = X[X_at_12];
        let sub_3 = value_9 - div_f32;
        let square_3 = square_f32(sub_3);
        let X_at_13 = X_at_9 * u32(params.D) + u32(c_7);
        let value_10 = X[X_at_13];
        let sub_4 = value_10 - div_f32;
        let square_4 = square_f32(sub_4);
        let part_36 = square_1 + square_2 + (square_3 + square_4);
        sum_1 = sum_1 + part_36;
        if ((round_1 & 15) == 15) {
          sum_16_1 = sum_16_1 + sum_1;
          sum_1 = 0.0;
          if ((round_1 & 255) == 255) {
            sum_256_1 = sum_256_1 + sum_16_1;
            sum_16_1 = 0.0;
            if ((round_1 & 4095) == 4095) {
              sum_4096_1 = sum_4096_1 + sum_256_1;
              sum_256_1 = 0.0;
              if ((round_1 & 65535) == 65535) {
                sum_65536_1 = sum_65536_1 + sum_4096_1;
                sum_4096_1 = 0.0;
              }
            }
          }
        }
      }
    }
    let part_37 = sum_1 + sum_16_1 + (sum_256_1 + sum_4096_1) + sum_65536_1;
    lanes_0[i32(local_index)] = part_37;
    workgroupBarrier();
    let folds_1 = lane < 16;
    if (folds_1) {
      let first_3 = lane * 16;
      let place_15 = first_3 + 1;
      let place_16 = first_3 + 2;
      let place_17 = first_3 + 3;
      let place_18 = first_3 + 4;
      let place_19 = first_3 + 5;
      let place_20 = first_3 + 6;
      let place_21 = first_3 + 7;
      let place_22 = first_3 + 8;
      let place_23 = first_3 + 9;
      let place_24 = first_3 + 10;
      let place_25 = first_3 + 11;
      let place_26 = first_3 + 12;
      let place_27 = first_3 + 13;
      let place_28 = first_3 + 14;
      let place_29 = first_3 + 15;
      let part_38 = lanes_0[first_3];
      let part_39 = lanes_0[place_15];
      let part_40 = lanes_0[place_16];
      let part_41 = lanes_0[place_17];
      let part_42 = lanes_0[place_18];
      let part_43 = lanes_0[place_19];
      let part_44 = lanes_0[place_20];
      let part_45 = lanes_0[place_21];
      let part_46 = lanes_0[place_22];
      let part_47 = lanes_0[place_23];
      let part_48 = lanes_0[place_24];
      let part_49 = lanes_0[place_25];
      let part_50 = lanes_0[place_26];
      let part_51 = lanes_0[place_27];
      let part_52 = lanes_0[place_28];
      let part_53 = lanes_0[place_29];
      let part_54 = part_38 + part_39 + (part_40 + part_41) + (part_42 + part_43 + (part_44 + part_45)) + (part_46 + part_47 + (part_48 + part_49) + (part_50 + part_51 + (part_52 + part_53)));
      groups_0[lane] = part_54;
    }
    workgroupBarrier();
    let part_55 = groups_0[0];
    let part_56 = groups_0[1];
    let part_57 = groups_0[2];
    let part_58 = groups_0[3];
    let part_59 = groups_0[4];
    let part_60 = groups_0[5];
    let part_61 = groups_0[6];
    let part_62 = groups_0[7];
    let part_63 = groups_0[8];
    let part_64 = groups_0[9];
    let part_65 = groups_0[10];
    let part_66 = groups_0[11];
    let part_67 = groups_0[12];
    let part_68 = groups_0[13];
    let part_69 = groups_0[14];
    let part_70 = groups_0[15];
    let part_71 = part_55 + part_56 + (part_57 + part_58) + (part_59 + part_60 + (part_61 + part_62)) + (part_63 + part_64 + (part_65 + part_66) + (part_67 + part_68 + (part_69 + part_70)));
    let is_active_2 = job_1 < extent;
    if (is_active_2) {
      let r_2 = block * 8;
      let count_1 = 1 * params.D;
      let value_11 = f32(count_1);
      let div_f32_1 = part_71 / value_11;
      let add = div_f32_1 + params.eps;
      let rsqrt = inverseSqrt(add);
      let count_2 = 1 * params.D;
      let value_12 = f32(count_2);
      let div_f32_2 = part_35 / value_12;
      let done_2 = params.div_D_1024 * 1024;
      for (var round_2: i32 = 0; round_2 < params.div_D_1024; round_2 += 1) {
        let start_2 = round_2 * 1024 + lane;
        let c_8 = start_2 + 256;
        let c_9 = start_2 + 512;
        let c_10 = start_2 + 768;
        let B_at = u32(start_2);
        let value_13 = B[B_at];
        let W_at = u32(start_2);
        let value_14 = W[W_at];
        let position_4 = r_2 + job_1;
        let X_at_14 = u32(position_4);
        let X_at_15 = X_at_14 * u32(params.D) + u32(start_2);
        let value_15 = X[X_at_15];
        let B_at_1 = u32(c_8);
        let value_16 = B[B_at_1];
        let W_at_1 = u32(c_8);
        let value_17 = W[W_at_1];
        let X_at_16 = X_at_14 * u32(params.D) + u32(c_8);
        let value_18 = X[X_at_16];
        let B_at_2 = u32(c_9);
        let value_19 = B[B_at_2];
        let W_at_2 = u32(c_9);
        let value_20 = W[W_at_2];
        let X_at_17 = X_at_14 * u32(params.D) + u32(c_9);
        let value_21 = X[X_at_17];
        let B_at_3 = u32(c_10);
        let value_22 = B[B_at_3];
        let W_at_3 = u32(c_10);
        let value_23 = W[W_at_3];
        let X_at_18 = X_at_14 * u32(params.D) + u32(c_10);
        let value_24 = X[X_at_18];
        let sub_5 = value_15 - div_f32_2;
        let mul = sub_5 * rsqrt;
        let mul_1 = mul * value_14;
        let add_1 = mul_1 + value_13;
        let Y_at = u32(position_4);
        let Y_at_1 = Y_at * u32(params.D) + u32(start_2);
        Y[Y_at_1] = add_1;
        let sub_6 = value_18 - div_f32_2;
        let mul_2 = sub_6 * rsqrt;
        let mul_3 = mul_2 * value_17;
        let add_2 = mul_3 + value_16;
        let Y_at_2 = u32(position_4);
        let Y_at_3 = Y_at_2 * u32(params.D) + u32(c_8);
        Y[Y_at_3] = add_2;
        let sub_7 = value_21 - div_f32_2;
        let mul_4 = sub_7 * rsqrt;
        let mul_5 = mul_4 * value_20;
        let add_3 = mul_5 + value_19;
        let Y_at_4 = u32(position_4);
        let Y_at_5 = Y_at_4 * u32(params.D) + u32(c_9);
        Y[Y_at_5] = add_3;
        let sub_8 = value_24 - div_f32_2;
        let mul_6 = sub_8 * rsqrt;
        let mul_7 = mul_6 * value_23;
        let add_4 = mul_7 + value_22;
        let Y_at_6 = u32(position_4);
        let Y_at_7 = Y_at_6 * u32(params.D) + u32(c_10);
        Y[Y_at_7] = add_4;
      }
      let first_4 = done_2 + lane;
      for (var c_11: i32 = first_4; c_11 < params.D; c_11 += 256) {
        let B_at_4 = u32(c_11);
        let value_25 = B[B_at_4];
        let W_at_4 = u32(c_11);
        let value_26 = W[W_at_4];
        let position_5 = r_2 + job_1;
        let X_at_19 = u32(position_5);
        let X_at_20 = X_at_19 * u32(params.D) + u32(c_11);
        let value_27 = X[X_at_20];
        let sub_9 = value_27 - div_f32_2;
        let mul_8 = sub_9 * rsqrt;
        let mul_9 = mul_8 * value_26;
        let add_5 = mul_9 + value_25;
        let Y_at_8 = u32(position_5);
        let Y_at_9 = Y_at_8 * u32(params.D) + u32(c_11);
        Y[Y_at_9] = add_5;
      }
    }
  }
}
