// Kernel smooth_rows, written by tilec.
// Only for 1 % 4 != 0.
// Only for -1 % 4 != 0.

struct Params {
  n4_ceildiv_C_64_ceildiv_M_4: i32,
  ceildiv_M_4: i32,
  M: i32,
  C: i32,
  ceildiv_4_ceildiv_C_64_ceildiv_M_4_16: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> X: array<f32>;
@group(0) @binding(2) var<storage, read_write> Y: array<f32>;

@compute @workgroup_size(64)
fn smooth_rows(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_4_ceildiv_C_64_ceildiv_M_4_16) {
    let slot = i32(local_index) >> 2u;
    let lane = i32(local_index) & 3;
    let job = i32(workgroup_index) * 16 + slot;
    let valid = job < params.n4_ceildiv_C_64_ceildiv_M_4;
    let block = job >> 2u;
    let block_x = i32(u32(block) % u32(params.ceildiv_M_4));
    let block_rest = i32(u32(block) / u32(params.ceildiv_M_4));
    let job_1 = job & 3;
    let extent = params.M - 4 * block_x;
    let is_active = job_1 < extent;
    if (valid & is_active) {
      let c = block_rest * 64;
      let r = block_x * 4;
      let add = c + 1;
      let sub = c - 1;
      for (var round_: i32 = 0; round_ < 4; round_ += 1) {
        let start = round_ * 16 + lane;
        let c_1 = start + 4;
        let c_2 = start + 8;
        let c_3 = start + 12;
        let extent_1 = params.C - 64 * block_rest;
        let is_active_1 = start < extent_1;
        let is_active_2 = c_1 < extent_1;
        let is_active_3 = c_2 < extent_1;
        let is_active_4 = c_3 < extent_1;
        if (is_active_1) {
          let position = r + job_1;
          let position_1 = add + start;
          var right: f32 = 0.0;
          if ((u32(position) < u32(params.M)) & (u32(position_1) < u32(params.C))) {
            let X_at = u32(position);
            let X_at_1 = X_at * u32(params.C) + u32(position_1);
            right = X[X_at_1];
          }
          let position_2 = c + start;
          let X_at_2 = u32(position);
          let X_at_3 = X_at_2 * u32(params.C) + u32(position_2);
          let value = X[X_at_3];
          let position_3 = sub + start;
          var left: f32 = 0.0;
          if ((u32(position) < u32(params.M)) & (u32(position_3) < u32(params.C))) {
            let X_at_4 = X_at_2 * u32(params.C) + u32(position_3);
            left = X[X_at_4];
          }
          let add_1 = left + value;
          let add_2 = add_1 + right;
          let div_f32 = add_2 / 3.0;
          let Y_at = u32(position);
          let Y_at_1 = Y_at * u32(params.C) + u32(position_2);
          Y[Y_at_1] = div_f32;
        }
        if (is_active_2) {
          let position_4 = r + job_1;
          let position_5 = add + c_1;
          var right_1: f32 = 0.0;
          if ((u32(position_4) < u32(params.M)) & (u32(position_5) < u32(params.C))) {
            let X_at_5 = u32(position_4);
            let X_at_6 = X_at_5 * u32(params.C) + u32(position_5);
            right_1 = X[X_at_6];
          }
          let position_6 = c + c_1;
          let X_at_7 = u32(position_4);
          let X_at_8 = X_at_7 * u32(params.C) + u32(position_6);
          let value_1 = X[X_at_8];
          let position_7 = sub + c_1;
          var left_1: f32 = 0.0;
          if ((u32(position_4) < u32(params.M)) & (u32(position_7) < u32(params.C))) {
            let X_at_9 = X_at_7 * u32(params.C) + u32(position_7);
            left_1 = X[X_at_9];
          }
          let add_3 = left_1 + value_1;
          let add_4 = add_3 + right_1;
          let div_f32_1 = add_4 / 3.0;
          let Y_at_2 = u32(position_4);
          let Y_at_3 = Y_at_2 * u32(params.C) + u32(position_6);
          Y[Y_at_3] = div_f32_1;
        }
        if (is_active_3) {
          let position_8 = r + job_1;
          let position_9 = add + c_2;
          var right_2: f32 = 0.0;
          if ((u32(position_8) < u32(params.M)) & (u32(position_9) < u32(params.C))) {
            let X_at_10 = u32(position_8);
            let X_at_11 = X_at_10 * u32(params.C) + u32(position_9);
            right_2 = X[X_at_11];
          }
          let position_10 = c + c_2;
          let X_at_12 = u32(position_8);
          let X_at_13 = X_at_12 * u32(params.C) + u32(position_10);
          let value_2 = X[X_at_13];
          let position_11 = sub + c_2;
          var left_2: f32 = 0.0;
          if ((u32(position_8) < u32(params.M)) & (u32(position_11) < u32(params.C))) {
            let X_at_14 = X_at_12 * u32(params.C) + u32(position_11);
            left_2 = X[X_at_14];
          }
          let add_5 = left_2 + value_2;
          let add_6 = add_5 + right_2;
          let div_f32_2 = add_6 / 3.0;
          let Y_at_4 = u32(position_8);
          let Y_at_5 = Y_at_4 * u32(params.C) + u32(position_10);
          Y[Y_at_5] = div_f32_2;
        }
        if (is_active_4) {
          let position_12 = r + job_1;
          let position_13 = add + c_3;
          var right_3: f32 = 0.0;
          if ((u32(position_12) < u32(params.M)) & (u32(position_13) < u32(params.C))) {
            let X_at_15 = u32(position_12);
            let X_at_16 = X_at_15 * u32(params.C) + u32(position_13);
            right_3 = X[X_at_16];
          }
          let position_14 = c + c_3;
          let X_at_17 = u32(position_12);
          let X_at_18 = X_at_17 * u32(params.C) + u32(position_14);
          let value_3 = X[X_at_18];
          let position_15 = sub + c_3;
          var left_3: f32 = 0.0;
          if ((u32(position_12) < u32(params.M)) & (u32(position_15) < u32(params.C))) {
            let X_at_19 = X_at_17 * u32(params.C) + u32(position_15);
            left_3 = X[X_at_19];
          }
          let add_7 = left_3 + value_3;
          let add_8 = add_7 + right_3;
          let div_f32_3 = add_8 / 3.0;
          let Y_at_6 = u32(position_12);
          let Y_at_7 = Y_at_6 * u32(params.C) + u32(position_14);
          Y[Y_at_7] = div_f32_3;
        }
      }
    }
  }
}
