// Kernel scale_rows, written by tilec.

struct Params {
  C_M: u32,
  ceildiv_ceildiv_C_M_2_256: u32,
  n3_ceildiv_M_3: i32,
  M: i32,
  C: i32,
  div_C_1024: i32,
  n3_ceildiv_M_3_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> X: array<u32>;
@group(0) @binding(2) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(3) var<storage, read> S: array<f32>;

// The f16 in the low 16 bits.
fn f16_to_f32(word: u32) -> f32 {
  let sign = (word & 0x8000u) << 16u;
  let magnitude = word & 0x7fffu;
  let normal = (magnitude << 13u) + select(0x38000000u, 0x70000000u, magnitude >= 0x7c00u);
  let subnormal = bitcast<u32>(f32(magnitude) * 5.9604644775390625e-8);
  return bitcast<f32>(sign | select(normal, subnormal, magnitude < 0x400u));
}

// The 16 bits of the nearest f16, ties to even. WGSL's own packing promises neither direction nor range.
fn f32_to_f16(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return sign | 0x7e00u;
  }
  if (magnitude >= 0x477ff000u) {
    return sign | 0x7c00u;
  }
  if (magnitude >= 0x38800000u) {
    return sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13u) & 1u)) >> 13u);
  }
  // A subnormal f16 counts in units of 2^-24.
  let digits = (magnitude & 0x7fffffu) | 0x800000u;
  let shift = min(126u - (magnitude >> 23u), 25u);
  return sign | ((digits + (1u << (shift - 1u)) - 1u + ((digits >> shift) & 1u)) >> shift);
}

// The nearest f16, ties to even, in integers alone: drivers fold packing and unpacking into one step that is not exact.
fn round_f16(x: f32) -> f32 {
  let sign = bitcast<u32>(x) & 0x80000000u;
  let magnitude = bitcast<u32>(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return x;
  }
  if (magnitude >= 0x477ff000u) {
    return bitcast<f32>(sign | 0x7f800000u);
  }
  if (magnitude >= 0x38800000u) {
    return bitcast<f32>(sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u)) & 0xffffe000u));
  }
  // A subnormal f16 counts in units of 2^-24.
  let digits = (magnitude & 0x7fffffu) | 0x800000u;
  let shift = min(126u - (magnitude >> 23u), 25u);
  let units = (digits + (1u << (shift - 1u)) - 1u + ((digits >> shift) & 1u)) >> shift;
  return bitcast<f32>(sign | bitcast<u32>(f32(units) * 5.9604644775390625e-8));
}

@compute @workgroup_size(256)
fn scale_rows_0(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_ceildiv_C_M_2_256) {
    let word = workgroup_index * 256u + local_index;
    let first = word * 2u;
    let exists = first < params.C_M;
    if (exists) {
      var joined: u32 = 0u;
      let word_1 = first >> 1u;
      let bits = X[word_1];
      scratch[first] = bitcast<u32>(f16_to_f32(bits >> ((first & 1u) << 4u)));
      let number = first + 1u;
      if (number < params.C_M) {
        let word_2 = number >> 1u;
        let bits_1 = X[word_2];
        scratch[number] = bitcast<u32>(f16_to_f32(bits_1 >> ((number & 1u) << 4u)));
      }
    }
  }
}

@compute @workgroup_size(256)
fn scale_rows_1(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.n3_ceildiv_M_3_1) {
    let lane = i32(local_index);
    let job = i32(workgroup_index);
    let block = i32(u32(job) / 3u);
    let job_1 = i32(u32(job) % 3u);
    let extent = params.M - 3 * block;
    let is_active = job_1 < extent;
    if (is_active) {
      let r = block * 3;
      let position = r + job_1;
      let S_at = u32(position);
      let value = S[S_at];
      let done = params.div_C_1024 * 1024;
      for (var round_: i32 = 0; round_ < params.div_C_1024; round_ += 1) {
        let start = round_ * 1024 + lane;
        let c = start + 256;
        let c_1 = start + 512;
        let c_2 = start + 768;
        let word = u32(position) * u32(params.C) + u32(start);
        let value_1 = bitcast<f32>(scratch[word]);
        let word_1 = u32(position) * u32(params.C) + u32(c);
        let value_2 = bitcast<f32>(scratch[word_1]);
        let word_2 = u32(position) * u32(params.C) + u32(c_1);
        let value_3 = bitcast<f32>(scratch[word_2]);
        let word_3 = u32(position) * u32(params.C) + u32(c_2);
        let value_4 = bitcast<f32>(scratch[word_3]);
        let mul = value_1 * value;
        let word_4 = u32(position) * u32(params.C) + u32(start);
        scratch[word_4] = bitcast<u32>(round_f16(mul));
        let mul_1 = value_2 * value;
        let word_5 = u32(position) * u32(params.C) + u32(c);
        scratch[word_5] = bitcast<u32>(round_f16(mul_1));
        let mul_2 = value_3 * value;
        let word_6 = u32(position) * u32(params.C) + u32(c_1);
        scratch[word_6] = bitcast<u32>(round_f16(mul_2));
        let mul_3 = value_4 * value;
        let word_7 = u32(position) * u32(params.C) + u32(c_2);
        scratch[word_7] = bitcast<u32>(round_f16(mul_3));
      }
      let first = done + lane;
      for (var c_3: i32 = first; c_3 < params.C; c_3 += 256) {
        let word_8 = u32(position) * u32(params.C) + u32(c_3);
        let value_5 = bitcast<f32>(scratch[word_8]);
        let mul_4 = value_5 * value;
        let word_9 = u32(position) * u32(params.C) + u32(c_3);
        scratch[word_9] = bitcast<u32>(round_f16(mul_4));
      }
    }
  }
}

@compute @workgroup_size(256)
fn scale_rows_2(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_ceildiv_C_M_2_256) {
    let word = workgroup_index * 256u + local_index;
    let first = word * 2u;
    let exists = first < params.C_M;
    if (exists) {
      var joined: u32 = 0u;
      let value = bitcast<f32>(scratch[first]);
      let constant_ = 0u;
      joined = joined | (f32_to_f16(value) << constant_);
      let number = first + 1u;
      if (number < params.C_M) {
        let value_1 = bitcast<f32>(scratch[number]);
        joined = joined | (f32_to_f16(value_1) << 16u);
      }
      X[word] = joined;
    }
  }
}
