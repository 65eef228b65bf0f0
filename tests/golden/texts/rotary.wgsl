// Kernel rotary, written by tilec.

struct Params {
  n2_D_M: u32,
  n8_D_ceildiv_M_4: u32,
  ceildiv_ceildiv_2_D_M_2_256: u32,
  n4_ceildiv_M_4: i32,
  M: i32,
  D: i32,
  div_D_1024: i32,
  n2_D: i32,
  n4_D_ceildiv_M_4: u32,
  n4_D: i32,
  n4_ceildiv_M_4_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> X: array<u32>;
@group(0) @binding(2) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(3) var<storage, read> Sin: array<f32>;
@group(0) @binding(4) var<storage, read> Cos: array<f32>;

// The bf16 in the low 16 bits.
fn bf16_to_f32(word: u32) -> f32 {
  return bitcast<f32>(word << 16u);
}

// In the high 16 bits the nearest bf16, ties to even; in the low ones anything.
fn nearest_bf16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let rounded = bits + 0x7fffu + ((bits >> 16u) & 1u);
  return select(rounded, bits | 0x400000u, (bits & 0x7fffffffu) > 0x7f800000u);
}

// The 16 bits of the nearest bf16.
fn f32_to_bf16(x: f32) -> u32 {
  return nearest_bf16(x) >> 16u;
}

fn round_bf16(x: f32) -> f32 {
  return bf16_to_f32(f32_to_bf16(x));
}

@compute @workgroup_size(256)
fn rotary_0(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_ceildiv_2_D_M_2_256) {
    let word = workgroup_index * 256u + local_index;
    let first = word * 2u;
    let exists = first < params.n2_D_M;
    if (exists) {
      var joined: u32 = 0u;
      let at = params.n8_D_ceildiv_M_4 + first;
      let word_1 = first >> 1u;
      let bits = X[word_1];
      scratch[at] = bitcast<u32>(bf16_to_f32(bits >> ((first & 1u) << 4u)));
      let number = first + 1u;
      let at_1 = params.n8_D_ceildiv_M_4 + number;
      if (number < params.n2_D_M) {
        let word_2 = number >> 1u;
        let bits_1 = X[word_2];
        scratch[at_1] = bitcast<u32>(bf16_to_f32(bits_1 >> ((number & 1u) << 4u)));
      }
    }
  }
}

