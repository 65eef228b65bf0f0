"""Asserts and prints tell the same under every execution: of scalars and tiles, in branches, loops and functions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.debug.harness import Case, build, derive, told
from tests.diff import backends

LAVAPIPE = backends.DEVICE_NAMES[0]


def ramp(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)


def test_a_scalar_on_a_device():
    body = 'let s = sum(A[:]); assert s < 5.0, "large"; B[:] = s'
    kernel = build(f"kernel k(A: tensor<f32>[N], B: tensor<f32>[N]) {{ {body} }}")
    assert told(Case(kernel, {"A": ramp(3)}).check([LAVAPIPE]), "assert") == []
    assert told(Case(kernel, {"A": ramp(4)}).check([LAVAPIPE]), "assert") == [("large", 0, [], [6.0])]


TILES = """
kernel k(A: tensor<f32>[M, V], T: tensor<i32>[M], B: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  let x = A[r :+ 4, :]
  let t = T[r :+ 4, new]
  assert t < V, "no column"
  assert x < 50.0 || t == 3, "too large"
  print("t", t)
  print(x)
  B[r :+ 4, new] = rowsum(x)
}
"""


def test_tiles():
    arrays = {"A": ramp(10, 6), "T": np.array([0, 9, 1, 2, 3, 6, 1, 7, 3, 1], np.int32)}
    log = Case(build(TILES), arrays).check([LAVAPIPE])
    assert told(log, "assert") == [
        ("no column", 0, [1, 0], [9, 6]),
        ("no column", 1, [1, 0], [6, 6]),
        ("no column", 1, [3, 0], [7, 6]),
        *(("too large", 2, [1, c], [54.0 + c, 1]) for c in range(6)),
    ]
    prints = told(log, "print")
    assert prints[:5] == [("t", 0, [r, 0], [t]) for r, t in enumerate([0, 9, 1, 2])] + [("x", 0, [0, 0], [0.0])]
    assert len(prints) == 70


def test_ragged_ends_tell_nothing():
    log = Case(build(TILES), {"A": ramp(1, 3), "T": np.zeros(1, np.int32)}).check()
    assert told(log, "print") == [("t", 0, [0, 0], [0]), *(("x", 0, [0, c], [float(c)]) for c in range(3))]


SHAPES = """
kernel k(A: tensor<f32>[P, Q, R, S], B: tensor<f32>[P, Q, R, S]) {
  let p = ctx.block.x * 2
  let q = ctx.block.y
  let x = A[p :+ 2, q :+ 1, :, 1 :]
  assert x != 17.0, "seventeen"
  print(x - 1.0 :SHAPE:)
  B[p :+ 2, q :+ 1, :, 1 :] = x
}
"""


def test_four_axes_and_a_grid_of_two():
    arrays = {"A": ramp(3, 2, 2, 4)}
    log = Case(build(SHAPES.replace(" :SHAPE:", "")), arrays).check([LAVAPIPE])
    assert told(log, "assert") == [("seventeen", 0, [1, 0, 0, 0], [17.0])]
    found = told(log, "print")
    assert [one[1] for one in found] == [0] * 12 + [1] * 6 + [2] * 12 + [3] * 6
    assert found[12] == ("x - 1.0", 1, [0, 0, 0, 0], [32.0])


CONTROL = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[N], stop: i32) {
  var total = 0.0
  for i in range(0, N, 2) {
    print("i", i)
    if i == stop {
      print("left", i)
      break
    }
    var j = 0
    while f32(j) < A[i] {
      j += 1
      assert j < 3, "many rounds"
      print("j", j)
    }
    total += A[i]
    print(total)
  }
  print("end", total)
  B[:] = total
}
"""


@pytest.mark.parametrize("stop", [-1, 4])
def test_loops_and_branches_in_order(stop):
    log = Case(build(CONTROL), {"A": np.array([1, 0, 3, 0, 2], np.float32)}, stop=stop).check([LAVAPIPE])
    lines = [(text, values[0]) for text, _, _, values in told(log, "print")]
    expected = [("i", 0), ("j", 1), ("total", 1.0), ("i", 2), ("j", 1), ("j", 2), ("j", 3), ("total", 4.0), ("i", 4)]
    expected += [("left", 4), ("end", 4.0)] if stop == 4 else [("j", 1), ("j", 2), ("total", 6.0), ("end", 6.0)]
    assert lines == expected
    assert told(log, "assert") == [("many rounds", 0, [], [3])]


