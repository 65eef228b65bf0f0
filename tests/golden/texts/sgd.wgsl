// Kernel sgd, written by tilec.

struct Params {
  ceildiv_N_1024: i32,
  N: i32,
  momentum: f32,
  lr: f32,
  ceildiv_N_1024_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> Grad: array<f32>;
@group(0) @binding(2) var<storage, read_write> Velocity: array<f32>;
@group(0) @binding(3) var<storage, read_write> Param: array<f32>;

@compute @workgroup_size(64)
fn sgd(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_N_1024_1) {
    let lane = i32(local_index);
    let job = i32(workgroup_index);
    let i = job * 1024;
    for (var round_: i32 = 0; round_ < 4; round_ += 1) {
      let start = round_ * 256 + lane;
      let c = start + 64;
      let c_1 = start + 128;
      let c_2 = start + 192;
      let extent = params.N - 1024 * job;
      let is_active = start < extent;
      let is_active_1 = c < extent;
      let is_active_2 = c_1 < extent;
      let is_active_3 = c_2 < extent;
      if (is_active) {
        let position = i + start;
        let Grad_at = u32(position);
        let value = Grad[Grad_at];
        let Velocity_at = u32(position);
        let value_1 = Velocity[Velocity_at];
        let mul = params.momentum * value_1;
        let add = mul + value;
        let mul_1 = params.lr * add;
        let Param_at = u32(position);
        let value_2 = Param[Param_at];
        let sub = value_2 - mul_1;
        Param[Param_at] = sub;
        Velocity[Velocity_at] = add;
      }
      if (is_active_1) {
        let position_1 = i + c;
        let Grad_at_1 = u32(position_1);
        let value_3 = Grad[Grad_at_1];
        let Velocity_at_1 = u32(position_1);
        let value_4 = Velocity[Velocity_at_1];
        let mul_2 = params.momentum * value_4;
        let add_1 = mul_2 + value_3;
        let mul_3 = params.lr * add_1;
        let Param_at_1 = u32(position_1);
        let value_5 = Param[Param_at_1];
        let sub_1 = value_5 - mul_3;
        Param[Param_at_1] = sub_1;
        Velocity[Velocity_at_1] = add_1;
      }
      if (is_active_2) {
        let position_2 = i + c_1;
        let Grad_at_2 = u32(position_2);
        let value_6 = Grad[Grad_at_2];
        let Velocity_at_2 = u32(position_2);
        let value_7 = Velocity[Velocity_at_2];
        let mul_4 = params.momentum * value_7;
        let add_2 = mul_4 + value_6;
        let mul_5 = params.lr * add_2;
        let Param_at_2 = u32(position_2);
        let value_8 = Param[Param_at_2];
        let sub_2 = value_8 - mul_5;
        Param[Param_at_2] = sub_2;
        Velocity[Velocity_at_2] = add_2;
      }
      if (is_active_3) {
        let position_3 = i + c_2;
        let Grad_at_3 = u32(position_3);
        let value_9 = Grad[Grad_at_3];
        let Velocity_at_3 = u32(position_3);
        let value_10 = Velocity[Velocity_at_3];
        let mul_6 = params.momentum * value_10;
        let add_3 = mul_6 + value_9;
        let mul_7 = params.lr * add_3;
        let Param_at_3 = u32(position_3);
        let value_11 = Param[Param_at_3];
        let sub_3 = value_11 - mul_7;
        Param[Param_at_3] = sub_3;
        Velocity[Velocity_at_3] = add_3;
      }
    }
  }
}
