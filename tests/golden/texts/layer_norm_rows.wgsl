// Kernel layer_norm_rows, written by tilec.

struct Params {
  n8_ceildiv_M_8: i32,
  M: i32,
  D: i32,
  div_D_1024: i32,
  eps: f32,
  n8_ceildiv_M_8_1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> X: array<f32>;
@group(0) @binding(2) var<storage, read> B: array<f32>;
@group(0) @binding(3) var<storage, read> W: array<f32>;
@group(0) @binding(4) var<storage, read_write> Y: array<f32>;
var<workgroup> lanes_0: array<f32, 256>;
var<workgroup> lanes_1: array<f32, 256>;
var<workgroup> lanes_2: array<f32, 256>;
var<workgroup> lanes_3: array<f32, 256>;
var<workgroup> lanes_4: array<f32, 256>;
var<workgroup> groups_0: array<f32, 16>;
var<workgroup> groups_1: array<f32, 16>;
var<workgroup> groups_2: array<f32, 16>;
var<workgroup> groups_3: array<f32, 16>;
var<workgroup> groups_4: array<f32, 16>;

// Integers in the order of the floats; both zeros give 0.
fn order_key(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return select(bits, -2147483648 - bits, bits < 0);
}

fn isnan_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn eq_f32(x: f32, y: f32) -> bool {
  return (order_key(x) == order_key(y)) & !isnan_f32(x);
}

fn f32_from_bits(bits: u32) -> f32 {
  return bitcast<f32>(bits);
}

fn either_nan(x: f32, y: f32) -> bool {
  return max(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu) > 0x7f800000u;
}

fn gt_f32(x: f32, y: f32) -> bool {
  return (order_key(x) > order_key(y)) & !either_nan(x, y);
}

// `literal` as a value that compilers do not merge with other literals: `zero` is 0, and they do not know.
fn hidden(literal: f32, zero: u32) -> f32 {
  return bitcast<f32>(bitcast<u32>(literal) | zero);
}

fn isfinite_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}

