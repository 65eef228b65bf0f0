// Kernel class_counts, written by tilec.

struct Params {
  C: i32,
  M: i32,
  div_M_32: i32,
  ceildiv_C_32: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> T: array<i32>;
@group(0) @binding(2) var<storage, read_write> Count: array<i32>;
var<workgroup> lanes_0: array<i32, 256>;

@compute @workgroup_size(256)
fn class_counts(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_C_32) {
    let lane = i32(local_index) >> 5u;
    let slot = i32(local_index) & 31;
    let job = i32(workgroup_index) * 32 + slot;
    let valid = job < params.C;
    var sum: i32 = 0;
    if (valid) {
      let done = params.div_M_32 * 32;
      for (var round_: i32 = 0; round_ < params.div_M_32; round_ += 1) {
        let start = round_ * 32 + lane;
        let c = start + 8;
        let c_1 = start + 16;
        let c_2 = start + 24;
        let T_at = u32(start);
        let value = T[T_at];
        let eq = value == job;
        let i32_ = i32(eq);
        let T_at_1 = u32(c);
        let value_1 = T[T_at_1];
        let eq_1 = value_1 == job;
        let i32_1 = i32(eq_1);
        let T_at_2 = u32(c_1);
        let value_2 = T[T_at_2];
        let eq_2 = value_2 == job;
        let i32_2 = i32(eq_2);
        let T_at_3 = u32(c_2);
        let value_3 = T[T_at_3];
        let eq_3 = value_3 == job;
        let i32_3 = i32(eq_3);
        let part = i32_ + i32_1 + (i32_2 + i32_3);
        sum = sum + part;
      }
      let first = done + lane;
      for (var c_3: i32 = first; c_3 < params.M; c_3 += 8) {
        let T_at_4 = u32(c_3);
        let value_4 = T[T_at_4];
        let eq_4 = value_4 == job;
        let i32_4 = i32(eq_4);
        sum = sum + i32_4;
      }
    }
    lanes_0[i32(local_index)] = sum;
    workgroupBarrier();
    let place = 32 + slot;
    let place_1 = 64 + slot;
    let place_2 = 96 + slot;
    let place_3 = 128 + slot;
    let place_4 = 160 + slot;
    let place_5 = 192 + slot;
    let place_6 = 224 + slot;
    let part_1 = lanes_0[slot];
    let part_2 = lanes_0[place];
    let part_3 = lanes_0[place_1];
    let part_4 = lanes_0[place_2];
    let part_5 = lanes_0[place_3];
    let part_6 = lanes_0[place_4];
    let part_7 = lanes_0[place_5];
    let part_8 = lanes_0[place_6];
    let part_9 = part_1 + part_2 + (part_3 + part_4) + (part_5 + part_6 + (part_7 + part_8));
    if ((lane == 0) & valid) {
      let Count_at = u32(job);
      Count[Count_at] = part_9;
    }
  }
}
