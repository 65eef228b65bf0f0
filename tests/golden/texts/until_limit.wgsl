// Kernel until_limit, written by tilec.

struct Params {
  C: i32,
  M: i32,
  limit: f32,
  M_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> X: array<f32>;
@group(0) @binding(2) var<storage, read_write> Chunks: array<i32>;
@group(0) @binding(3) var<storage, read_write> Sum: array<f32>;
var<workgroup> lanes_0: array<f32, 64>;
var<workgroup> uniform_bool: array<u32, 1>;

// Integers in the order of the floats; both zeros give 0.
fn order_key(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return select(bits, -2147483648 - bits, bits < 0);
}

fn either_nan(x: f32, y: f32) -> bool {
  return max(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu) > 0x7f800000u;
}

fn ge_f32(x: f32, y: f32) -> bool {
  return (order_key(x) >= order_key(y)) & !either_nan(x, y);
}

@compute @workgroup_size(64)
fn until_limit(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.M_1) {
    let slot = i32(local_index) >> 2u;
    let lane = i32(local_index) & 3;
    let block = i32(workgroup_index);
    let valid = slot < 1;
    var sum: f32 = 0.0;
    var total: f32 = 0.0;
    total = 0.0;
    var chunks: i32 = 0;
    chunks = 0;
    var broke: bool = false;
    broke = false;
    let distance_ = u32(params.C);
    let count = select(0u, ((distance_ - 1u) >> 6u) + 1u, (0 < params.C));
    for (var turn: u32 = 0u; (turn < count) & !broke; turn += 1u) {
      let c = i32(turn) * 64;
      var sum_1: f32 = 0.0;
      let extent = params.M - block;
      let is_active = 0 < extent;
      if (valid & is_active) {
        for (var round_: i32 = 0; round_ < 4; round_ += 1) {
          let start = round_ * 16 + lane;
          let c_1 = start + 4;
          let c_2 = start + 8;
          let c_3 = start + 12;
          let extent_1 = params.C - c;
          let is_active_1 = start < extent_1;
          let is_active_2 = c_1 < extent_1;
          let is_active_3 = c_2 < extent_1;
          let is_active_4 = c_3 < extent_1;
          if (is_active_1) {
            let position = c + start;
            let X_at = u32(block);
            let X_at_1 = X_at * u32(params.C) + u32(position);
            let value = X[X_at_1];
            sum_1 = sum_1 + value;
          }
          if (is_active_2) {
            let position_1 = c + c_1;
            let X_at_2 = u32(block);
            let X_at_3 = X_at_2 * u32(params.C) + u32(position_1);
            let value_1 = X[X_at_3];
            sum_1 = sum_1 + value_1;
          }
          if (is_active_3) {
            let position_2 = c + c_2;
            let X_at_4 = u32(block);
            let X_at_5 = X_at_4 * u32(params.C) + u32(position_2);
            let value_2 = X[X_at_5];
            sum_1 = sum_1 + value_2;
          }
          if (is_active_4) {
            let position_3 = c + c_3;
            let X_at_6 = u32(block);
            let X_at_7 = X_at_6 * u32(params.C) + u32(position_3);
            let value_3 = X[X_at_7];
            sum_1 = sum_1 + value_3;
          }
        }
      }
      workgroupBarrier();
      lanes_0[i32(local_index)] = sum_1;
      workgroupBarrier();
      let place = slot * 4;
      let place_1 = slot * 4 + 1;
      let place_2 = slot * 4 + 2;
      let place_3 = slot * 4 + 3;
      let part = lanes_0[place];
      let part_1 = lanes_0[place_1];
      let part_2 = lanes_0[place_2];
      let part_3 = lanes_0[place_3];
      let part_4 = part + part_1 + (part_2 + part_3);
      sum = part_4;
      var next: f32 = total;
      let add = total + sum;
      next = add;
      var next_1: i32 = chunks;
      let add_1 = chunks + 1;
      next_1 = add_1;
      let add_2 = total + sum;
      let ge = ge_f32(add_2, params.limit);
      var broke_1: bool = false;
      if (ge) {
        broke_1 = true;
      } else {
        broke_1 = broke;
      }
      if (i32(local_index) == 0) {
        uniform_bool[0] = select(0u, 1u, broke_1);
      }
      let uniform_ = workgroupUniformLoad(&uniform_bool[0]);
      let test = uniform_ != 0u;
      total = next;
      chunks = next_1;
      broke = test;
    }
    if ((lane == 0) & valid) {
      if (u32(block) < u32(params.M)) {
        let Chunks_at = u32(block);
        Chunks[Chunks_at] = chunks;
      }
      if (u32(block) < u32(params.M)) {
        let Sum_at = u32(block);
        Sum[Sum_at] = total;
      }
    }
  }
}