@compute @workgroup_size(256)
fn layer_norm_rows(
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
    var count: f32 = 0.0;
    var reference: f32 = 0.0;
    var moment: f32 = 0.0;
    var moment_1: f32 = 0.0;
    var count_16: f32 = 0.0;
    var reference_16: f32 = 0.0;
    var moment_16: f32 = 0.0;
    var moment_16_1: f32 = 0.0;
    var count_256: f32 = 0.0;
    var reference_256: f32 = 0.0;
    var moment_256: f32 = 0.0;
    var moment_256_1: f32 = 0.0;
    var count_4096: f32 = 0.0;
    var reference_4096: f32 = 0.0;
    var moment_4096: f32 = 0.0;
    var moment_4096_1: f32 = 0.0;
    var count_65536: f32 = 0.0;
    var reference_65536: f32 = 0.0;
    var moment_65536: f32 = 0.0;
    var moment_65536_1: f32 = 0.0;
    var sum: f32 = 0.0;
    var sum_16: f32 = 0.0;
    var sum_256: f32 = 0.0;
    var sum_4096: f32 = 0.0;
    var sum_65536: f32 = 0.0;
    let extent = params.M - 8 * block;
    let is_active = job_1 < extent;
    if (is_active) {
      let r = block * 8;
      let done = params.div_D_1024 * 1024;
      for (var round_: i32 = 0; round_ < params.div_D_1024; round_ += 1) {
        let start = round_ * 1024 + lane;
        let c = start + 256;
        let c_1 = start + 512;
        let c_2 = start + 768;
        let position = r + job_1;
        let X_at = u32(position);
        let X_at_1 = X_at * u32(params.D) + u32(start);
        let value = X[X_at_1];
        let X_at_2 = X_at * u32(params.D) + u32(c);
        let value_1 = X[X_at_2];
        let X_at_3 = X_at * u32(params.D) + u32(c_1);
        let value_2 = X[X_at_3];
        let X_at_4 = X_at * u32(params.D) + u32(c_2);
        let value_3 = X[X_at_4];
        let part = value + value_1 + (value_2 + value_3);
        sum = sum + part;
        let part_1 = value * 0.25 + value_1 * 0.25 + (value_2 * 0.25 + value_3 * 0.25);
        let joined = count + hidden(4.0, group.z);
        let share = 4.0 / joined;
        let reference_1 = reference * (hidden(1.0, group.z) - share) + part_1 * share;
        let move_ = reference - reference_1;
        let below = value - reference_1;
        let below_1 = value_1 - reference_1;
        let below_2 = value_2 - reference_1;
        let below_3 = value_3 - reference_1;
        let term = below * below;
        let term_1 = below_1 * below_1;
        let term_2 = below_2 * below_2;
        let term_3 = below_3 * below_3;
        let part_2 = term + term_1 + (term_2 + term_3);
        moment = select(moment + move_ * (2.0 * moment_1 + move_ * count), moment, eq_f32(move_, 0.0) | gt_f32(abs(moment), 0x1.fffffep+127f)) + part_2;
        let part_3 = below + below_1 + (below_2 + below_3);
        moment_1 = moment_1 + move_ * count + part_3;
        count = joined;
        reference = reference_1;
        if ((round_ & 15) == 15) {
          sum_16 = sum_16 + sum;
          sum = 0.0;
          let part_4 = count_16 + count;
          let share_1 = 1.0 / max(part_4, 1.0);
          let part_5 = reference_16 * (count_16 * share_1) + reference * (count * share_1);
          let move_1 = reference_16 - part_5;
          let term_4 = select(moment_16 + move_1 * (2.0 * moment_16_1 + move_1 * count_16), moment_16, eq_f32(move_1, 0.0) | gt_f32(abs(moment_16), 0x1.fffffep+127f));
          let term_5 = moment_16_1 + move_1 * count_16;
          let move_2 = reference - part_5;
          let term_6 = select(moment + move_2 * (2.0 * moment_1 + move_2 * count), moment, eq_f32(move_2, 0.0) | gt_f32(abs(moment), 0x1.fffffep+127f));
          let term_7 = moment_1 + move_2 * count;
          let part_6 = term_4 + term_6;
          let part_7 = term_5 + term_7;
          count_16 = part_4;
          reference_16 = part_5;
          moment_16 = part_6;
          moment_16_1 = part_7;
          count = 0.0;
          reference = 0.0;
          moment = 0.0;
          moment_1 = 0.0;
          if ((round_ & 255) == 255) {
            sum_256 = sum_256 + sum_16;
            sum_16 = 0.0;
            let part_8 = count_256 + count_16;
            let share_2 = 1.0 / max(part_8, 1.0);
            let part_9 = reference_256 * (count_256 * share_2) + reference_16 * (count_16 * share_2);
            let move_3 = reference_256 - part_9;
            let term_8 = select(moment_256 + move_3 * (2.0 * moment_256_1 + move_3 * count_256), moment_256, eq_f32(move_3, 0.0) | gt_f32(abs(moment_256), 0x1.fffffep+127f));
            let term_9 = moment_256_1 + move_3 * count_256;
            let move_4 = reference_16 - part_9;
            let term_10 = select(moment_16 + move_4 * (2.0 * moment_16_1 + move_4 * count_16), moment_16, eq_f32(move_4, 0.0) | gt_f32(abs(moment_16), 0x1.fffffep+127f));
            let term_11 = moment_16_1 + move_4 * count_16;
            let part_10 = term_8 + term_10;
            let part_11 = term_9 + term_11;
            count_256 = part_8;
            reference_256 = part_9;
            moment_256 = part_10;
            moment_256_1 = part_11;
            count_16 = 0.0;
            reference_16 = 0.0;
            moment_16 = 0.0;
            moment_16_1 = 0.0;
            if ((round_ & 4095) == 4095) {
              sum_4096 = sum_4096 + sum_256;
              sum_256 = 0.0;
              let part_12 = count_4096 + count_256;
              let share_3 = 1.0 / max(part_12, 1.0);
              let part_13 = reference_4096 * (count_4096 * share_3) + reference_256 * (count_256 * share_3);
              let move_5 = reference_4096 - part_13;
              let term_12 = select(moment_4096 + move_5 * (2.0 * moment_4096_1 + move_5 * count_4096), moment_4096, eq_f32(move_5, 0.0) | gt_f32(abs(moment_4096), 0x1.fffffep+127f));
              let term_13 = moment_4096_1 + move_5 * count_4096;
              let move_6 = reference_256 - part_13;
              let term_14 = select(moment_256 + move_6 * (2.0 * moment_256_1 + move_6 * count_256), moment_256, eq_f32(move_6, 0.0) | gt_f32(abs(moment_256), 0x1.fffffep+127f));
              let term_15 = moment_256_1 + move_6 * count_256;
              let part_14 = term_12 + term_14;
              let part_15 = term_13 + term_15;
              count_4096 = part_12;
              reference_4096 = part_13;
              moment_4096 = part_14;
              moment_4096_1 = part_15;
              count_256 = 0.0;
              reference_256 = 0.0;
              moment_256 = 0.0;
              moment_256_1 = 0.0;
              if ((round_ & 65535) == 65535) {
                sum_65536 = sum_65536 + sum_4096;
                sum_4096 = 0.0;
                let part_16 = count_65536 + count_4096;
                let share_4 = 1.0 / max(part_16, 1.0);
                let part_17 = reference_65536 * (count_65536 * share_4) + reference_4096 * (count_4096 * share_4);
                let move_7 = reference_65536 - part_17;
                let term_16 = select(moment_65536 + move_7 * (2.0 * moment_65536_1 + move_7 * count_65536), moment_65536, eq_f32(move_7, 0.0) | gt_f32(abs(moment_65536), 0x1.fffffep+127f));
                let term_17 = moment_65536_1 + move_7 * count_65536;
                let move_8 = reference_4096 - part_17;
                let term_18 = select(moment_4096 + move_8 * (2.0 * moment_4096_1 + move_8 * count_4096), moment_4096, eq_f32(move_8, 0.0) | gt_f32(abs(moment_4096), 0x1.fffffep+127f));
                let term_19 = moment_4096_1 + move_8 * count_4096;
                let part_18 = term_16 + term_18;
                let part_19 = term_17 + term_19;
                count_65536 = part_16;
                reference_65536 = part_17;
                moment_65536 = part_18;
                moment_65536_1 = part_19;
                count_4096 = 0.0;
                reference_4096 = 0.0;
                moment_4096 = 0.0;
                moment_4096_1 = 0.0;
              }
            }
          }
        }
      }
      let first = done + lane;
      for (var c_3: i32 = first; c_3 < params.D; c_3 += 256) {
        let position_1 = r + job_1;
        let X_at_5 = u32(position_1);
        let X_at_6 = X_at_5 * u32(params.D) + u32(c_3);
        let value_4 = X[X_at_6];
        sum = sum + value_4;
        let joined_1 = count + hidden(1.0, group.z);
        let share_5 = 1.0 / joined_1;
        let reference_2 = reference * (hidden(1.0, group.z) - share_5) + value_4 * share_5;
        let move_9 = reference - reference_2;
        let below_4 = value_4 - reference_2;
        let term_20 = below_4 * below_4;
        moment = select(moment + move_9 * (2.0 * moment_1 + move_9 * count), moment, eq_f32(move_9, 0.0) | gt_f32(abs(moment), 0x1.fffffep+127f)) + term_20;
        moment_1 = moment_1 + move_9 * count + below_4;
        count = joined_1;
        reference = reference_2;
      }
    }
    let part_20 = count + count_16 + (count_256 + count_4096) + count_65536;
    let share_6 = 1.0 / max(part_20, 1.0);
    let part_21 = reference * (count * share_6) + reference_16 * (count_16 * share_6) + (reference_256 * (count_256 * share_6) + reference_4096 * (count_4096 * share_6)) + reference_65536 * (count_65536 * share_6);
    let move_10 = reference - part_21;
    let term_21 = select(moment + move_10 * (2.0 * moment_1 + move_10 * count), moment, eq_f32(move_10, 0.0) | gt_f32(abs(moment), 0x1.fffffep+127f));
    let term_22 = moment_1 + move_10 * count;
    let move_11 = reference_16 - part_21;
    let term_23 = select(moment_16 + move_11 * (2.0 * moment_16_1 + move_11 * count_16), moment_16, eq_f32(move_11, 0.0) | gt_f32(abs(moment_16), 0x1.fffffep+127f));
    let term_24 = moment_16_1 + move_11 * count_16;
    let move_12 = reference_256 - part_21;
    let term_25 = select(moment_256 + move_12 * (2.0 * moment_256_1 + move_12 * count_256), moment_256, eq_f32(move_12, 0.0) | gt_f32(abs(moment_256), 0x1.fffffep+127f));
    let term_26 = moment_256_1 + move_12 * count_256;
    let move_13 = reference_4096 - part_21;
    let term_27 = select(moment_4096 + move_13 * (2.0 * moment_4096_1 + move_13 * count_4096), moment_4096, eq_f32(move_13, 0.0) | gt_f32(abs(moment_4096), 0x1.fffffep+127f));
    let term_28 = moment_4096_1 + move_13 * count_4096;
    let move_14 = reference_65536 - part_21;
    let term_29 = select(moment_65536 + move_14 * (2.0 * moment_65536_1 + move_14 * count_65536), moment_65536, eq_f32(move_14, 0.0) | gt_f32(abs(moment_65536), 0x1.fffffep+127f));
    let term_30 = moment_65536_1 + move_14 * count_65536;
    let part_22 = term_21 + term_23 + (term_25 + term_27) + term_29;
    let part_23 = term_22 + term_24 + (term_26 + term_28) + term_30;
    let part_24 = sum + sum_16 + (sum_256 + sum_4096) + sum_65536;
    lanes_0[i32(local_index)] = part_20;
    lanes_1[i32(local_index)] = part_21;
    lanes_2[i32(local_index)] = part_22;
    lanes_3[i32(local_index)] = part_23;
    lanes_4[i32(local_index)] = part_24;
    workgroupBarrier();
    let folds = lane < 16;
    if (folds) {
      let first_1 = lane * 16;
      let place = first_1 + 1;
      let place_1 = first_1 + 2;
      let place_2 = first_1 + 3;
      let place_3 = first_1 + 4;
      let place_4 = first_1 + 5;
      let place_5 = first_1 + 6;
      let place_6 = first_1 + 7;
      let place_7 = first_1 + 8;
      let place_8 = first_1 + 9;
      let place_9 = first_1 + 10;
      let place_10 = first_1 + 11;
      let place_11 = first_1 + 12;
      let place_12 = first_1 + 13;
      let place_13 = first_1 + 14;
      let place_14 = first_1 + 15;
      let part_25 = lanes_0[first_1];
      let part_26 = lanes_1[first_1];
      let part_27 = lanes_2[first_1];
      let part_28 = lanes_3[first_1];
      let part_29 = lanes_0[place];
      let part_30 = lanes_1[place];
      let part_31 = lanes_2[place];
      let part_32 = lanes_3[place];
      let part_33 = lanes_0[place_1];
      let part_34 = lanes_1[place_1];
      let part_35 = lanes_2[place_1];
      let part_36 = lanes_3[place_1];
      let part_37 = lanes_0[place_2];
      let part_38 = lanes_1[place_2];
      let part_39 = lanes_2[place_2];
      let part_40 = lanes_3[place_2];
      let part_41 = lanes_0[place_3];
      let part_42 = lanes_1[place_3];
      let part_43 = lanes_2[place_3];
      let part_44 = lanes_3[place_3];
      let part_45 = lanes_0[place_4];
      let part_46 = lanes_1[place_4];
      let part_47 = lanes_2[place_4];
      let part_48 = lanes_3[place_4];
      let part_49 = lanes_0[place_5];
      let part_50 = lanes_1[place_5];
      let part_51 = lanes_2[place_5];
      let part_52 = lanes_3[place_5];
      let part_53 = lanes_0[place_6];
      let part_54 = lanes_1[place_6];
      let part_55 = lanes_2[place_6];
      let part_56 = lanes_3[place_6];
      let part_57 = lanes_0[place_7];
      let part_58 = lanes_1[place_7];
      let part_59 = lanes_2[place_7];
      let part_60 = lanes_3[place_7];
      let part_61 = lanes_0[place_8];
      let part_62 = lanes_1[place_8];
      let part_63 = lanes_2[place_8];
      let part_64 = lanes_3[place_8];
      let part_65 = lanes_0[place_9];
      let part_66 = lanes_1[place_9];
      let part_67 = lanes_2[place_9];
      let part_68 = lanes_3[place_9];
      let part_69 = lanes_0[place_10];
      let part_70 = lanes_1[place_10];
      let part_71 = lanes_2[place_10];
      let part_72 = lanes_3[place_10];
      let part_73 = lanes_0[place_11];
      let part_74 = lanes_1[place_11];
      let part_75 = lanes_2[place_11];
      let part_76 = lanes_3[place_11];
      let part_77 = lanes_0[place_12];
      let part_78 = lanes_1[place_12];
      let part_79 = lanes_2[place_12];
      let part_80 = lanes_3[place_12];
      let part_81 = lanes_0[place_13];
      let part_82 = lanes_1[place_13];
      let part_83 = lanes_2[place_13];
      let part_84 = lanes_3[place_13];
      let part_85 = lanes_0[place_14];
      let part_86 = lanes_1[place_14];
      let part_87 = lanes_2[place_14];
      let part_88 = lanes_3[place_14];
      let part_89 = part_25 + part_29 + (part_33 + part_37) + (part_41 + part_45 + (part_49 + part_53)) + (part_57 + part_61 + (part_65 + part_69) + (part_73 + part_77 + (part_81 + part_85)));
      let share_7 = 1.0 / max(part_89, 1.0);
      let part_90 = part_26 * (part_25 * share_7) + part_30 * (part_29 * share_7) + (part_34 * (part_33 * share_7) + part_38 * (part_37 * share_7)) + (part_42 * (part_41 * share_7) + part_46 * (part_45 * share_7) + (part_50 * (part_49 * share_7) + part_54 * (part_53 * share_7))) + (part_58 * (part_57 * share_7) + part_62 * (part_61 * share_7) + (part_66 * (part_65 * share_7) + part_70 * (part_69 * share_7)) + (part_74 * (part_73 * share_7) + part_78 * (part_77 * share_7) + (part_82 * (part_81 * share_7) + part_86 * (part_85 * share_7))));
      let move_15 = part_26 - part_90;
      let term_31 = select(part_27 + move_15 * (2.0 * part_28 + move_15 * part_25), part_27, eq_f32(move_15, 0.0) | gt_f32(abs(part_27), 0x1.fffffep+127f));
      let term_32 = part_28 + move_15 * part_25;
      let move_16 = part_30 - part_90;
      let term_33 = select(part_31 + move_16 * (2.0 * part_32 + move_16 * part_29), part_31, eq_f32(move_16, 0.0) | gt_f32(abs(part_31), 0x1.fffffep+127f));
      let term_34 = part_32 + move_16 * part_29;
      let move_17 = part_34 - part_90;
      let term_35 = select(part_35 + move_17 * (2.0 * part_36 + move_17 * part_33), part_35, eq_f32(move_17, 0.0) | gt_f32(abs(part_35), 0x1.fffffep+127f));
      let term_36 = part_36 + move_17 * part_33;
      let move_18 = part_38 - part_90;
      let term_37 = select(part_39 + move_18 * (2.0 * part_40 + move_18 * part_37), part_39, eq_f32(move_18, 0.0) | gt_f32(abs(part_39), 0x1.fffffep+127f));
      let term_38 = part_40 + move_18 * part_37;
      let move_19 = part_42 - part_90;
      let term_39 = select(part_43 + move_19 * (2.0 * part_44 + move_19 * part_41), part_43, eq_f32(move_19, 0.0) | gt_f32(abs(part_43), 0x1.fffffep+127f));
      let term_40 = part_44 + move_19 * part_41;
      let move_20 = part_46 - part_90;
      let term_41 = select(part_47 + move_20 * (2.0 * part_48 + move_20 * part_45), part_47, eq_f32(move_20, 0.0) | gt_f32(abs(part_47), 0x1.fffffep+127f));
      let term_42 = part_48 + move_20 * part_45;
      let move_21 = part_50 - part_90;
      let term_43 = select(part_51 + move_21 * (2.0 * part_52 + move_21 * part_49), part_51, eq_f32(move_21, 0.0) | gt_f32(abs(part_51), 0x1.fffffep+127f));
      let term_44 = part_52 + move_21 * part_49;
      let move_22 = part_54 - part_90;
      let term_45 = select(part_55 + move_22 * (2.0 * part_56 + move_22 * part_53), part_55, eq_f32(move_22, 0.0) | gt_f32(abs(part_55), 0x1.fffffep+127f));
      let term_46 = part_56 + move_22 * part_53;
      let move_23 = part_58 - part_90;
      let term_47 = select(part_59 + move_23 * (2.0 * part_60 + move_23 * part_57), part_59, eq_f32(move_23, 0.0) | gt_f32(abs(part_59), 0x1.fffffep+127f));
      let term_48 = part_60 + move_23 * part_57;
      let move_24 = part_62 - part_90;
      let term_49 = select(part_63 + move_24 * (2.0 * part_64 + move_24 * part_61), part_63, eq_f32(move_24, 0.0) | gt_f32(abs(part_63), 0x1.fffffep+127f));
      let term_50 = part_64 + move_24 * part_61;
      let move_25 = part_66 - part_90;
      let term_51 = select(part_67 + move_25 * (2.0 * part_68 + move_25 * part_65), part_67, eq_f32(move_25, 0.0) | gt_f32(abs(part_67), 0x1.fffffep+127f));
      let term_52 = part_68 + move_25 * part_65;
      let move_26 = part_70 - part_90;
      let term_53 = select(part_71 + move_26 * (2.0 * part_72 + move_26 * part_69), part_71, eq_f32(move_26, 0.0) | gt_f32(abs(part_71), 0x1.fffffep+127f));
      let term_54 = part_72 + move_26 * part_69;
      let move_27 = part_74 - part_90;
      let term_55 = select(part_75 + move_27 * (2.0 * part_76 + move_27 * part_73), part_75, eq_f32(move_27, 0.0) | gt_f32(abs(part_75), 0x1.fffffep+127f));
      let term_56 = part_76 + move_27 * part_73;
      let move_28 = part_78 - part_90;
      let term_57 = select(part_79 + move_28 * (2.0 * part_80 + move_28 * part_77), part_79, eq_f32(move_28, 0.0) | gt_f32(abs(part_79), 0x1.fffffep+127f));
      let term_58 = part_80 + move_28 * part_77;
      let move_29 = part_82 - part_90;
      let term_59 = select(part_83 + move_29 * (2.0 * part_84 + move_29 * part_81), part_83, eq_f32(move_29, 0.0) | gt_f32(abs(part_83), 0x1.fffffep+127f));
      let term_60 = part_84 + move_29 * part_81;
      let move_30 = part_86 - part_90;
      let term_61 = select(part_87 + move_30 * (2.0 * part_88 + move_30 * part_85), part_87, eq_f32(move_30, 0.0) | gt_f32(abs(part_87), 0x1.fffffep+127f));
      let term_62 = part_88 + move_30 * part_85;
      let part_91 = term_31 + term_33 + (term_35 + term_37) + (term_39 + term_41 + (term_43 + term_45)) + (term_47 + term_49 + (term_51 + term_53) + (term_55 + term_57 + (term_59 + term_61)));
      let part_92 = term_32 + term_34 + (term_36 + term_38) + (term_40 + term_42 + (term_44 + term_46)) + (term_48 + term_50 + (term_52 + term_54) + (term_56 + term_58 + (term_60 + term_62)));
      let part_93 = lanes_4[first_1];
      let part_94 = lanes_4[place];
      let part_95 = lanes_4[place_1];
      let part_96 = lanes_4[place_2];
      let part_97 = lanes_4[place_3];
      let part_98 = lanes_4[place_4];
      let part_99 = lanes_4[place_5];
      let part_100 = lanes_4[place_6];
      let part_101 = lanes_4[place_7];
      let part_102 = lanes_4[place_8];
      let part_103 = lanes_4[place_9];
      let part_104 = lanes_4[place_10];
      let part_105 = lanes_4[place_11];
      let part_106 = lanes_4[place_12];
      let part_107 = lanes_4[place_13];
      let part_108 = lanes_4[place_14];
      let part_109 = part_93 + part_94 + (part_95 + part_96) + (part_97 + part_98 + (part_99 + part_100)) + (part_101 + part_102 + (part_103 + part_104) + (part_105 + part_106 + (part_107 + part_108)));
      groups_0[lane] = part_89;
      groups_1[lane] = part_90;
      groups_2[lane] = part_91;
      groups_3[lane] = part_92;
      groups_4[lane] = part_109;
    }
    workgroupBarrier();
    let part_110 = groups_0[0];
    let part_111 = groups_1[0];
    let part_112 = groups_2[0];
    let part_113 = groups_3[0];
    let part_114 = groups_0[1];
    let part_115 = groups_1[1];
    let part_116 = groups_2[1];
    let part_117 = groups_3[1];
    let part_118 = groups_0[2];
    let part_119 = groups_1[2];
    let part_120 = groups_2[2];
    let part_121 = groups_3[2];
    let part_122 = groups_0[3];
    let part_123 = groups_1[3];
    let part_124 = groups_2[3];
    let part_125 = groups_3[3];
    let part_126 = groups_0[4];
    let part_127 = groups_1[4];
    let part_128 = groups_2[4];
    let part_129 = groups_3[4];
    let part_130 = groups_0[5];
    let part_131 = groups_1[5];
    let part_132 = groups_2[5];
    let part_133 = groups_3[5];
    let part_134 = groups_0[6];
    let part_135 = groups_1[6];
    let part_136 = groups_2[6];
    let part_137 = groups_3[6];
    let part_138 = groups_0[7];
    let part_139 = groups_1[7];
    let part_140 = groups_2[7];
    let part_141 = groups_3[7];
    let part_142 = groups_0[8];
    let part_143 = groups_1[8];
    let part_144 = groups_2[8];
    let part_145 = groups_3[8];
    let part_146 = groups_0[9];
    let part_147 = groups_1[9];
    let part_148 = groups_2[9];
    let part_149 = groups_3[9];
    let part_150 = groups_0[10];
    let part_151 = groups_1[10];
    let part_152 = groups_2[10];
    let part_153 = groups_3[10];
    let part_154 = groups_0[11];
    let part_155 = groups_1[11];
    let part_156 = groups_2[11];
    let part_157 = groups_3[11];
    let part_158 = groups_0[12];
    let part_159 = groups_1[12];
    let part_160 = groups_2[12];
    let part_161 = groups_3[12];
    let part_162 = groups_0[13];
    let part_163 = groups_1[13];
    let part_164 = groups_2[13];
    let part_165 = groups_3[13];
    let part_166 = groups_0[14];
    let part_167 = groups_1[14];
    let part_168 = groups_2[14];
    let part_169 = groups_3[14];
    let part_170 = groups_0[15];
    let part_171 = groups_1[15];
    let part_172 = groups_2[15];
    let part_173 = groups_3[15];
    let part_174 = part_110 + part_114 + (part_118 + part_122) + (part_126 + part_130 + (part_134 + part_138)) + (part_142 + part_146 + (part_150 + part_154) + (part_158 + part_162 + (part_166 + part_170)));
    let share_8 = 1.0 / max(part_174, 1.0);
    let part_175 = part_111 * (part_110 * share_8) + part_115 * (part_114 * share_8) + (part_119 * (part_118 * share_8) + part_123 * (part_122 * share_8)) + (part_127 * (part_126 * share_8) + part_131 * (part_130 * share_8) + (part_135 * (part_134 * share_8) + part_139 * (part_138 * share_8))) + (part_143 * (part_142 * share_8) + part_147 * (part_146 * share_8) + (part_151 * (part_150 * share_8) + part_155 * (part_154 * share_8)) + (part_159 * (part_158 * share_8) + part_163 * (part_162 * share_8) + (part_167 * (part_166 * share_8) + part_171 * (part_170 * share_8))));
    let move_31 = part_111 - part_175;
    let term_63 = select(part_112 + move_31 * (2.0 * part_113 + move_31 * part_110), part_112, eq_f32(move_31, 0.0) | gt_f32(abs(part_112), 0x1.fffffep+127f));
    let term_64 = part_113 + move_31 * part_110;
    let move_32 = part_115 - part_175;
    let term_65 = select(part_116 + move_32 * (2.0 * part_117 + move_32 * part_114), part_116, eq_f32(move_32, 0.0) | gt_f32(abs(part_116), 0x1.fffffep+127f));
    let term_66 = part_117 + move_32 * part_114;
    let move_33 = part_119 - part_175;
    let term_67 = select(part_120 + move_33 * (2.0 * part_121 + move_33 * part_118), part_120, eq_f32(move_33, 0.0) | gt_f32(abs(part_120), 0x1.fffffep+127f));
    let term_68 = part_121 + move_33 * part_118;
    let move_34 = part_123 - part_175;
    let term_69 = select(part_124 + move_34 * (2.0 * part_125 + move_34 * part_122), part_124, eq_f32(move_34, 0.0) | gt_f32(abs(part_124), 0x1.fffffep+127f));
    let term_70 = part_125 + move_34 * part_122;
    let move_35 = part_127 - part_175;
    let term_71 = select(part_128 + move_35 * (2.0 * part_129 + move_35 * part_126), part_128, eq_f32(move_35, 0.0) | gt_f32(abs(part_128), 0x1.fffffep+127f));
    let term_72 = part_129 + move_35 * part_126;
    let move_36 = part_131 - part_175;
    let term_73 = select(part_132 + move_36 * (2.0 * part_133 + move_36 * part_130), part_132, eq_f32(move_36, 0.0) | gt_f32(abs(part_132), 0x1.fffffep+127f));
    let term_74 = part_133 + move_36 * part_130;
    let move_37 = part_135 - part_175;
    let term_75 = select(part_136 + move_37 * (2.0 * part_137 + move_37 * part_134), part_136, eq_f32(move_37, 0.0) | gt_f32(abs(part_136), 0x1.fffffep+127f));
    let term_76 = part_137 + move_37 * part_134;
    let move_38 = part_139 - part_175;
    let term_77 = select(part_140 + move_38 * (2.0 * part_141 + move_38 * part_138), part_140, eq_f32(move_38, 0.0) | gt_f32(abs(part_140), 0x1.fffffep+127f));
    let term_78 = part_141 + move_38 * part_138;
    let move_39 = part_143 - part_175;
    let term_79 = select(part_144 + move_39 * (2.0 * part_145 + move_39 * part_142), part_144, eq_f32(move_39, 0.0) | gt_f32(abs(part_144), 0x1.fffffep+127f));
    let term_80 = part_145 + move_39 * part_142;
    let move_40 = part_147 - part_175;
    let term_81 = select(part_148 + move_40 * (2.0 * part_149 + move_40 * part_146), part_148, eq_f32(move_40, 0.0) | gt_f32(abs(part_148), 0x1.fffffep+127f));
    let term_82 = part_149 + move_40 * part_146;
    let move_41 = part_151 - part_175;
    let term_83 = select(part_152 + move_41 * (2.0 * part_153 + move_41 * part_150), part_152, eq_f32(move_41, 0.0) | gt_f32(abs(part_152), 0x1.fffffep+127f));
    let term_84 = part_153 + move_41 * part_150;
    let move_42 = part_155 - part_175;
    let term_85 = select(part_156 + move_42 * (2.0 * part_157 + move_42 * part_154), part_156, eq_f32(move_42, 0.0) | gt_f32(abs(part_156), 0x1.fffffep+127f));
    let term_86 = part_157 + move_42 * part_154;
    let move_43 = part_159 - part_175;
    let term_87 = select(part_160 + move_43 * (2.0 * part_161 + move_43 * part_158), part_160, eq_f32(move_43, 0.0) | gt_f32(abs(part_160), 0x1.fffffep+127f));
    let term_88 = part_161 + move_43 * part_158;
    let move_44 = part_163 - part_175;
    let term_89 = select(part_164 + move_44 * (2.0 * part_165 + move_44 * part_162), part_164, eq_f32(move_44, 0.0) | gt_f32(abs(part_164), 0x1.fffffep+127f));
    let term_90 = part_165 + move_44 * part_162;
    let move_45 = part_167 - part_175;
    let term_91 = select(part_168 + move_45 * (2.0 * part_169 + move_45 * part_166), part_168, eq_f32(move_45, 0.0) | gt_f32(abs(part_168), 0x1.fffffep+127f));
    let term_92 = part_169 + move_45 * part_166;
    let move_46 = part_171 - part_175;
    let term_93 = select(part_172 + move_46 * (2.0 * part_173 + move_46 * part_170), part_172, eq_f32(move_46, 0.0) | gt_f32(abs(part_172), 0x1.fffffep+127f));
    let term_94 = part_173 + move_46 * part_170;
    let part_176 = term_63 + term_65 + (term_67 + term_69) + (term_71 + term_73 + (term_75 + term_77)) + (term_79 + term_81 + (term_83 + term_85) + (term_87 + term_89 + (term_91 + term_93)));
    let part_177 = term_64 + term_66 + (term_68 + term_70) + (term_72 + term_74 + (term_76 + term_78)) + (term_80 + term_82 + (term_84 + term_86) + (term_88 + term_90 + (term_92 + term_94)));
    let part_178 = groups_4[0];
    let part_179 = groups_4[1];
    let part_180 = groups_4[2];
    let part_181 = groups_4[3];
    let part_182 = groups_4[4];
    let part_183 = groups_4[5];
    let part_184 = groups_4[6];
    let part_185 = groups_4[7];
    let part_186 = groups_4[8];
    let part_187 = groups_4[9];
    let part_188 = groups_4[10];
    let part_189 = groups_4[11];
    let part_190 = groups_4[12];
    let part_191 = groups_4[13];
    let part_192 = groups_4[14];
    let part_193 = groups_4[15];
    let part_194 = part_178 + part_179 + (part_180 + part_181) + (part_182 + part_183 + (part_184 + part_185)) + (part_186 + part_187 + (part_188 + part_189) + (part_190 + part_191 + (part_192 + part_193)));
    let count_1 = 1 * params.D;
    let value_5 = f32(count_1);
    let div_f32 = part_194 / value_5;
    let is_empty = eq_f32(part_174, 0.0);
    let is_finite = isfinite_f32(div_f32);
    let move_47 = select(0.0, part_175 - div_f32, is_finite);
    let overflows = isfinite_f32(part_175) & !isnan_f32(div_f32);
    let moment_2 = select(part_176 + move_47 * (2.0 * part_177 + move_47 * part_174), part_176, eq_f32(move_47, 0.0) | gt_f32(abs(part_176), 0x1.fffffep+127f));
    let sum_1 = select(select(moment_2, select(f32_from_bits(0x7fc00000u), f32_from_bits(0x7f800000u), overflows), !is_finite | isnan_f32(moment_2)), 0.0, is_empty);
    let is_active_1 = job_1 < extent;
    if (is_active_1) {
      let r_1 = block * 8;
      let count_2 = 1 * params.D;
      let value_6 = f32(count_2);
      let div_f32_1 = sum_1 / value_6;
      let add = div_f32_1 + params.eps;
      let rsqrt = inverseSqrt(add);
      let done_1 = params.div_D_1024 * 1024;
      let first_2 = done_1 + lane;
      for (var c_4: i32 = first_2; c_4 < params.D; c_4 += 256) {
        let B_at = u32(c_4);
        let value_7 = B[B_at];
        let W_at = u32(c_4);
        let value_8 = W[W_at];
        let position_2 = r_1 + job_1;
        let X_at_7 = u32(position_2);
        let X_at_8 = X_at_7 * u32(params.D) + u32(c_4);
        let value_9 = X[X_at_8];
        let sub = value_9 - div_f32;
        let mul = sub * rsqrt;
        let mul_1 = mul * value_8;
        let add_1 = mul_1 + value_7;
        let Y_at = u32(position_2);
        let Y_at_1 = Y_at * u32(params.D) + u32(c_4);
        Y[Y_at_1] = add_1;
      }
      for (var round_1: i32 = 0; round_1 < params.div_D_1024; round_1 += 1) {
        let start_1 = (params.div_D_1024 - 1 - round_1) * 1024 + lane;
        let c_5 = start_1 + 256;
        let c_6 = start_1 + 512;
        let c_7 = start_1 + 768;
        let B_at_1 = u32(start_1);
        let value_10 = B[B_at_1];
        let W_at_1 = u32(start_1);
        let value_11 = W[W_at_1];
        let position_3 = r_1 + job_1;
        let X_at_9 = u32(position_3);
        let X_at_10 = X_at_9 * u32(params.D) + u32(start_1);
        let value_12 = X[X_at_10];
        let B_at_2 = u32(c_5);
        let value_13 = B[B_at_2];
        let W_at_2 = u32(c_5);
        let value_14 = W[W_at_2];
        let X_at_11 = X_at_9 * u32(params.D) + u32(c_5);
        let value_15 = X[X_at_11];
        let B_at_3 = u32(c_6);
        let value_16 = B[B_at_3];
        let W_at_3 = u32(c_6);
        let value_17 = W[W_at_3];
        let X_at_12 = X_at_9 * u32(params.D) + u32(c_6);
        let value_18 = X[X_at_12];
        let B_at_4 = u32(c_7);
        let value_19 = B[B_at_4];
        let W_at_4 = u32(c_7);
        let value_20 = W[W_at_4];
        let X_at_13 = X_at_9 * u32(params.D) + u32(c_7);
        let value_21 = X[X_at_13];
        let sub_1 = value_12 - div_f32;
        let mul_2 = sub_1 * rsqrt;
        let mul_3 = mul_2 * value_11;
        let add_2 = mul_3 + value_10;
        let Y_at_2 = u32(position_3);
        let Y_at_3 = Y_at_2 * u32(params.D) + u32(start_1);
        Y[Y_at_3] = add_2;
        let sub_2 = value_15 - div_f32;
        let mul_4 = sub_2 * rsqrt;
        let mul_5 = mul_4 * value_14;
        let add_3 = mul_5 + value_13;
        let Y_at_4 = u32(position_3);
        let Y_at_5 = Y_at_4 * u32(params.D) + u32(c_5);
        Y[Y_at_5] = add_3;
        let sub_3 = value_18 - div_f32;
        let mul_6 = sub_3 * rsqrt;
        let mul_7 = mul_6 * value_17;
        let add_4 = mul_7 + value_16;
        let Y_at_6 = u32(position_3);
        let Y_at_7 = Y_at_6 * u32(params.D) + u32(c_6);
        Y[Y_at_7] = add_4;
        let sub_4 = value_21 - div_f32;
        let mul_8 = sub_4 * rsqrt;
        let mul_9 = mul_8 * value_20;
        let add_5 = mul_9 + value_19;
        let Y_at_8 = u32(position_3);
        let Y_at_9 = Y_at_8 * u32(params.D) + u32(c_7);
        Y[Y_at_9] = add_5;
      }
    }
  }
}