@compute @workgroup_size(256)
fn rotary_1(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.n4_ceildiv_M_4_1) {
    let lane = i32(local_index);
    let job = i32(workgroup_index);
    let block = job >> 2u;
    let job_1 = job & 3;
    let extent = params.M - 4 * block;
    let is_active = job_1 < extent;
    if (is_active) {
      let r = block * 4;
      let done = params.div_D_1024 * 1024;
      for (var round_: i32 = 0; round_ < params.div_D_1024; round_ += 1) {
        let start = round_ * 1024 + lane;
        let c = start + 256;
        let c_1 = start + 512;
        let c_2 = start + 768;
        let position = r + job_1;
        let word = params.n8_D_ceildiv_M_4 + (u32(position) * u32(params.n2_D) + u32(start));
        let a = bitcast<f32>(scratch[word]);
        let word_1 = params.n8_D_ceildiv_M_4 + (u32(position) * u32(params.n2_D) + u32(c));
        let a_1 = bitcast<f32>(scratch[word_1]);
        let word_2 = params.n8_D_ceildiv_M_4 + (u32(position) * u32(params.n2_D) + u32(c_1));
        let a_2 = bitcast<f32>(scratch[word_2]);
        let word_3 = params.n8_D_ceildiv_M_4 + (u32(position) * u32(params.n2_D) + u32(c_2));
        let a_3 = bitcast<f32>(scratch[word_3]);
        let position_1 = params.D + start;
        let word_4 = params.n8_D_ceildiv_M_4 + (u32(position) * u32(params.n2_D) + u32(position_1));
        let b = bitcast<f32>(scratch[word_4]);
        let position_2 = params.D + c;
        let word_5 = params.n8_D_ceildiv_M_4 + (u32(position) * u32(params.n2_D) + u32(position_2));
        let b_1 = bitcast<f32>(scratch[word_5]);
        let position_3 = params.D + c_1;
        let word_6 = params.n8_D_ceildiv_M_4 + (u32(position) * u32(params.n2_D) + u32(position_3));
        let b_2 = bitcast<f32>(scratch[word_6]);
        let position_4 = params.D + c_2;
        let word_7 = params.n8_D_ceildiv_M_4 + (u32(position) * u32(params.n2_D) + u32(position_4));
        let b_3 = bitcast<f32>(scratch[word_7]);
        let word_8 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(start));
        scratch[word_8] = bitcast<u32>(a);
        let word_9 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(start));
        scratch[word_9] = bitcast<u32>(b);
        let word_10 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c));
        scratch[word_10] = bitcast<u32>(a_1);
        let word_11 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c));
        scratch[word_11] = bitcast<u32>(b_1);
        let word_12 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_1));
        scratch[word_12] = bitcast<u32>(a_2);
        let word_13 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_1));
        scratch[word_13] = bitcast<u32>(b_2);
        let word_14 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_2));
        scratch[word_14] = bitcast<u32>(a_3);
        let word_15 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_2));
        scratch[word_15] = bitcast<u32>(b_3);
      }
      let first = done + lane;
      for (var c_3: i32 = first; c_3 < params.D; c_3 += 256) {
        let position_5 = r + job_1;
        let word_16 = params.n8_D_ceildiv_M_4 + (u32(position_5) * u32(params.n2_D) + u32(c_3));
        let a_4 = bitcast<f32>(scratch[word_16]);
        let position_6 = params.D + c_3;
        let word_17 = params.n8_D_ceildiv_M_4 + (u32(position_5) * u32(params.n2_D) + u32(position_6));
        let b_4 = bitcast<f32>(scratch[word_17]);
        let word_18 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_3));
        scratch[word_18] = bitcast<u32>(a_4);
        let word_19 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_3));
        scratch[word_19] = bitcast<u32>(b_4);
      }
    }
    workgroupBarrier();
    storageBarrier();
    let is_active_1 = job_1 < extent;
    if (is_active_1) {
      let r_1 = block * 4;
      let done_1 = params.div_D_1024 * 1024;
      let first_1 = done_1 + lane;
      for (var c_4: i32 = first_1; c_4 < params.D; c_4 += 256) {
        let position_7 = r_1 + job_1;
        let Sin_at = u32(position_7);
        let Sin_at_1 = Sin_at * u32(params.D) + u32(c_4);
        let s = Sin[Sin_at_1];
        let word_20 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_4));
        let b_5 = bitcast<f32>(scratch[word_20]);
        let mul = b_5 * s;
        let Cos_at = u32(position_7);
        let Cos_at_1 = Cos_at * u32(params.D) + u32(c_4);
        let c_5 = Cos[Cos_at_1];
        let word_21 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_4));
        let a_5 = bitcast<f32>(scratch[word_21]);
        let mul_1 = a_5 * c_5;
        let sub = mul_1 - mul;
        let word_22 = params.n8_D_ceildiv_M_4 + (u32(position_7) * u32(params.n2_D) + u32(c_4));
        scratch[word_22] = bitcast<u32>(round_bf16(sub));
      }
      for (var round_1: i32 = 0; round_1 < params.div_D_1024; round_1 += 1) {
        let start_1 = (params.div_D_1024 - 1 - round_1) * 1024 + lane;
        let c_6 = start_1 + 256;
        let c_7 = start_1 + 512;
        let c_8 = start_1 + 768;
        let position_8 = r_1 + job_1;
        let Sin_at_2 = u32(position_8);
        let Sin_at_3 = Sin_at_2 * u32(params.D) + u32(start_1);
        let s_1 = Sin[Sin_at_3];
        let word_23 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(start_1));
        let b_6 = bitcast<f32>(scratch[word_23]);
        let Cos_at_2 = u32(position_8);
        let Cos_at_3 = Cos_at_2 * u32(params.D) + u32(start_1);
        let c_9 = Cos[Cos_at_3];
        let word_24 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(start_1));
        let a_6 = bitcast<f32>(scratch[word_24]);
        let Sin_at_4 = Sin_at_2 * u32(params.D) + u32(c_6);
        let s_2 = Sin[Sin_at_4];
        let word_25 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_6));
        let b_7 = bitcast<f32>(scratch[word_25]);
        let Cos_at_4 = Cos_at_2 * u32(params.D) + u32(c_6);
        let c_10 = Cos[Cos_at_4];
        let word_26 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_6));
        let a_7 = bitcast<f32>(scratch[word_26]);
        let Sin_at_5 = Sin_at_2 * u32(params.D) + u32(c_7);
        let s_3 = Sin[Sin_at_5];
        let word_27 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_7));
        let b_8 = bitcast<f32>(scratch[word_27]);
        let Cos_at_5 = Cos_at_2 * u32(params.D) + u32(c_7);
        let c_11 = Cos[Cos_at_5];
        let word_28 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_7));
        let a_8 = bitcast<f32>(scratch[word_28]);
        let Sin_at_6 = Sin_at_2 * u32(params.D) + u32(c_8);
        let s_4 = Sin[Sin_at_6];
        let word_29 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_8));
        let b_9 = bitcast<f32>(scratch[word_29]);
        let Cos_at_6 = Cos_at_2 * u32(params.D) + u32(c_8);
        let c_12 = Cos[Cos_at_6];
        let word_30 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_8));
        let a_9 = bitcast<f32>(scratch[word_30]);
        let mul_2 = b_6 * s_1;
        let mul_3 = a_6 * c_9;
        let sub_1 = mul_3 - mul_2;
        let word_31 = params.n8_D_ceildiv_M_4 + (u32(position_8) * u32(params.n2_D) + u32(start_1));
        scratch[word_31] = bitcast<u32>(round_bf16(sub_1));
        let mul_4 = b_7 * s_2;
        let mul_5 = a_7 * c_10;
        let sub_2 = mul_5 - mul_4;
        let word_32 = params.n8_D_ceildiv_M_4 + (u32(position_8) * u32(params.n2_D) + u32(c_6));
        scratch[word_32] = bitcast<u32>(round_bf16(sub_2));
        let mul_6 = b_8 * s_3;
        let mul_7 = a_8 * c_11;
        let sub_3 = mul_7 - mul_6;
        let word_33 = params.n8_D_ceildiv_M_4 + (u32(position_8) * u32(params.n2_D) + u32(c_7));
        scratch[word_33] = bitcast<u32>(round_bf16(sub_3));
        let mul_8 = b_9 * s_4;
        let mul_9 = a_9 * c_12;
        let sub_4 = mul_9 - mul_8;
        let word_34 = params.n8_D_ceildiv_M_4 + (u32(position_8) * u32(params.n2_D) + u32(c_8));
        scratch[word_34] = bitcast<u32>(round_bf16(sub_4));
      }
    }
    workgroupBarrier();
    storageBarrier();
    let is_active_2 = job_1 < extent;
    if (is_active_2) {
      let r_2 = block * 4;
      let done_2 = params.div_D_1024 * 1024;
      for (var round_2: i32 = 0; round_2 < params.div_D_1024; round_2 += 1) {
        let start_2 = round_2 * 1024 + lane;
        let c_13 = start_2 + 256;
        let c_14 = start_2 + 512;
        let c_15 = start_2 + 768;
        let position_9 = r_2 + job_1;
        let Sin_at_7 = u32(position_9);
        let Sin_at_8 = Sin_at_7 * u32(params.D) + u32(start_2);
        let s_5 = Sin[Sin_at_8];
        let word_35 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(start_2));
        let a_10 = bitcast<f32>(scratch[word_35]);
        let Cos_at_7 = u32(position_9);
        let Cos_at_8 = Cos_at_7 * u32(params.D) + u32(start_2);
        let c_16 = Cos[Cos_at_8];
        let word_36 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(start_2));
        let b_10 = bitcast<f32>(scratch[word_36]);
        let Sin_at_9 = Sin_at_7 * u32(params.D) + u32(c_13);
        let s_6 = Sin[Sin_at_9];
        let word_37 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_13));
        let a_11 = bitcast<f32>(scratch[word_37]);
        let Cos_at_9 = Cos_at_7 * u32(params.D) + u32(c_13);
        let c_17 = Cos[Cos_at_9];
        let word_38 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_13));
        let b_11 = bitcast<f32>(scratch[word_38]);
        let Sin_at_10 = Sin_at_7 * u32(params.D) + u32(c_14);
        let s_7 = Sin[Sin_at_10];
        let word_39 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_14));
        let a_12 = bitcast<f32>(scratch[word_39]);
        let Cos_at_10 = Cos_at_7 * u32(params.D) + u32(c_14);
        let c_18 = Cos[Cos_at_10];
        let word_40 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_14));
        let b_12 = bitcast<f32>(scratch[word_40]);
        let Sin_at_11 = Sin_at_7 * u32(params.D) + u32(c_15);
        let s_8 = Sin[Sin_at_11];
        let word_41 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_15));
        let a_13 = bitcast<f32>(scratch[word_41]);
        let Cos_at_11 = Cos_at_7 * u32(params.D) + u32(c_15);
        let c_19 = Cos[Cos_at_11];
        let word_42 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_15));
        let b_13 = bitcast<f32>(scratch[word_42]);
        let mul_10 = a_10 * s_5;
        let mul_11 = b_10 * c_16;
        let add = mul_11 + mul_10;
        let position_10 = params.D + start_2;
        let word_43 = params.n8_D_ceildiv_M_4 + (u32(position_9) * u32(params.n2_D) + u32(position_10));
        scratch[word_43] = bitcast<u32>(round_bf16(add));
        let mul_12 = a_11 * s_6;
        let mul_13 = b_11 * c_17;
        let add_1 = mul_13 + mul_12;
        let position_11 = params.D + c_13;
        let word_44 = params.n8_D_ceildiv_M_4 + (u32(position_9) * u32(params.n2_D) + u32(position_11));
        scratch[word_44] = bitcast<u32>(round_bf16(add_1));
        let mul_14 = a_12 * s_7;
        let mul_15 = b_12 * c_18;
        let add_2 = mul_15 + mul_14;
        let position_12 = params.D + c_14;
        let word_45 = params.n8_D_ceildiv_M_4 + (u32(position_9) * u32(params.n2_D) + u32(position_12));
        scratch[word_45] = bitcast<u32>(round_bf16(add_2));
        let mul_16 = a_13 * s_8;
        let mul_17 = b_13 * c_19;
        let add_3 = mul_17 + mul_16;
        let position_13 = params.D + c_15;
        let word_46 = params.n8_D_ceildiv_M_4 + (u32(position_9) * u32(params.n2_D) + u32(position_13));
        scratch[word_46] = bitcast<u32>(round_bf16(add_3));
      }
      let first_2 = done_2 + lane;
      for (var c_20: i32 = first_2; c_20 < params.D; c_20 += 256) {
        let position_14 = r_2 + job_1;
        let Sin_at_12 = u32(position_14);
        let Sin_at_13 = Sin_at_12 * u32(params.D) + u32(c_20);
        let s_9 = Sin[Sin_at_13];
        let word_47 = params.n4_D_ceildiv_M_4 + u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_20));
        let a_14 = bitcast<f32>(scratch[word_47]);
        let mul_18 = a_14 * s_9;
        let Cos_at_12 = u32(position_14);
        let Cos_at_13 = Cos_at_12 * u32(params.D) + u32(c_20);
        let c_21 = Cos[Cos_at_13];
        let word_48 = u32(block) * u32(params.n4_D) + (u32(job_1) * u32(params.D) + u32(c_20));
        let b_14 = bitcast<f32>(scratch[word_48]);
        let mul_19 = b_14 * c_21;
        let add_4 = mul_19 + mul_18;
        let position_15 = params.D + c_20;
        let word_49 = params.n8_D_ceildiv_M_4 + (u32(position_14) * u32(params.n2_D) + u32(position_15));
        scratch[word_49] = bitcast<u32>(round_bf16(add_4));
      }
    }
  }
}

@compute @workgroup_size(256)
fn rotary_2(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_ceildiv_2_D_M_2_256) {
    let word = workgroup_index * 256u + local_index;
    let first = word * 2u;
    let exists = first < params.n2_D_M;
    if (exists) {
      var joined: u32 = 0u;
      let at = params.n8_D_ceildiv_M_4 + first;
      let value = bitcast<f32>(scratch[at]);
      let constant_ = 0u;
      joined = joined | (f32_to_bf16(value) << constant_);
      let number = first + 1u;
      let at_1 = params.n8_D_ceildiv_M_4 + number;
      if (number < params.n2_D_M) {
        let value_1 = bitcast<f32>(scratch[at_1]);
        joined = joined | (f32_to_bf16(value_1) << 16u);
      }
      X[word] = joined;
    }
  }
}
