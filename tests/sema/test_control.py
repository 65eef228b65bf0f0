"""`if`, `for`, `while`, jumps, and values carried through them."""

from __future__ import annotations

import numpy as np

from tests.sema.support import build, codes, run


def test_for_with_break_and_continue():
    text = """
kernel k(A: tensor<i32>[N], B: tensor<i32>[2], limit: i32) {
  var total = 0
  var rounds = 0
  for i in range(0, N) {
    rounds += 1
    if A[i] < 0 {
      continue
    }
    if A[i] > limit {
      break
    }
    total += A[i]
  }
  B[0] = total
  B[1] = rounds
}"""
    for values in ([1, -2, 3, 50, 7], [5], [], [-1, -1], [60, 1]):
        total = rounds = 0
        for value in values:
            rounds += 1
            if value < 0:
                continue
            if value > 10:
                break
            total += value
        got = run(text, {"A": np.array(values, np.int32)}, limit=10)["B"]
        np.testing.assert_array_equal(got, [total, rounds])


def test_return_leaves_all_loops_of_the_function_only():
    text = """
fn find(row, column, A, wanted) {
  row = -1
  column = -1
  for i in range(0, 3) {
    for j in range(0, 4) {
      if A[i, j] == wanted {
        row = i
        column = j
        return
      }
    }
  }
}
kernel k(A: tensor<i32>[3, 4], B: tensor<i32>[3], wanted: i32) {
  var row = 5
  var column = 5
  find(row, column, A, wanted)
  B[0] = row
  B[1] = column
  B[2] = 9
}"""
    table = np.arange(12, dtype=np.int32).reshape(3, 4) % 7
    for wanted in range(9):
        places = np.argwhere(table == wanted)
        expected = [*places[0], 9] if len(places) else [-1, -1, 9]
        np.testing.assert_array_equal(run(text, {"A": table}, wanted=wanted)["B"], expected)


def test_while_with_jumps():
    text = """
kernel k(A: tensor<i32>[2], n: i32) {
  var i = 0
  var sum = 0
  while i < n {
    i += 1
    if i % 2 == 0 {
      continue
    }
    if i > 9 {
      break
    }
    sum += i
  }
  A[0] = i
  A[1] = sum
}"""
    for n in (0, 1, 5, 30):
        i = total = 0
        while i < n:
            i += 1
            if i % 2 == 0:
                continue
            if i > 9:
                break
            total += i
        np.testing.assert_array_equal(run(text, {}, n=n)["A"], [i, total])


def test_while_ends_at_its_bound():
    text = """
@bound(7)
kernel k(A: tensor<i32>[1]) {
  var i = 0
  while true {
    i += 1
  }
  A[0] = i
}"""
    np.testing.assert_array_equal(run(text, {})["A"], [7])


def test_nested_branches_assign_tiles():
    text = """
kernel k(A: tensor<f32>[M], B: tensor<f32>[M], n: i32) {
  var x = A[:]
  if n > 0 {
    if n > 10 {
      x = x * 2.0
    } else if n > 5 {
      x += 1.0
    }
  } else {
    x = 0.0
  }
  B[:] = x
}"""
    a = np.array([1, 2], np.float32)
    for n, expected in ((20, a * 2), (7, a + 1), (3, a), (-1, a * 0)):
        np.testing.assert_array_equal(run(text, {"A": a}, n=n)["B"], expected)


def test_early_return_of_a_kernel():
    text = """
kernel k(A: tensor<i32>[2], n: i32) {
  A[0] = 1
  if n > 0 {
    return
  }
  A[1] = 1
}"""
    np.testing.assert_array_equal(run(text, {}, n=1)["A"], [1, 0])
    np.testing.assert_array_equal(run(text, {}, n=0)["A"], [1, 1])


def test_chunks_that_are_ragged_keep_what_the_first_ones_left():
    text = """
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 2
  var acc: tile<f32>[2, 4] = 0.0
  for c in range(0, V, 4) {
    acc += A[r :+ 2, c :+ 4]
  }
  B[r :+ 2, :] = rowsum(acc)
}"""
    a = np.arange(33, dtype=np.float32).reshape(3, 11)
    np.testing.assert_array_equal(run(text, {"A": a})["B"], a.sum(1, keepdims=True))


def test_a_vars_activity_is_that_of_its_declaration():
    text = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[1]) {
  var x = A[0 :+ 8]
  x = 1.0
  B[0] = sum(x)
}"""
    np.testing.assert_array_equal(run(text, {"A": np.zeros(5)})["B"], [5])


def test_loop_counters_are_values():
    text = """
kernel k(A: tensor<i32>[N], start: i32, stop: i32) {
  for i in range(start, stop, 3) {
    A[i] = i * i
  }
}"""
    expected = np.zeros(12, np.int32)
    expected[2:11:3] = np.arange(2, 11, 3) ** 2
    np.testing.assert_array_equal(run(text, {}, dims={"N": 12}, start=2, stop=11)["A"], expected)


def test_a_branch_on_a_constant_leaves_names_checked_but_no_code():
    text = """
const FAST = true
kernel k(A: tensor<f32>[M]) {
  if FAST {
    A[:] = 1.0
  } else {
    A[:] = missing
  }
}"""
    assert codes(text) == ["E0201"]
    kernel = build(text.replace("missing", "2.0"))
    assert not any(type(value).__name__ == "If" for value in kernel.body.body)


def test_faults_in_broken_control_flow_are_all_found():
    text = """
kernel k(A: tensor<f32>[M], n: i32) {
  if n {
    A[:] = A[0 :+ 3, :]
  }
  for i in range(0.5, M) {
    A[:] = i + 1 / M
  }
  while A[:] > 0.0 {
    A[:] = nothing
  }
}"""
    assert sorted(codes(text)) == ["E0201", "E0302", "E0304", "E0305", "E0314", "E0315"]
