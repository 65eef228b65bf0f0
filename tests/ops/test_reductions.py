"""What reductions mean, against NumPy's own functions and against what the language says of no lane.

The interpreters and the code take identities from the same rows, so comparing those with each other does not see them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import tilec
from tilec.ops.reduce import REDUCTIONS
from tilec.ops.reference import NUMPY_DTYPES, reduce
from tilec.types import DType

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL

OF_NO_LANE = {
    ("sum", F32): 0.0, ("sum", I32): 0, ("sum", U32): 0,
    ("prod", F32): 1.0, ("prod", I32): 1, ("prod", U32): 1,
    ("max", F32): -math.inf, ("max", I32): -(2**31), ("max", U32): 0,
    ("min", F32): math.inf, ("min", I32): 2**31 - 1, ("min", U32): 2**32 - 1,
    ("any", BOOL): False, ("all", BOOL): True,
    ("argmax", F32): 0, ("argmax", I32): 0, ("argmax", U32): 0,
    ("argmin", F32): 0, ("argmin", I32): 0, ("argmin", U32): 0,
    ("rest", F32): 0.0,
}  # fmt: skip
NUMPY = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "any": np.any, "all": np.all,
    "argmax": np.argmax, "argmin": np.argmin,
    "rest": lambda x: np.log(np.sum(np.exp(x.astype(np.float64) - x.max()))),
}  # fmt: skip


def test_every_row_is_here() -> None:
    assert {(row.name, dtype) for row in REDUCTIONS.values() for dtype in row.identity} == set(OF_NO_LANE)
    assert set(NUMPY) == set(REDUCTIONS)


@pytest.mark.parametrize(("op", "dtype"), OF_NO_LANE, ids=str)
def test_of_no_lane(op: str, dtype: DType) -> None:
    assert REDUCTIONS[op].identity[dtype] == OF_NO_LANE[op, dtype]
    array = np.ones((2, 3), NUMPY_DTYPES[dtype])
    result = reduce(op, array, np.zeros((1, 3), np.bool_), (1,))
    assert result.tolist() == [[OF_NO_LANE[op, dtype]]] * 2
    assert reduce(op, array[:, :0], np.ones((1, 1), np.bool_), (1,)).tolist() == result.tolist()


@pytest.mark.parametrize(("op", "dtype"), OF_NO_LANE, ids=str)
@pytest.mark.parametrize("shift", [-40, 0, 40])
def test_of_the_active_lanes(op: str, dtype: DType, shift: int) -> None:
    """Only lanes 2 to 5 count; the others hold what would win."""
    rng = np.random.default_rng(shift + 41)
    if dtype is BOOL:
        lanes = rng.random((20, 7)) < 0.5
    else:
        lanes = (rng.integers(1, 9, (20, 7)) + (0 if op == "prod" else max(shift, 0) if dtype is U32 else shift))
    inside = np.zeros(7, np.bool_)
    inside[2:6] = True
    lanes = lanes.astype(NUMPY_DTYPES[dtype])
    expected = [NUMPY[op](row[2:6]) - 0 if dtype is not BOOL else NUMPY[op](row[2:6]) for row in lanes]
    if op.startswith("arg"):
        expected = [place + 2 for place in expected]
    for outside in (0, 1, 99) if dtype is not BOOL else (False, True):
        lanes[:, ~inside] = outside
        got = reduce(op, lanes, inside[None], (1,))[:, 0]
        np.testing.assert_allclose(got.astype(np.float64), np.array(expected, np.float64), rtol=1e-6)


def test_sums_of_floats_are_rounded_once() -> None:
    """In f32 a term of 1 vanishes beside 2**24, whatever the order."""
    array = np.array([[2.0**24, 1, 1, 1, 1, 1, 1]], np.float32)
    everywhere = np.ones((1, 7), np.bool_)
    assert reduce("sum", array, everywhere, (1,)).tolist() == [[2.0**24 + 6]]
    array = np.array([[1e30, 1e30, 1e-30]], np.float32)
    assert reduce("prod", array, everywhere[:, :3], (1,)).tolist() == [[np.float32(1e30)]]


def test_a_nan_is_the_extreme_and_its_index_the_first_ones() -> None:
    """As in NumPy, and of the active lanes alone."""
    array = np.array([[np.nan, 3, 1, np.nan, 7, np.nan], [np.nan, 3, 1, 0, 7, 5]], np.float32)
    inside = np.array([[False, True, True, True, True, True]])
    for op, second in (("argmax", 4), ("argmin", 3)):
        assert reduce(op, array, inside, (1,)).tolist() == [[3], [second]]
        assert reduce(op, array, np.ones((1, 6), np.bool_), (1,)).tolist() == [[0], [0]]
    for op, second in (("max", 7.0), ("min", 0.0)):
        got = reduce(op, array, inside, (1,))
        assert np.isnan(got[0, 0])
        assert got[1, 0] == second


EXTREMES = """
kernel extremes(X: tensor<f32>[M, V], Y: tensor<f32>[M, 2]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, 0] = rowmax(X[r :+ 4, :])
  Y[r :+ 4, 1] = rowmin(X[r :+ 4, :])
}
"""


@pytest.mark.parametrize("columns", [3, 1000])
def test_a_nan_anywhere_in_a_row_is_its_extreme_on_a_device(device: tilec.Device, columns: int) -> None:
    """WGSL's own `max` and `min` may give the other operand: the rows must combine by ours."""
    array = np.linspace(-4, 5, 6 * columns, dtype=np.float32).reshape(6, columns)
    expected = np.stack([array.max(1), array.min(1)], 1)
    for row, column in ((1, 0), (2, columns - 1), (4, columns // 2)):
        array[row, column] = np.nan
        expected[row] = np.nan
    got = tilec.compile(source=EXTREMES).extremes(array, device=device).Y
    np.testing.assert_array_equal(got, expected)


OTHERS = """
kernel others(X: tensor<f32>[M, V], Y: tensor<f32>[M, 4]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  Y[r :+ 4, 0] = rowprod(x)
  Y[r :+ 4, 1] = f32(rowany(x > 1.0))
  Y[r :+ 4, 2] = f32(rowall(x > 0.0))
  Y[r :+ 4, 3] = rowsum(x)
}
"""


@pytest.mark.parametrize("columns", [1, 5, 600])
def test_rows_are_combined_by_what_the_reduction_is(lavapipe: tilec.Device, columns: int) -> None:
    """Rows of ones, in which some lanes decide."""
    array = np.ones((6, columns), np.float32)
    array[1, columns // 2] = 3
    array[2, -1] = -2
    array[3, 0] = 0
    array[4, :] = -1
    expected = np.stack([array.prod(1), (array > 1).any(1), (array > 0).all(1), array.sum(1)], 1)
    got = tilec.compile(source=OTHERS).others(array, device=lavapipe).Y
    np.testing.assert_array_equal(got, expected)
