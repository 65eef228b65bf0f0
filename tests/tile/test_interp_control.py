"""The specification interpreter on control flow, extents known only at run time, and reductions of special values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tile.build import Builder, dim
from tilec.tile import interp
from tilec.tile.interp import run
from tilec.tile.verify import verify
from tilec.types import DType, Extent, Opaque

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL
INF, NAN = np.inf, np.nan


def check(kernel, tensors, dims=None, lanes=(1, 1 << 20)):
    """The results, which do not depend on how many blocks are evaluated together."""
    verify(kernel)
    results = []
    for count in lanes:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(interp, "_LANES_AT_ONCE", count)
            results.append(run(kernel, tensors, {}, dims or {}))
    for result in results[1:]:
        for name, array in result.items():
            np.testing.assert_array_equal(array, results[0][name])
    return results[0]


def test_branches_differ_between_blocks():
    b = Builder()
    b.tensor("Out", I32, [6], "out")
    x = b.block()

    def then():
        return (b.op("mul", x, 100), b.const(1.0))

    def otherwise():
        b.store("Out", b.op("neg", x), b.point(x))
        return (b.op("add", x, 0), b.const(2.0))

    is_even = b.op("eq", b.op("rem", x, 2), 0)
    value, kind = b.branch(is_even, then, otherwise)

    def store():
        b.store("Out", b.op("add", value, b.op("i32", kind)), b.point(x))

    b.branch(is_even, store, lambda: ())
    actual = check(b.kernel((6, 1, 1)), {})["Out"]
    np.testing.assert_array_equal(actual, [1, -1, 201, -3, 401, -5])


def test_loops_run_a_different_number_of_rounds_in_each_block():
    b = Builder()
    b.tensor("Out", I32, [7, 3], "out")
    x = b.block()
    zero = b.broadcast(b.const(0), (3,))
    lanes = b.iota(0, (3,))
    (total,) = b.loop(1, b.op("add", x, 1), 2, [zero], lambda i, acc: (b.op("add", acc, b.op("add", i, lanes)),))
    b.store("Out", total, b.point(x), b.span(0, 3))
    expected = [[sum(i + lane for i in range(1, block + 1, 2)) for lane in range(3)] for block in range(7)]
    np.testing.assert_array_equal(check(b.kernel((7, 1, 1)), {})["Out"], expected)


def test_a_flag_ends_a_loop():
    b = Builder()
    b.tensor("Out", I32, [5], "out")
    x = b.block()

    def body(i, total, is_done):
        total = b.op("add", total, i)
        return total, b.op("ge", total, b.op("mul", x, 3))

    total, _ = b.loop(0, 100, 1, [b.const(0), b.const(False)], body, until=1)
    b.store("Out", total, b.point(x))
    expected = []
    for block in range(5):
        total = 0
        for i in range(100):
            total += i
            if total >= 3 * block:
                break
        expected.append(total)
    np.testing.assert_array_equal(check(b.kernel((5, 1, 1)), {})["Out"], expected)


def test_while_halves_and_stops_at_its_bound():
    b = Builder()
    b.tensor("Out", I32, [9], "out")
    x = b.block()
    start = b.op("mul", x, 5)
    _, rounds = b.repeat(
        [start, b.const(0)],
        lambda n, rounds: b.op("gt", n, 0),
        lambda n, rounds: (b.op("div", n, 2), b.op("add", rounds, 1)),
        bound=4,
    )
    b.store("Out", rounds, b.point(x))
    expected = [min(4, (5 * block).bit_length()) for block in range(9)]
    np.testing.assert_array_equal(check(b.kernel((9, 1, 1)), {})["Out"], expected)


def test_stores_in_a_loop_are_in_order():
    b = Builder()
    b.tensor("A", F32, [4], "inout")

    def body(i):
        b.store("A", b.load("A", b.point(i)), b.point(b.op("add", i, 1)))

    b.loop(0, 3, 1, [], body)
    a = np.array([7, 1, 2, 3], np.float32)
    np.testing.assert_array_equal(check(b.kernel(), {"A": a})["A"], [7, 7, 7, 7])


def test_an_extent_may_depend_on_the_block():
    """Block b sums the first b elements: the tile's extent is a run-time scalar; a negative one counts as 0."""
    b = Builder()
    b.tensor("A", F32, ["N"])
    b.tensor("Out", F32, [6], "out")
    count = b.op("sub", b.op("mul", b.block(), 2), 3)
    x = b.load("A", b.span(0, Extent.of(Opaque(count.number, count))))
    b.store("Out", b.reduce("sum", x, (0,), keeps_axes=False), b.point(b.block()))
    a = np.arange(1, 11, dtype=np.float32)
    expected = [a[: max(0, 2 * block - 3)].sum() for block in range(6)]
    np.testing.assert_array_equal(check(b.kernel((6, 1, 1)), {"A": a}, {"N": 10})["Out"], expected)


# --- reductions ----------------------------------------------------------------------------------------------

ROWS = np.array(
    [
        [1, 2, 3],
        [3, 3, 1],
        [NAN, 5, 1],
        [1, NAN, NAN],
        [INF, 0, 1],
        [-INF, -INF, -INF],
        [-INF, 2, -INF],
        [INF, -INF, 0],
        [INF, NAN, 0],
        [1e4, 1e4, -1e4],
        [3e38, 3e38, 3e38],
    ],
    np.float32,
)


def reduced(*names):
    b = Builder()
    height = len(ROWS)
    b.tensor("A", F32, [height, 3])
    x = b.load("A", b.span(0, height), b.span(0, 3))
    for name in names:
        result = b.logsumexp(x) if name == "logsumexp" else b.reduce(name, x)
        b.tensor(name, result.type.dtype, [height], "out")
        b.store(name, b.view(result, (0,)), b.span(0, height))
    return check(b.kernel(), {"A": ROWS})