def test_what_stands_behind_a_loop_of_tiles_comes_behind_it():
    """The planner makes several dispatches or phases of such a kernel."""
    text = """
    kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M]) {
      var top: tile<f32>[M, 1] = -inf
      for c in range(0, V, 2) {
        top = max(top, rowmax(A[:, c :+ 2]))
        print("top", top)
      }
      B[:, new] = top
      print("B", B[:])
    }
    """
    log = Case(build(text), {"A": ramp(2, 3)}).check([LAVAPIPE])
    assert [(text, values[0]) for text, _, _, values in told(log, "print")] == [
        ("top", 1.0), ("top", 4.0), ("top", 2.0), ("top", 5.0), ("B", 2.0), ("B", 5.0),
    ]  # fmt: skip


def test_a_print_shows_the_value_before_a_later_store():
    text = """
    kernel k(A: tensor<f32>[M, V]) {
      let x = A[:, :]
      print("old", x)
      A[:, :] = x * 2.0
      print("new", A[:, :])
    }
    """
    log = Case(build(text), {"A": ramp(2, 2)}).check([LAVAPIPE])
    assert [values[0] for *_, values in told(log, "print")] == [0.0, 1.0, 2.0, 3.0, 0.0, 2.0, 4.0, 6.0]


def test_storage_types():
    import ml_dtypes

    text = """
    kernel k(H: tensor<f16>[N], W: tensor<bf16>[N], C: tensor<i8>[N], U: tensor<u32>[N], F: tensor<bool>[N],
             O: tensor<f16>[N]) {
      print(H[:])
      print(W[:])
      print(C[:])
      print(U[:])
      print(F[:])
      assert F[:] || U[:] < 4000000000, "bits"
      O[:] = H[:]
    }
    """
    arrays = {
        "H": np.array([0.5, -np.inf, 65504], np.float16),
        "W": np.array([1, 3e38, np.nan], ml_dtypes.bfloat16),
        "C": np.array([-128, 0, 127], np.int8),
        "U": np.array([0, 4294967295, 4000000000], np.uint32),
        "F": np.array([True, True, False]),
    }
    log = Case(build(text), arrays).check([LAVAPIPE])
    values = [values[0] for *_, values in told(log, "print")]
    assert values[:5] == [0.5, -np.inf, 65504.0, 1.0, float(arrays["W"][1])]
    assert np.isnan(values[5])
    assert values[6:] == [-128, 0, 127, 0, 4294967295, 4000000000, True, True, False]
    assert told(log, "assert") == [("bits", 0, [2], [])]


GUARDED = """
fn picked(x, t) {
  assert t >= 0 && t < extent(x, 1), "no class"
  return pick(x, t)
}

kernel k(A: tensor<f32>[M, V], T: tensor<i32>[M], B: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  let t = T[r :+ 4, new]
  let x = A[r :+ 4, :]
  B[r :+ 4, new] = where(t == -7, 0.0, where(t < 100, picked(x, t), picked(x, t - 100)))
}
"""


def test_asserts_in_a_side_of_where_count_where_it_is_taken():
    arrays = {"A": ramp(6, 3), "T": np.array([-7, 2, 3, 102, 103, -1], np.int32)}
    log = Case(build(GUARDED), arrays).check([LAVAPIPE])
    assert told(log, "assert") == [
        ("no class", 0, [2, 0], [3]), ("no class", 1, [1, 0], [-1]), ("no class", 1, [0, 0], [3]),
    ]  # fmt: skip


def test_a_guard_of_more_columns_and_a_known_one():
    text = """
    fn checked(s) {
      assert s < 10.0, "large"
      return s
    }
    kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
      let r = ctx.block.x * 2
      let x = A[r :+ 2, :]
      let y = where(x > 14.0, checked(rowsum(x)), 0.0)
      B[r :+ 2, :] = y + where(V < 0, checked(x), 0.0) + where(true, 0.0, checked(x))
    }
    """
    log = Case(build(text), {"A": ramp(4, 4)}).check()
    assert told(log, "assert") == [("large", 1, [1, 0], [54.0])]


GRADIENT = """
kernel k(A: tensor<f32>[M, V], L: tensor<f32>[M], c: i32 = 1) {
  let r = ctx.block.x * 2
  let x = A[r :+ 2, :]
  var y = x
  if c > 0 {
    y = x * 2.0
    assert y < 12.0, "large"
  } else {
    assert false, "never"
  }
  for i in range(0, 2) {
    y = y * 1.5
    print("i", i)
    if c > i {
      assert rowsum(y) < 50.0, "sum"
    }
  }
  L[r :+ 2, new] = rowsum(square(y))
  :LAST:
}
"""


