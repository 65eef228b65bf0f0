// Kernel column_mean, written by tilec.

struct Params {
  n64_ceildiv_C_64: i32,
  C: i32,
  M: i32,
  div_M_32: i32,
  ceildiv_64_ceildiv_C_64_32: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> X: array<f32>;
@group(0) @binding(2) var<storage, read_write> Mean: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;

@compute @workgroup_size(256)
fn column_mean(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_64_ceildiv_C_64_32) {
    let lane = i32(local_index) >> 5u;
    let slot = i32(local_index) & 31;
    let job = i32(workgroup_index) * 32 + slot;
    let valid = job < params.n64_ceildiv_C_64;
    let block = job >> 6u;
    let job_1 = job & 63;
    var sum: f32 = 0.0;
    var sum_16: f32 = 0.0;
    var sum_256: f32 = 0.0;
    var sum_4096: f32 = 0.0;
    var sum_65536: f32 = 0.0;
    let extent = params.C - 64 * block;
    let is_active = job_1 < extent;
    if (valid & is_active) {
      let c = block * 64;
      let done = params.div_M_32 * 32;
      for (var round_: i32 = 0; round_ < params.div_M_32; round_ += 1) {
        let start = round_ * 32 + lane;
        let c_1 = start + 8;
        let c_2 = start + 16;
        let c_3 = start + 24;
        let position = c + job_1;
        let X_at = u32(start);
        let X_at_1 = X_at * u32(params.C) + u32(position);
        let value = X[X_at_1];
        let X_at_2 = u32(c_1);
        let X_at_3 = X_at_2 * u32(params.C) + u32(position);
        let value_1 = X[X_at_3];
        let X_at_4 = u32(c_2);
        let X_at_5 = X_at_4 * u32(params.C) + u32(position);
        let value_2 = X[X_at_5];
        let X_at_6 = u32(c_3);
        let X_at_7 = X_at_6 * u32(params.C) + u32(position);
        let value_3 = X[X_at_7];
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
      for (var c_4: i32 = first; c_4 < params.M; c_4 += 8) {
        let position_1 = c + job_1;
        let X_at_8 = u32(c_4);
        let X_at_9 = X_at_8 * u32(params.C) + u32(position_1);
        let value_4 = X[X_at_9];
        sum = sum + value_4;
      }
    }
    let part_1 = sum + sum_16 + (sum_256 + sum_4096) + sum_65536;
    lanes_0[i32(local_index)] = part_1;
    workgroupBarrier();
    let place = 32 + slot;
    let place_1 = 64 + slot;
    let place_2 = 96 + slot;
    let place_3 = 128 + slot;
    let place_4 = 160 + slot;
    let place_5 = 192 + slot;
    let place_6 = 224 + slot;
    let part_2 = lanes_0[slot];
    let part_3 = lanes_0[place];
    let part_4 = lanes_0[place_1];
    let part_5 = lanes_0[place_2];
    let part_6 = lanes_0[place_3];
    let part_7 = lanes_0[place_4];
    let part_8 = lanes_0[place_5];
    let part_9 = lanes_0[place_6];
    let part_10 = part_2 + part_3 + (part_4 + part_5) + (part_6 + part_7 + (part_8 + part_9));
    let is_active_1 = job_1 < extent;
    if ((lane == 0) & valid & is_active_1) {
      let count = 1 * params.M;
      let value_5 = f32(count);
      let div_f32 = part_10 / value_5;
      let c_5 = block * 64;
      let position_2 = c_5 + job_1;
      let Mean_at = u32(position_2);
      Mean[Mean_at] = div_f32;
    }
  }
}