def test_special_values_in_reductions_are_numpys():
    actual = reduced("sum", "max", "min", "argmax", "argmin", "prod")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(actual["sum"], ROWS.sum(axis=1, dtype=np.float64).astype(np.float32))
        np.testing.assert_array_equal(actual["prod"], ROWS.prod(axis=1, dtype=np.float64).astype(np.float32))
    np.testing.assert_array_equal(actual["max"], ROWS.max(axis=1))
    np.testing.assert_array_equal(actual["min"], ROWS.min(axis=1))
    np.testing.assert_array_equal(actual["argmax"], ROWS.argmax(axis=1))
    np.testing.assert_array_equal(actual["argmin"], ROWS.argmin(axis=1))


def test_logsumexp_of_special_values():
    actual = reduced("logsumexp")["logsumexp"]
    finite = [3 + np.log(1 + np.exp(-1) + np.exp(-2)), 3 + np.log(2 + np.exp(-2))]
    expected = [*finite, NAN, NAN, INF, -INF, 2, INF, NAN, 1e4 + np.log(2), 3e38]
    np.testing.assert_allclose(actual, np.array(expected, np.float32), rtol=1e-7)


@settings(max_examples=40)
@given(data=st.data(), dtype=st.sampled_from([F32, I32, U32, BOOL]), keeps=st.booleans())
def test_reductions_over_any_axes_and_activity(data, dtype, keeps):
    shape = data.draw(st.tuples(*[st.integers(1, 4)] * 3))
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, 2), min_size=1))))
    start = data.draw(st.integers(-2, 3))
    names = {F32: ("sum", "max", "argmin", "rest"), I32: ("sum", "min", "argmax", "prod"), BOOL: ("any", "all", "sum")}
    numpy_dtype = {F32: np.float32, I32: np.int32, U32: np.uint32, BOOL: np.bool_}[dtype]
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    a = rng.integers(0, 5, shape).astype(numpy_dtype)
    b = Builder()
    b.tensor("A", dtype, list(shape))
    spans = [b.span(0, shape[0]), b.span(start, 3), b.span(0, shape[2])]
    x = b.load("A", *spans, starts=(0, start, 0))
    kept = [4 if axis == 1 else shape[axis] for axis in range(3) if axis not in axes]
    for name in names.get(dtype, ("sum", "max", "argmax")):
        result = b.reduce(name, x, axes, keeps)
        if keeps:
            result = b.view(result, tuple(axis for axis in range(3) if axis not in axes))
        dims = [3 if axis == 1 else shape[axis] for axis in range(3) if axis not in axes] or [1]
        b.tensor(name, result.type.dtype, dims, "out")
        b.store(name, result, *([b.span(0, extent) for extent in dims] if kept else [b.point(0)]))
    actual = check(b.kernel(), {"A": a}, lanes=(1 << 20,))
    lanes = [j for j in range(3) if 0 <= start + j < shape[1]]
    for name, result in actual.items():
        for place in np.ndindex(*result.shape):
            index = iter(place)
            fixed = {axis: next(index) for axis in range(3) if axis not in axes}
            if 1 in fixed and fixed[1] not in lanes:
                assert not result[place]
                continue
            values, numbers = [], []
            ranges = [[fixed[axis]] if axis in fixed else range(3 if axis == 1 else shape[axis]) for axis in range(3)]
            for number, (i, j, k) in enumerate((i, j, k) for i in ranges[0] for j in ranges[1] for k in ranges[2]):
                if j in lanes:
                    values.append(a[i, start + j, k])
                    numbers.append(number)
            assert result[place] == pytest.approx(expected_of(name, values, numbers, dtype), rel=1e-6)


def expected_of(name, values, numbers, dtype):
    if not values:
        lowest = {F32: -INF, I32: -(2**31), U32: 0}
        highest = {F32: INF, I32: 2**31 - 1, U32: 2**32 - 1}
        none = {"max": lowest, "min": highest}
        return none[name][dtype] if name in none else {"prod": 1, "all": True}.get(name, 0)
    array = np.array(values)
    match name:
        case "argmax" | "argmin":
            return numbers[getattr(array, name)()]
        case "rest":
            wide = array.astype(np.float64)
            return np.log(np.exp(wide - wide.max()).sum())
        case "prod":
            exact = int(np.prod(array.astype(object)))
            return (exact + 2**31) % 2**32 - 2**31
        case _:
            return getattr(array, name)()


def test_sums_of_integers_wrap():
    b = Builder()
    b.tensor("A", I32, ["N"])
    b.tensor("Out", I32, [1], "out")
    b.store("Out", b.reduce("sum", b.load("A", b.span(0, dim("N"))), (0,), keeps_axes=False), b.point(0))
    a = np.full(3, 2**31 - 1, np.int32)
    np.testing.assert_array_equal(check(b.kernel(), {"A": a}, {"N": 3})["Out"], [2**31 - 3])


def test_a_long_sum_is_rounded_once():
    b = Builder()
    b.tensor("A", F32, ["N"])
    b.tensor("Out", F32, [1], "out")
    b.store("Out", b.reduce("sum", b.load("A", b.span(0, dim("N"))), (0,), keeps_axes=False), b.point(0))
    a = np.random.default_rng(0).normal(size=300_000).astype(np.float32)
    expected = np.float32(a.astype(np.float64).sum())
    assert check(b.kernel(), {"A": a}, {"N": len(a)})["Out"][0] == expected