@pytest.mark.parametrize("how", ["none", "inside", "derived"])
def test_gradients_tell_once_and_are_right(how):
    """Branches and loops are written out for a gradient; what they tell stays."""
    text = GRADIENT.replace(":LAST:", "A[r :+ 2, :] = grad(rowsum(square(y)), x)" if how == "inside" else "")
    kernel = derive(text, ["A"], upstream="scalar") if how == "derived" else build(text)
    log = Case(kernel, {"A": ramp(3, 3)}).check([LAVAPIPE])
    assert [values[0] for *_, values in told(log, "print")] == [0, 1, 0, 1]
    large = [("large", 1, [0, 0], [12.0]), ("large", 1, [0, 1], [14.0]), ("large", 1, [0, 2], [16.0])]
    assert told(log, "assert") == [*large, ("sum", 1, [0, 0], [])]


def test_derived_in_place():
    text = """
    kernel k(A: tensor<f32>[M, V], T: tensor<i32>[M], L: tensor<f32>[M]) {
      let r = ctx.block.x * 2
      let t = T[r :+ 2, new]
      assert t < V, "no class"
      L[r :+ 2, new] = cross_entropy(A[r :+ 2, :], t)
    }
    """
    kernel = derive(text, ["A"], in_place=True)
    arrays = {"A": ramp(3, 4), "T": np.array([0, 4, 1], np.int32), "DL": np.ones(3, np.float32)}
    arrays = {name: arrays[name] for name in arrays if any(t.name == name for t in kernel.tensors)}
    arrays |= {t.name: np.ones(3, np.float32) for t in kernel.tensors if t.access == "in" and t.name not in arrays}
    log = Case(kernel, arrays).check([LAVAPIPE])
    assert ("no class", 0, [1, 0], [4, 4]) in told(log, "assert")


def test_long_sweeps_of_one_block():
    """Shared by many workgroups, with partial results in scratch memory."""
    text = """
    kernel k(A: tensor<f32>[N], B: tensor<f32>[1]) {
      let x = A[:]
      assert x != 7.0, "seven"
      let s = sum(x)
      assert s < 0.0, "sum"
      B[0] = s
    }
    """
    values = np.ones(20_000, np.float32)
    values[[3, 19_999]] = 7
    log = Case(build(text), {"A": values}).check([LAVAPIPE])
    assert told(log, "assert") == [
        ("seven", 0, [3], [7.0]), ("seven", 0, [19_999], [7.0]), ("sum", 0, [], [20_012.0]),
    ]  # fmt: skip


@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_a_while_that_its_bound_ends(first):
    text = """
    @bound(3)
    kernel k(A: tensor<f32>[M], B: tensor<f32>[M], last: i32) {
      let r = ctx.block.x
      var i = 0
      while i < last && A[r] >= 0.0 {
        i += 1
      }
      B[r] = f32(i)
    }
    """
    log = Case(build(text), {"A": np.array([0, -1, 2], np.float32)}, last=first + 1).check([LAVAPIPE])
    assert [block for _, block, _, _ in told(log, "bound")] == ([0, 2] if first + 1 > 3 else [])


def test_asserts_in_a_while_condition():
    text = """
    fn checked(i) {
      assert i < 2, "two"
      return i
    }
    @bound(3)
    kernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {
      var i = 0
      while f32(checked(i)) < A[ctx.block.x] {
        i += 1
      }
      B[ctx.block.x] = f32(i)
    }
    """
    log = Case(build(text), {"A": np.array([0, 9, 2, -1, 1], np.float32)}).check([LAVAPIPE])
    assert told(log, "assert") == [("two", 1, [], [2]), ("two", 2, [], [2])]
    assert [block for _, block, _, _ in told(log, "bound")] == [1]


def test_a_print_tells_of_the_first_active_lanes():
    text = """
    kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V]) {
      let r = ctx.block.x * 4
      let x = A[r - 2 :+ 4, 3 :+ V]
      print(x)
      B[r :+ 4, :] = A[r :+ 4, :]
    }
    """
    log = Case(build(text), {"A": ramp(8, 300)}).check([LAVAPIPE])
    found = told(log, "print")
    assert [one[2] for one in found] == [[2, c] for c in range(297)] + [[3, c] for c in range(215)]
    assert list(log.lanes.values()) == [512 + 512]
    assert log.of_kind("print")[0].values == (3.0, 2 * 297)
