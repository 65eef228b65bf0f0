// Kernel sum_losses, written by tilec.

struct Params {
  max_1_min_ceildiv_M_8192_512: i32,
  M: u32,
  n1024_ceildiv_ceildiv_M_max_1_min_ceildiv_M_8192_512_1024: u32,
  M_1: i32,
  max_1_min_ceildiv_M_8192_512_1: u32,
  workgroups_1: u32,  // 1
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> Loss: array<f32>;
@group(0) @binding(2) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(3) var<storage, read_write> Total: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;
var<workgroup> groups_0: array<f32, 16>;
var<workgroup> lanes_0_1: array<f32, 256>;
var<workgroup> groups_0_1: array<f32, 16>;

@compute @workgroup_size(256)
fn sum_losses_0(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.max_1_min_ceildiv_M_8192_512_1) {
    let lane = i32(local_index);
    let part = i32(u32(i32(workgroup_index)) % u32(params.max_1_min_ceildiv_M_8192_512));
    let group_1 = i32(u32(i32(workgroup_index)) / u32(params.max_1_min_ceildiv_M_8192_512));
    let bound = min(u32(part) * params.n1024_ceildiv_ceildiv_M_max_1_min_ceildiv_M_8192_512_1024, params.M);
    let bound_1 = min(bound + params.n1024_ceildiv_ceildiv_M_max_1_min_ceildiv_M_8192_512_1024, params.M);
    let first = i32(bound);
    let end = i32(bound_1);
    var sum: f32 = 0.0;
    var sum_16: f32 = 0.0;
    var sum_256: f32 = 0.0;
    var sum_4096: f32 = 0.0;
    var sum_65536: f32 = 0.0;
    let rounds = (end - first) >> 10u;
    let done = first + rounds * 1024;
    for (var round_: i32 = 0; round_ < rounds; round_ += 1) {
      let start = first + round_ * 1024 + lane;
      let c = start + 256;
      let c_1 = start + 512;
      let c_2 = start + 768;
      let Loss_at = u32(start);
      let value = Loss[Loss_at];
      let Loss_at_1 = u32(c);
      let value_1 = Loss[Loss_at_1];
      let Loss_at_2 = u32(c_1);
      let value_2 = Loss[Loss_at_2];
      let Loss_at_3 = u32(c_2);
      let value_3 = Loss[Loss_at_3];
      let part_1 = value + value_1 + (value_2 + value_3);
      sum = sum + part_1;
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
    let first_1 = done + lane;
    for (var c_3: i32 = first_1; c_3 < end; c_3 += 256) {
      let Loss_at_4 = u32(c_3);
      let value_4 = Loss[Loss_at_4];
      sum = sum + value_4;
    }
    let part_2 = sum + sum_16 + (sum_256 + sum_4096) + sum_65536;
    lanes_0[i32(local_index)] = part_2;
    workgroupBarrier();
    let folds = lane < 16;
    if (folds) {
      let first_2 = lane * 16;
      let place = first_2 + 1;
      let place_1 = first_2 + 2;
      let place_2 = first_2 + 3;
      let place_3 = first_2 + 4;
      let place_4 = first_2 + 5;
      let place_5 = first_2 + 6;
      let place_6 = first_2 + 7;
      let place_7 = first_2 + 8;
      let place_8 = first_2 + 9;
      let place_9 = first_2 + 10;
      let place_10 = first_2 + 11;
      let place_11 = first_2 + 12;
      let place_12 = first_2 + 13;
      let place_13 = first_2 + 14;
      let place_14 = first_2 + 15;
      let part_3 = lanes_0[first_2];
      let part_4 = lanes_0[place];
      let part_5 = lanes_0[place_1];
      let part_6 = lanes_0[place_2];
      let part_7 = lanes_0[place_3];
      let part_8 = lanes_0[place_4];
      let part_9 = lanes_0[place_5];
      let part_10 = lanes_0[place_6];
      let part_11 = lanes_0[place_7];
      let part_12 = lanes_0[place_8];
      let part_13 = lanes_0[place_9];
      let part_14 = lanes_0[place_10];
      let part_15 = lanes_0[place_11];
      let part_16 = lanes_0[place_12];
      let part_17 = lanes_0[place_13];
      let part_18 = lanes_0[place_14];
      let part_19 = part_3 + part_4 + (part_5 + part_6) + (part_7 + part_8 + (part_9 + part_10)) + (part_11 + part_12 + (part_13 + part_14) + (part_15 + part_16 + (part_17 + part_18)));
      groups_0[lane] = part_19;
    }
    workgroupBarrier();
    let part_20 = groups_0[0];
    let part_21 = groups_0[1];
    let part_22 = groups_0[2];
    let part_23 = groups_0[3];
    let part_24 = groups_0[4];
    let part_25 = groups_0[5];
    let part_26 = groups_0[6];
    let part_27 = groups_0[7];
    let part_28 = groups_0[8];
    let part_29 = groups_0[9];
    let part_30 = groups_0[10];
    let part_31 = groups_0[11];
    let part_32 = groups_0[12];
    let part_33 = groups_0[13];
    let part_34 = groups_0[14];
    let part_35 = groups_0[15];
    let part_36 = part_20 + part_21 + (part_22 + part_23) + (part_24 + part_25 + (part_26 + part_27)) + (part_28 + part_29 + (part_30 + part_31) + (part_32 + part_33 + (part_34 + part_35)));
    if (lane == 0) {
      let word = u32(group_1) * u32(params.max_1_min_ceildiv_M_8192_512) + u32(part);
      scratch[word] = bitcast<u32>(part_36);
    }
  }
}

@compute @workgroup_size(256)
fn sum_losses_1(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let workgroup_index = group.x;
  let lane = i32(local_index);
  let job = i32(workgroup_index);
  var sum: f32 = 0.0;
  var held: f32 = sum;
  for (var part: i32 = lane; part < params.max_1_min_ceildiv_M_8192_512; part += 256) {
    let word = u32(job) * u32(params.max_1_min_ceildiv_M_8192_512) + u32(part);
    let loaded = bitcast<f32>(scratch[word]);
    let part_1 = held + loaded;
    held = part_1;
  }
  lanes_0_1[i32(local_index)] = held;
  workgroupBarrier();
  let folds = lane < 16;
  if (folds) {
    let first = lane * 16;
    let place = first + 1;
    let place_1 = first + 2;
    let place_2 = first + 3;
    let place_3 = first + 4;
    let place_4 = first + 5;
    let place_5 = first + 6;
    let place_6 = first + 7;
    let place_7 = first + 8;
    let place_8 = first + 9;
    let place_9 = first + 10;
    let place_10 = first + 11;
    let place_11 = first + 12;
    let place_12 = first + 13;
    let place_13 = first + 14;
    let place_14 = first + 15;
    let part_2 = lanes_0_1[first];
    let part_3 = lanes_0_1[place];
    let part_4 = lanes_0_1[place_1];
    let part_5 = lanes_0_1[place_2];
    let part_6 = lanes_0_1[place_3];
    let part_7 = lanes_0_1[place_4];
    let part_8 = lanes_0_1[place_5];
    let part_9 = lanes_0_1[place_6];
    let part_10 = lanes_0_1[place_7];
    let part_11 = lanes_0_1[place_8];
    let part_12 = lanes_0_1[place_9];
    let part_13 = lanes_0_1[place_10];
    let part_14 = lanes_0_1[place_11];
    let part_15 = lanes_0_1[place_12];
    let part_16 = lanes_0_1[place_13];
    let part_17 = lanes_0_1[place_14];
    let part_18 = part_2 + part_3 + (part_4 + part_5) + (part_6 + part_7 + (part_8 + part_9)) + (part_10 + part_11 + (part_12 + part_13) + (part_14 + part_15 + (part_16 + part_17)));
    groups_0_1[lane] = part_18;
  }
  workgroupBarrier();
  let part_19 = groups_0_1[0];
  let part_20 = groups_0_1[1];
  let part_21 = groups_0_1[2];
  let part_22 = groups_0_1[3];
  let part_23 = groups_0_1[4];
  let part_24 = groups_0_1[5];
  let part_25 = groups_0_1[6];
  let part_26 = groups_0_1[7];
  let part_27 = groups_0_1[8];
  let part_28 = groups_0_1[9];
  let part_29 = groups_0_1[10];
  let part_30 = groups_0_1[11];
  let part_31 = groups_0_1[12];
  let part_32 = groups_0_1[13];
  let part_33 = groups_0_1[14];
  let part_34 = groups_0_1[15];
  let part_35 = part_19 + part_20 + (part_21 + part_22) + (part_23 + part_24 + (part_25 + part_26)) + (part_27 + part_28 + (part_29 + part_30) + (part_31 + part_32 + (part_33 + part_34)));
  if (lane == 0) {
    Total[0u] = part_35;
  }
}
