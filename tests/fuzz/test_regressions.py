"""Programs that an execution once got wrong, as small as they shrank: each is right on all of them now."""

from __future__ import annotations

import pytest

from tests.fuzz.replay import replay

PROGRAMS = {
    # Only block 0's element arrived: neighbours share a word.
    "a_packed_element_a_block_beside_a_tile": ("""
kernel run(X: tensor<f16>[ceildiv(M, 8)], A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  X[ctx.block.x] = -0.5
  B[r :+ 8, :] = A[r :+ 8, :]
}
""", {"M": 127, "V": 1}),
    # The naive plan had no value for the variable before the loop.
    "a_loaded_variable_changed_in_a_loop_in_a_branch": ("""
kernel run(W: tensor<f16>[V], Y: tensor<f32>[V]) {
  let r = ctx.block.x * 1
  var acc1: tile<f32>[1] = W[r :+ 1]
  if ctx.block.x % 2 == 0 {
    for i3 in range(-1, 5) {
      acc1 += acc1
    }
  }
  Y[r :+ 1] = acc1
}
""", {"V": 15}),
    # A race in the naive plan: all threads read the slot that thread 0 writes.
    "a_carried_tile_of_one_element": ("""
kernel run(filter: tensor<f16>[V], W: tensor<f16>[V]) {
  let r = ctx.block.x
  var acc1 = filter[r :+ 1]
  for i3 in range(1, 4) {
    acc1 -= acc1
    W[r :+ 1] = acc1
  }
}
""", {"V": 15}),
    # Loops that end early: a uniform load, and a barrier, in control flow that was not uniform.
    "a_break_on_a_parameter": ("""
kernel run(X: tensor<f32>[M, V], out: tensor<i32>[M, V], enable0: bool = true) {
  let r = ctx.block.x * 8
  for i3 in range(1, 3) {
    if enable0 {
      break
    }
    out[r :+ 8, :] = i32(X[r :+ 8, :])
  }
}
""", {"M": 65, "V": 5}),
    "a_break_without_a_condition": ("""
kernel run(out: tensor<f16>[V], ref: tensor<f32>[M, V]) {
  let r = ctx.block.x * 3
  var acc3 = out[new, :]
  for i4 in range(0, V) {
    acc3 -= 0.5
    break
  }
  ref[r :+ 3, :] = acc3
}
""", {"M": 32, "V": 130}),
    "a_break_after_a_reduction": ("""
kernel run(W: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  var acc1 = W[r :+ 4, :]
  for i2 in range(0, 5) {
    acc1 -= softmin(acc1)
    break
  }
  Y[r :+ 4, :] = acc1
}
""", {"M": 10, "V": 17}),
    # Lowering had no code for the reduction that the loop's condition needs.
    "a_while_on_a_reduced_value": ("""
kernel run(X: tensor<f16>[M], filter: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  var acc1 = mean(filter[r :+ 8, :]) * 0.5
  var n2 = 0
  while n2 < 2 && isinf(acc1) {
    n2 += 1
    acc1 -= argmax(log_softmax(filter[r :+ 8, :]))
    X[r :+ 8, new] += amax(filter[r :+ 8, :])
  }
}
""", {"M": 7, "V": 300}),
    # A driver gives arrays of bools in workgroup memory too little room.
    "bools_combined_over_lanes": ("""
kernel run(X: tensor<bool>[M, V], Y: tensor<i32>[M, 2]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, 0 :+ 1] = i32(rowall(X[r :+ 4, :]))
  Y[r :+ 4, 1 :+ 1] = i32(rowany(X[r :+ 4, :]))
}
""", {"M": 33, "V": 65}),
    # The second store of one sweep came first, since the first has a mask.
    "a_store_over_a_ragged_store": ("""
kernel run(filter: tensor<f32>[M, V], target: tensor<u32>[M, V], W: tensor<f16>[M, V], out: tensor<bool>[M, V]) {
  filter[:, :] = f32(target[:, :])
  out[:, :] = 0.5 < W[1 :+ M, :]
  out[:, :] = true < 2
}
""", {"M": 100, "V": 5}),
    # Another dispatch read the counter from a slot that nothing had been written to.
    "a_counter_stored_behind_a_loop_inside_jobs": ("""
kernel run(X: tensor<f32>[M, V], W: tensor<f32>[M, V], R: tensor<i32>[1]) {
  var acc1: tile<f32>[M, V] = 0.0
  var n2 = 0
  while n2 < 2 {
    n2 += 1
    acc1 -= rowsum(X[:, :])
  }
  R[0] = n2
  W[:, :] = acc1
}
""", {"M": 3, "V": 4}),
    # Two iotas that meet only each other.
    "an_iota_of_each_axis": ("""
kernel run(Y: tensor<i32>[M, V]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, :] = iota(0, 4) * 3 + iota(1, V)
}
""", {"M": 5, "V": 70}),
    # In shared sweeps a value was read from its slot before it was published there.
    "a_value_kept_behind_a_shared_sweep": ("""
kernel run(X: tensor<f32>[B, V], W: tensor<bf16>[B, M, V]) {
  let r = ctx.block.x * 3
  let b = ctx.block.y * 8
  X[r :+ 3, new, b :+ 8] += mean(W[r :+ 3, :, b :+ 8], axis: 1)
  X[r :+ 3, new, b :+ 8] = X[r :+ 3, new, b :+ 8]
}
""", {"B": 1, "M": 17, "V": 65}),
    # The one element counted eight times, as if it were a whole granule of the rows beside it.
    "a_mean_of_one_element_beside_whole_words": ("""
kernel run(Y: tensor<f32>[M, 1], X: tensor<u32>[M, V], Z: tensor<bf16>[M, V]) {
  let r = ctx.block.x * 4
  for c in range(0, V) {
    Y[r :+ 4, :] = mean(X[r :+ 4, c :+ 1], axis: 1)
  }
  Z[r :+ 4, :] = i32(X[r :+ 4, :])
}
""", {"M": 17, "V": 8}),
    "a_product_of_logsumexps_of_one_element_beside_whole_words": ("""
kernel run(X: tensor<bf16>[M, V], Y: tensor<bf16>[M, 1], Z: tensor<f16>[M, V]) {
  let r = ctx.block.x * 4
  for c in range(0, V) {
    Y[r :+ 4, 0 :+ 1] *= logsumexp(X[r :+ 4, c :+ 1])
  }
  Z[r :+ 4, :] = 0.0
}
""", {"M": 16, "V": 8}),
    # The row of X was taken for one that moves with those of Y, and its vectors read before its beginning.
    "one_row_beside_rows_in_turn": ("""
kernel run(X: tensor<f16>[1, V], Y: tensor<f32>[M, V]) {
  Y[:, :] = X[:, :]
}
""", {"M": 15, "V": 127}),
    "the_first_row_of_a_block_beside_rows_in_turn": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, :] = Y[r :+ 4, :] + X[r, :][new, :]
}
""", {"M": 15, "V": 127}),
    # The variable began with what was stored behind the read of its first value.
    "a_variable_read_before_a_store_and_carried_behind_it": ("""
kernel run(X: tensor<i32>[M, V], Y: tensor<i32>[M, V]) {
  let r = ctx.block.x * 3
  let c = ctx.block.y * 16
  X[r :+ 3, c :+ 16] = -X[r :+ 3, c :+ 16]
  var sum = X[r :+ 3, c :+ 16]
  for i in range(1, 3) {
    Y[r :+ 3, c :+ 16] = sum
    sum = sum * 3 + X[r :+ 3, c :+ 16]
  }
}
""", {"M": 5, "V": 64}),
    "a_variable_that_a_branch_overwrites_before_its_loop": ("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  let r = ctx.block.x * 3
  var sum = X[r :+ 3, :] * 2.0
  if ctx.block.x % 2 == 0 {
    X[r :+ 3, :] = 1.0
  }
  for i in range(0, 2) {
    sum = sum * 0.5 + Y[r :+ 3, :]
  }
  Y[r :+ 3, :] = sum
}
""", {"M": 7, "V": 20}),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_right_everywhere(name: str):
    text, dims = PROGRAMS[name]
    replay(text, dims=dims)
