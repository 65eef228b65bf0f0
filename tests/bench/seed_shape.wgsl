// Cross-entropy as it is usually written by hand: one workgroup of 256 threads a row, each phase a strided loop over
// the row and a tree of barriers. The peer of the benchmarks; written for them, after a description.
//
// `forward` gives each row's loss; `loss_and_gradient` gives it too and overwrites the logits by the loss's gradient.
// A class outside the row (a padding token) gives loss 0 and gradient 0.

struct Params {
  vocab_size: u32,
  alpha: f32,     // label smoothing
  beta: f32,      // weight of the squared log-sum-exp (z-loss)
  inv_norm: f32,  // 1 / number of tokens that count
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> logits: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
@group(0) @binding(3) var<storage, read_write> losses: array<f32>;

const THREADS = 256u;
var<workgroup> partials: array<f32, THREADS>;

fn workgroup_max(thread: u32, value: f32) -> f32 {
  partials[thread] = value;
  workgroupBarrier();
  for (var stride = THREADS / 2u; stride > 0u; stride = stride / 2u) {
    if (thread < stride) {
      partials[thread] = max(partials[thread], partials[thread + stride]);
    }
    workgroupBarrier();
  }
  let result = partials[0];
  workgroupBarrier();
  return result;
}

fn workgroup_sum(thread: u32, value: f32) -> f32 {
  partials[thread] = value;
  workgroupBarrier();
  for (var stride = THREADS / 2u; stride > 0u; stride = stride / 2u) {
    if (thread < stride) {
      partials[thread] = partials[thread] + partials[thread + stride];
    }
    workgroupBarrier();
  }
  let result = partials[0];
  workgroupBarrier();
  return result;
}

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = group.x;
  let base = row * params.vocab_size;
  let answer = targets[row];
  if (answer >= params.vocab_size) {
    if (thread == 0u) {
      losses[row] = 0.0;
    }
    return;
  }
  var own_max = -3.4e38;
  for (var v = thread; v < params.vocab_size; v += THREADS) {
    own_max = max(own_max, logits[base + v]);
  }
  let row_max = workgroup_max(thread, own_max);
  var own_sum = 0.0;
  for (var v = thread; v < params.vocab_size; v += THREADS) {
    own_sum += exp(logits[base + v] - row_max);
  }
  let denominator = max(workgroup_sum(thread, own_sum), 1e-30);
  if (thread == 0u) {
    losses[row] = row_max + log(denominator) - logits[base + answer];
  }
}

@compute @workgroup_size(256)
fn loss_and_gradient(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = group.x;
  let base = row * params.vocab_size;
  let answer = targets[row];
  if (answer >= params.vocab_size) {
    if (thread == 0u) {
      losses[row] = 0.0;
    }
    for (var v = thread; v < params.vocab_size; v += THREADS) {
      logits[base + v] = 0.0;
    }
    return;
  }
  var own_max = -3.4e38;
  for (var v = thread; v < params.vocab_size; v += THREADS) {
    own_max = max(own_max, logits[base + v]);
  }
  let row_max = workgroup_max(thread, own_max);
  var own_sum = 0.0;
  for (var v = thread; v < params.vocab_size; v += THREADS) {
    own_sum += exp(logits[base + v] - row_max);
  }
  let denominator = max(workgroup_sum(thread, own_sum), 1e-30);
  var logits_sum = 0.0;
  if (params.alpha > 0.0) {
    var own_logits = 0.0;
    for (var v = thread; v < params.vocab_size; v += THREADS) {
      own_logits += logits[base + v];
    }
    logits_sum = workgroup_sum(thread, own_logits);
  }
  let lse = row_max + log(denominator);
  let uniform_share = params.alpha / f32(params.vocab_size);
  if (thread == 0u) {
    let cross_entropy = lse - (1.0 - params.alpha) * logits[base + answer] - uniform_share * logits_sum;
    losses[row] = cross_entropy + params.beta * lse * lse;
  }
  // Thread 0 has just read the answer's logit, which another thread is about to overwrite.
  storageBarrier();
  let scale = 1.0 / denominator;
  let z_factor = 1.0 + 2.0 * params.beta * lse;
  for (var v = thread; v < params.vocab_size; v += THREADS) {
    let p = exp(logits[base + v] - row_max) * scale;
    let wanted = select(0.0, 1.0 - params.alpha, v == answer) + uniform_share;
    logits[base + v] = (p * z_factor - wanted) * params.inv_norm;
  }
}
