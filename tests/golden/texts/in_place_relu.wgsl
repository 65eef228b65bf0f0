// Kernel in_place_relu, written by tilec.

struct Params {
  n8_ceildiv_M_8: i32,
  M: i32,
  C: i32,
  div_C_1024: i32,
  n8_ceildiv_M_8_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> X: array<f32>;

// Integers in the order of the floats; both zeros give 0.
fn order_key(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return select(bits, -2147483648 - bits, bits < 0);
}

fn either_nan(x: f32, y: f32) -> bool {
  return max(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu) > 0x7f800000u;
}

fn le_f32(x: f32, y: f32) -> bool {
  return (order_key(x) <= order_key(y)) & !either_nan(x, y);
}

fn where_f32(condition: bool, chosen: f32, other: f32) -> f32 {
  return select(other, chosen, condition);
}

@compute @workgroup_size(256)
fn in_place_relu(
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
        let X_at_2 = X_at * u32(params.C) + u32(c);
        let value_1 = X[X_at_2];
        let X_at_3 = X_at * u32(params.C) + u32(c_1);
        let value_2 = X[X_at_3];
        let X_at_4 = X_at * u32(params.C) + u32(c_2);
        let value_3 = X[X_at_4];
        let le = le_f32(value, 0.0);
        let where_ = where_f32(le, 0.0, value);
        X[X_at_1] = where_;
        let le_1 = le_f32(value_1, 0.0);
        let where_1 = where_f32(le_1, 0.0, value_1);
        X[X_at_2] = where_1;
        let le_2 = le_f32(value_2, 0.0);
        let where_2 = where_f32(le_2, 0.0, value_2);
        X[X_at_3] = where_2;
        let le_3 = le_f32(value_3, 0.0);
        let where_3 = where_f32(le_3, 0.0, value_3);
        X[X_at_4] = where_3;
      }
      let first = done + lane;
      for (var c_3: i32 = first; c_3 < params.C; c_3 += 256) {
        let position_1 = r + job_1;
        let X_at_5 = u32(position_1);
        let X_at_6 = X_at_5 * u32(params.C) + u32(c_3);
        let value_4 = X[X_at_6];
        let le_4 = le_f32(value_4, 0.0);
        let where_4 = where_f32(le_4, 0.0, value_4);
        X[X_at_6] = where_4;
      }
    }
  }
}
