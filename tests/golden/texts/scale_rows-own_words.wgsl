// Kernel scale_rows, written by tilec.
// Only for C % 8 == 0.
// Only for C % 2 == 0.
// Only for C > 32 && C <= 64.
// Only for C <= 1023.

struct Params {
  n3_ceildiv_M_3: i32,
  M: i32,
  C: i32,
  div_C_64: i32,
  ceildiv_3_ceildiv_M_3_32: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> S: array<f32>;
@group(0) @binding(2) var<storage, read_write> X: array<vec4<u32>>;

// The f16 in the low 16 bits.
fn f16_to_f32(word: u32) -> f32 {
  let sign = (word & 0x8000u) << 16u;
  let magnitude = word & 0x7fffu;
  let normal = (magnitude << 13u) + select(0x38000000u, 0x70000000u, magnitude >= 0x7c00u);
  let subnormal = bitcast<u32>(f32(magnitude) * 5.9604644775390625e-8);
  return bitcast<f32>(sign | select(normal, subnormal, magnitude < 0x400u));
}

// The f16 in the high 16 bits.
fn f16_high(word: u32) -> f32 {
  return f16_to_f32(word >> 16u);
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

fn pack_f16(low: f32, high: f32) -> u32 {
  return f32_to_f16(low) | (f32_to_f16(high) << 16u);
}

@compute @workgroup_size(64)
fn scale_rows(
  @builtin(local_invocation_index) local_index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let workgroup_index = group.x + group.y * groups.x;
  if (workgroup_index < params.ceildiv_3_ceildiv_M_3_32) {
    let slot = i32(local_index) >> 1u;
    let lane = i32(local_index) & 1;
    let job = i32(workgroup_index) * 32 + slot;
    let valid = job < params.n3_ceildiv_M_3;
    let block = i32(u32(job) / 3u);
    let job_1 = i32(u32(job) % 3u);
    let extent = params.M - 3 * block;
    let is_active = job_1 < extent;
    if (valid & is_active) {
      let r = block * 3;
      let position = r + job_1;
      let S_at = u32(position);
      let value = S[S_at];
      let offset = lane * 8;
      let done = params.div_C_64 * 64;
      for (var round_: i32 = 0; round_ < params.div_C_64; round_ += 1) {
        let start = round_ * 64 + offset;
        let c = start + 1;
        let c_1 = start + 2;
        let c_2 = start + 3;
        let c_3 = start + 4;
        let c_4 = start + 5;
        let c_5 = start + 6;
        let c_6 = start + 7;
        let c_7 = start + 16;
        let c_8 = c_7 + 1;
        let c_9 = c_7 + 2;
        let c_10 = c_7 + 3;
        let c_11 = c_7 + 4;
        let c_12 = c_7 + 5;
        let c_13 = c_7 + 6;
        let c_14 = c_7 + 7;
        let c_15 = start + 32;
        let c_16 = c_15 + 1;
        let c_17 = c_15 + 2;
        let c_18 = c_15 + 3;
        let c_19 = c_15 + 4;
        let c_20 = c_15 + 5;
        let c_21 = c_15 + 6;
        let c_22 = c_15 + 7;
        let c_23 = start + 48;
        let c_24 = c_23 + 1;
        let c_25 = c_23 + 2;
        let c_26 = c_23 + 3;
        let c_27 = c_23 + 4;
        let c_28 = c_23 + 5;
        let c_29 = c_23 + 6;
        let c_30 = c_23 + 7;
        let X_at = u32(position);
        let X_at_1 = X_at * u32(params.C) + u32(start);
        let vector_at = X_at_1 >> 3u;
        let X_vector = X[vector_at];
        let value_1 = f16_to_f32(X_vector.x);
        let value_2 = f16_high(X_vector.x);
        let value_3 = f16_to_f32(X_vector.y);
        let value_4 = f16_high(X_vector.y);
        let value_5 = f16_to_f32(X_vector.z);
        let value_6 = f16_high(X_vector.z);
        let value_7 = f16_to_f32(X_vector.w);
        let value_8 = f16_high(X_vector.w);
        let X_at_2 = X_at * u32(params.C) + u32(c_7);
        let vector_at_1 = X_at_2 >> 3u;
        let X_vector_1 = X[vector_at_1];
        let value_9 = f16_to_f32(X_vector_1.x);
        let value_10 = f16_high(X_vector_1.x);
        let value_11 = f16_to_f32(X_vector_1.y);
        let value_12 = f16_high(X_vector_1.y);
        let value_13 = f16_to_f32(X_vector_1.z);
        let value_14 = f16_high(X_vector_1.z);
        let value_15 = f16_to_f32(X_vector_1.w);
        let value_16 = f16_high(X_vector_1.w);
        let X_at_3 = X_at * u32(params.C) + u32(c_15);
        let vector_at_2 = X_at_3 >> 3u;
        let X_vector_2 = X[vector_at_2];
        let value_17 = f16_to_f32(X_vector_2.x);
        let value_18 = f16_high(X_vector_2.x);
        let value_19 = f16_to_f32(X_vector_2.y);
        let value_20 = f16_high(X_vector_2.y);
        let value_21 = f16_to_f32(X_vector_2.z);
        let value_22 = f16_high(X_vector_2.z);
        let value_23 = f16_to_f32(X_vector_2.w);
        let value_24 = f16_high(X_vector_2.w);
        let X_at_4 = X_at * u32(params.C) + u32(c_23);
        let vector_at_3 = X_at_4 >> 3u;
        let X_vector_3 = X[vector_at_3];
        let value_25 = f16_to_f32(X_vector_3.x);
        let value_26 = f16_high(X_vector_3.x);
        let value_27 = f16_to_f32(X_vector_3.y);
        let value_28 = f16_high(X_vector_3.y);
        let value_29 = f16_to_f32(X_vector_3.z);
        let value_30 = f16_high(X_vector_3.z);
        let value_31 = f16_to_f32(X_vector_3.w);
        let value_32 = f16_high(X_vector_3.w);
        let mul = value_1 * value;
        let mul_1 = value_2 * value;
        let mul_2 = value_3 * value;
        let mul_3 = value_4 * value;
        let mul_4 = value_5 * value;
        let mul_5 = value_6 * value;
        let mul_6 = value_7 * value;
        let mul_7 = value_8 * value;
        X[vector_at] = vec4<u32>(pack_f16(mul, mul_1), pack_f16(mul_2, mul_3), pack_f16(mul_4, mul_5), pack_f16(mul_6, mul_7));
        let mul_8 = value_9 * value;
        let mul_9 = value_10 * value;
        let mul_10 = value_11 * value;
        let mul_11 = value_12 * value;
        let mul_12 = value_13 * value;
        let mul_13 = value_14 * value;
        let mul_14 = value_15 * value;
        let mul_15 = value_16 * value;
        X[vector_at_1] = vec4<u32>(pack_f16(mul_8, mul_9), pack_f16(mul_10, mul_11), pack_f16(mul_12, mul_13), pack_f16(mul_14, mul_15));
        let mul_16 = value_17 * value;
        let mul_17 = value_18 * value;
        let mul_18 = value_19 * value;
        let mul_19 = value_20 * value;
        let mul_20 = value_21 * value;
        let mul_21 = value_22 * value;
        let mul_22 = value_23 * value;
        let mul_23 = value_24 * value;
        X[vector_at_2] = vec4<u32>(pack_f16(mul_16, mul_17), pack_f16(mul_18, mul_19), pack_f16(mul_20, mul_21), pack_f16(mul_22, mul_23));
        let mul_24 = value_25 * value;
        let mul_25 = value_26 * value;
        let mul_26 = value_27 * value;
        let mul_27 = value_28 * value;
        let mul_28 = value_29 * value;
        let mul_29 = value_30 * value;
        let mul_30 = value_31 * value;
        let mul_31 = value_32 * value;
        X[vector_at_3] = vec4<u32>(pack_f16(mul_24, mul_25), pack_f16(mul_26, mul_27), pack_f16(mul_28, mul_29), pack_f16(mul_30, mul_31));
      }
      let first = done + offset;
      for (var c_31: i32 = first; c_31 < params.C; c_31 += 16) {
        let c_32 = c_31 + 1;
        let c_33 = c_31 + 2;
        let c_34 = c_31 + 3;
        let c_35 = c_31 + 4;
        let c_36 = c_31 + 5;
        let c_37 = c_31 + 6;
        let c_38 = c_31 + 7;
        let X_at_5 = u32(position);
        let X_at_6 = X_at_5 * u32(params.C) + u32(c_31);
        let vector_at_4 = X_at_6 >> 3u;
        let X_vector_4 = X[vector_at_4];
        let value_33 = f16_to_f32(X_vector_4.x);
        let mul_32 = value_33 * value;
        let value_34 = f16_high(X_vector_4.x);
        let mul_33 = value_34 * value;
        let value_35 = f16_to_f32(X_vector_4.y);
        let mul_34 = value_35 * value;
        let value_36 = f16_high(X_vector_4.y);
        let mul_35 = value_36 * value;
        let value_37 = f16_to_f32(X_vector_4.z);
        let mul_36 = value_37 * value;
        let value_38 = f16_high(X_vector_4.z);
        let mul_37 = value_38 * value;
        let value_39 = f16_to_f32(X_vector_4.w);
        let mul_38 = value_39 * value;
        let value_40 = f16_high(X_vector_4.w);
        let mul_39 = value_40 * value;
        X[vector_at_4] = vec4<u32>(pack_f16(mul_32, mul_33), pack_f16(mul_34, mul_35), pack_f16(mul_36, mul_37), pack_f16(mul_38, mul_39));
      }
    }
  }
}
