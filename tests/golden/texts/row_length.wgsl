// Kernel row_length, written by tilec.

struct Params {
  C: i32,
  M: i32,
  ceildiv_M_8: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(2) var<storage, read> X: array<f32>;
@group(0) @binding(3) var<storage, read_write> Length: array<f32>;
var<workgroup> lanes_0: array<f32, 64>;
var<workgroup> groups_0: array<f32, 4>;

fn square_f32(x: f32) -> f32 {
  return x * x;
}

@compute @workgroup_size(64)
fn row_length(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_M_8) {
    let block = i32(workgroup_index);
    let slot = i32(local_index) >> 5u;
    let lane = i32(local_index) & 31;
    let constant_ = 9;
    let constant_1 = 1u;
    let turns = constant_ >> constant_1;
    for (var turn: i32 = 0; turn < turns; turn += 1) {
      let job = turn * 2 + slot;
      let valid = job < 8;
      if (valid) {
        for (var round_: i32 = 0; round_ < 4; round_ += 1) {
          let start = round_ * 128 + lane;
          let c = start + 32;
          let c_1 = start + 64;
          let c_2 = start + 96;
          let word = u32(block) * 4096u + (u32(job) * 512u + u32(start));
          let constant_2 = 0.0;
          scratch[word] = bitcast<u32>(constant_2);
          let word_1 = u32(block) * 4096u + (u32(job) * 512u + u32(c));
          let constant_3 = 0.0;
          scratch[word_1] = bitcast<u32>(constant_3);
          let word_2 = u32(block) * 4096u + (u32(job) * 512u + u32(c_1));
          let constant_4 = 0.0;
          scratch[word_2] = bitcast<u32>(constant_4);
          let word_3 = u32(block) * 4096u + (u32(job) * 512u + u32(c_2));
          let constant_5 = 0.0;
          scratch[word_3] = bitcast<u32>(constant_5);
        }
      }
    }
    workgroupBarrier();
    storageBarrier();
    let distance_ = u32(params.C);
    let count = select(0u, ((distance_ - 1u) >> 9u) + 1u, (0 < params.C));
    for (var turn_1: u32 = 0u; turn_1 < count; turn_1 += 1u) {
      let c_3 = i32(turn_1) * 512;
      let slot_1 = i32(local_index) >> 5u;
      let lane_1 = i32(local_index) & 31;
      let constant_6 = 9;
      let constant_7 = 1u;
      let turns_1 = constant_6 >> constant_7;
      for (var turn_2: i32 = 0; turn_2 < turns_1; turn_2 += 1) {
        let job_1 = turn_2 * 2 + slot_1;
        let valid_1 = job_1 < 8;
        if (valid_1) {
          for (var round_1: i32 = 0; round_1 < 4; round_1 += 1) {
            let start_1 = round_1 * 128 + lane_1;
            let c_4 = start_1 + 32;
            let c_5 = start_1 + 64;
            let c_6 = start_1 + 96;
            let word_4 = u32(block) * 4096u + (u32(job_1) * 512u + u32(start_1));
            let squares = bitcast<f32>(scratch[word_4]);
            var squares_1: f32 = squares;
            let extent = params.M - 8 * block;
            let is_active = job_1 < extent;
            let extent_1 = params.C - c_3;
            let is_active_1 = start_1 < extent_1;
            if (is_active & is_active_1) {
              let r = block * 8;
              let position = r + job_1;
              let position_1 = c_3 + start_1;
              let X_at = u32(position);
              let X_at_1 = X_at * u32(params.C) + u32(position_1);
              let value = X[X_at_1];
              let square = square_f32(value);
              let add = squares + square;
              squares_1 = add;
            }
            let word_5 = u32(block) * 4096u + (u32(job_1) * 512u + u32(start_1));
            scratch[word_5] = bitcast<u32>(squares_1);
            let word_6 = u32(block) * 4096u + (u32(job_1) * 512u + u32(c_4));
            let squares_2 = bitcast<f32>(scratch[word_6]);
            var squares_3: f32 = squares_2;
            let is_active_2 = job_1 < extent;
            let is_active_3 = c_4 < extent_1;
            if (is_active_2 & is_active_3) {
              let r_1 = block * 8;
              let position_2 = r_1 + job_1;
              let position_3 = c_3 + c_4;
              let X_at_2 = u32(position_2);
              let X_at_3 = X_at_2 * u32(params.C) + u32(position_3);
              let value_1 = X[X_at_3];
              let square_1 = square_f32(value_1);
              let add_1 = squares_2 + square_1;
              squares_3 = add_1;
            }
            let word_7 = u32(block) * 4096u + (u32(job_1) * 512u + u32(c_4));
            scratch[word_7] = bitcast<u32>(squares_3);
            let word_8 = u32(block) * 4096u + (u32(job_1) * 512u + u32(c_5));
            let squares_4 = bitcast<f32>(scratch[word_8]);
            var squares_5: f32 = squares_4;
            let is_active_4 = job_1 < extent;
            let is_active_5 = c_5 < extent_1;
            if (is_active_4 & is_active_5) {
              let r_2 = block * 8;
              let position_4 = r_2 + job_1;
              let position_5 = c_3 + c_5;
              let X_at_4 = u32(position_4);
              let X_at_5 = X_at_4 * u32(params.C) + u32(position_5);
              let value_2 = X[X_at_5];
              let square_2 = square_f32(value_2);
              let add_2 = squares_4 + square_2;
              squares_5 = add_2;
            }
            let word_9 = u32(block) * 4096u + (u32(job_1) * 512u + u32(c_5));
            scratch[word_9] = bitcast<u32>(squares_5);
            let word_10 = u32(block) * 4096u + (u32(job_1) * 512u + u32(c_6));
            let squares_6 = bitcast<f32>(scratch[word_10]);
            var squares_7: f32 = squares_6;
            let is_active_6 = job_1 < extent;
            let is_active_7 = c_6 < extent_1;
            if (is_active_6 & is_active_7) {
              let r_3 = block * 8;
              let position_6 = r_3 + job_1;
              let position_7 = c_3 + c_6;
              let X_at_6 = u32(position_6);
              let X_at_7 = X_at_6 * u32(params.C) + u32(position_7);
              let value_3 = X[X_at_7];
              let square_3 = square_f32(value_3);
              let add_3 = squares_6 + square_3;
              squares_7 = add_3;
            }
            let word_11 = u32(block) * 4096u + (u32(job_1) * 512u + u32(c_6));
            scratch[word_11] = bitcast<u32>(squares_7);
          }
        }
      }
      workgroupBarrier();
      storageBarrier();
    }
    let slot_2 = i32(local_index) >> 5u;
    let lane_2 = i32(local_index) & 31;
    let constant_8 = 9;
    let constant_9 = 1u;
    let turns_2 = constant_8 >> constant_9;
    for (var turn_3: i32 = 0; turn_3 < turns_2; turn_3 += 1) {
      let job_2 = turn_3 * 2 + slot_2;
      let valid_2 = job_2 < 8;
      var sum: f32 = 0.0;
      if (valid_2) {
        for (var round_2: i32 = 0; round_2 < 4; round_2 += 1) {
          let start_2 = round_2 * 128 + lane_2;
          let c_7 = start_2 + 32;
          let c_8 = start_2 + 64;
          let c_9 = start_2 + 96;
          let word_12 = u32(block) * 4096u + (u32(job_2) * 512u + u32(start_2));
          let squares_8 = bitcast<f32>(scratch[word_12]);
          let word_13 = u32(block) * 4096u + (u32(job_2) * 512u + u32(c_7));
          let squares_9 = bitcast<f32>(scratch[word_13]);
          let word_14 = u32(block) * 4096u + (u32(job_2) * 512u + u32(c_8));
          let squares_10 = bitcast<f32>(scratch[word_14]);
          let word_15 = u32(block) * 4096u + (u32(job_2) * 512u + u32(c_9));
          let squares_11 = bitcast<f32>(scratch[word_15]);
          let part = squares_8 + squares_9 + (squares_10 + squares_11);
          sum = sum + part;
        }
      }
      workgroupBarrier();
      lanes_0[i32(local_index)] = sum;
      workgroupBarrier();
      let folds = lane_2 < 2;
      if (folds) {
        let first = lane_2 * 16;
        let place = slot_2 * 32 + first;
        let place_1 = slot_2 * 32 + (first + 1);
        let place_2 = slot_2 * 32 + (first + 2);
        let place_3 = slot_2 * 32 + (first + 3);
        let place_4 = slot_2 * 32 + (first + 4);
        let place_5 = slot_2 * 32 + (first + 5);
        let place_6 = slot_2 * 32 + (first + 6);
        let place_7 = slot_2 * 32 + (first + 7);
        let place_8 = slot_2 * 32 + (first + 8);
        let place_9 = slot_2 * 32 + (first + 9);
        let place_10 = slot_2 * 32 + (first + 10);
        let place_11 = slot_2 * 32 + (first + 11);
        let place_12 = slot_2 * 32 + (first + 12);
        let place_13 = slot_2 * 32 + (first + 13);
        let place_14 = slot_2 * 32 + (first + 14);
        let place_15 = slot_2 * 32 + (first + 15);
        let part_1 = lanes_0[place];
        let part_2 = lanes_0[place_1];
        let part_3 = lanes_0[place_2];
        let part_4 = lanes_0[place_3];
        let part_5 = lanes_0[place_4];
        let part_6 = lanes_0[place_5];
        let part_7 = lanes_0[place_6];
        let part_8 = lanes_0[place_7];
        let part_9 = lanes_0[place_8];
        let part_10 = lanes_0[place_9];
        let part_11 = lanes_0[place_10];
        let part_12 = lanes_0[place_11];
        let part_13 = lanes_0[place_12];
        let part_14 = lanes_0[place_13];
        let part_15 = lanes_0[place_14];
        let part_16 = lanes_0[place_15];
        let part_17 = part_1 + part_2 + (part_3 + part_4) + (part_5 + part_6 + (part_7 + part_8)) + (part_9 + part_10 + (part_11 + part_12) + (part_13 + part_14 + (part_15 + part_16)));
        groups_0[slot_2 * 2 + lane_2] = part_17;
      }
      workgroupBarrier();
      let place_16 = slot_2 * 2;
      let place_17 = slot_2 * 2 + 1;
      let part_18 = groups_0[place_16];
      let part_19 = groups_0[place_17];
      let part_20 = part_18 + part_19;
      let extent_2 = params.M - 8 * block;
      let is_active_8 = job_2 < extent_2;
      if ((lane_2 == 0) & valid_2 & is_active_8) {
        let sqrt_ = sqrt(part_20);
        let r_4 = block * 8;
        let position_8 = r_4 + job_2;
        let Length_at = u32(position_8);
        Length[Length_at] = sqrt_;
      }
    }
  }
}
