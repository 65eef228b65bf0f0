from __future__ import annotations

import numpy as np
from hypothesis import given

from tests.passes.checks import assert_same, count, floats, outcome
from tests.tile.build import Builder, dim
from tilec.tile import ir
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.passes.merge_equal import merge_equal
from tilec.tile.verify import verify
from tilec.types import DType, Extent, Opaque

DIMS = {"N": 5}


def start(access="out"):
    b = Builder()
    b.tensor("X", DType.F32, ["N"], access="inout")
    b.tensor("Out", DType.F32, ["N"], access=access)
    return b


def load(b, tensor="X", start=0):
    return b.load(tensor, b.span(start, dim("N")), starts=[start])


def store(b, value, tensor="Out"):
    b.store(tensor, value, b.span(0, dim("N")))


def merged(b):
    before = b.kernel()
    after = drop_dead(merge_equal(before))
    return before, after


@given(x=floats(5))
def test_equal_expressions_merge(x):
    b = start()
    first = b.op("add", b.op("exp", load(b)), b.op("neg", load(b)))
    second = b.op("add", b.op("neg", load(b)), b.op("exp", load(b)))
    store(b, b.op("sub", first, second))
    before, after = merged(b)
    assert count(after, ir.Load) == count(after, ir.Pointwise, "exp") == count(after, ir.Pointwise, "add") == 1
    assert_same(before, after, {"X": x}, DIMS)
    assert merge_equal(after) is after


def test_operands_of_what_does_not_commute_keep_their_order():
    b = start()
    x = load(b)
    y = b.op("exp", x)
    store(b, b.op("mul", b.op("sub", x, y), b.op("sub", y, x)))
    _, after = merged(b)
    assert count(after, ir.Pointwise, "sub") == 2


def test_different_attributes_do_not_merge():
    b = start()
    x = load(b)
    shifted = load(b, start=1)
    zeros = b.op("add", b.const(0.0), b.op("mul", b.const(-0.0), x))
    ones = b.op("add", b.op("f32", b.const(1)), b.op("f32", b.const(True)))
    total = b.op("add", b.reduce("sum", x), b.reduce("max", x))
    store(b, b.op("add", b.op("add", x, b.op("add", zeros, ones)), b.op("add", shifted, total)))
    before, after = merged(b)
    assert count(before, ir.Pointwise) == count(after, ir.Pointwise)
    assert count(after, ir.Load) == count(after, ir.Reduce) == 2
    constants = {repr(value.value) for value in after.body.body if isinstance(value, ir.Const)}
    assert constants == {"0", "1", "0.0", "-0.0", "True"}


def test_a_column_and_a_row_of_one_element_do_not_merge():
    b = Builder()
    b.tensor("X", DType.F32, ["N", "N"])
    b.tensor("Out", DType.F32, ["N"], access="out")
    zero = b.const(0)
    column = b.load("X", b.span(zero, dim("N")), b.point(zero))
    row = b.load("X", b.point(zero), b.span(zero, dim("N")))
    b.store("Out", b.op("sub", column, row), b.span(zero, dim("N")))
    before, after = merged(b)
    assert count(after, ir.Load) == 2
    assert_same(before, after, {"X": np.arange(25, dtype=np.float32).reshape(5, 5)}, DIMS)


def test_lengths_and_stretches_that_differ_do_not_merge():
    b = Builder()
    b.tensor("X", DType.F32, ["N"])
    b.tensor("Out", DType.F32, ["N", "N"], access="out")
    rows = b.span(0, dim("N"))
    short, long = b.iota(1, (1, 3)), b.iota(1, (1, dim("N")))
    total = b.reduce("sum", short, (0, 1), keeps_axes=False)
    column = b.view(load(b), (0, None))
    wide, narrow = b.broadcast(column, (dim("N"), dim("N"))), b.broadcast(column, (dim("N"), 1))
    part = b.op("add", b.op("f32", b.op("add", long, total)), narrow)
    b.store("Out", b.op("add", part, b.reduce("sum", wide)), rows, rows)
    before, after = merged(b)
    assert count(after, ir.Iota) == count(after, ir.Broadcast) == 2
    x = np.arange(5, dtype=np.float32)
    assert_same(before, after, {"X": x}, DIMS)
    # 0 + 1 + 2 of the short one; a row's sum is five times its element, and once more itself.
    np.testing.assert_array_equal(outcome(after, {"X": x}, DIMS)["Out"], x + 3 + 6 * x[:, None])


def test_nan_is_one_constant():
    b = start()
    store(b, b.op("add", load(b), b.op("add", b.const(np.nan), b.const(np.nan))))
    _, after = merged(b)
    assert count(after, ir.Const) == 2  # NaN and the start of the spans


def test_a_store_between_keeps_loads_apart():
    b = start()
    first = load(b)
    store(b, b.op("add", first, 1.0), "X")
    store(b, b.op("add", load(b), first))
    before, after = merged(b)
    assert count(after, ir.Load) == 2
    assert_same(before, after, {"X": np.arange(5, dtype=np.float32)}, DIMS)


def test_a_store_to_another_tensor_does_not():
    b = start()
    store(b, b.op("add", load(b), 1.0))
    store(b, b.op("add", load(b), 2.0))
    before, after = merged(b)
    assert count(after, ir.Load) == 1
    assert_same(before, after, {"X": np.arange(5, dtype=np.float32)}, DIMS)


def test_an_earlier_round_of_a_loop_may_have_stored():
    b = start()
    first = load(b)

    def body(index, total):
        again = load(b)
        store(b, b.op("mul", again, 2.0), "X")
        return [b.op("add", total, again)]

    (total,) = b.loop(0, 3, 1, [first], body)
    store(b, b.op("add", total, load(b)))
    before, after = merged(b)
    assert count(after, ir.Load) == 3
    assert_same(before, after, {"X": np.arange(5, dtype=np.float32)}, DIMS)


def test_a_loop_that_only_reads_shares_the_load():
    b = start()
    first = load(b)
    (total,) = b.loop(0, 3, 1, [first], lambda index, total: [b.op("add", total, load(b))])
    store(b, total)
    before, after = merged(b)
    assert count(after, ir.Load) == 1
    assert_same(before, after, {"X": np.arange(5, dtype=np.float32)}, DIMS)


def test_values_of_one_branch_are_not_known_in_the_other():
    b = start()
    x = load(b)
    condition = b.op("gt", b.reduce("sum", x, keeps_axes=False), 0.0)
    (chosen,) = b.branch(condition, lambda: [b.op("exp", x)], lambda: [b.op("neg", b.op("exp", x))])
    store(b, b.op("add", chosen, b.op("exp", x)))
    before = b.kernel()
    after = merge_equal(before)
    verify(after)
    assert count(after, ir.Pointwise, "exp") == 3


def test_a_branch_that_stores():
    b = start()
    x = load(b)
    condition = b.op("gt", b.reduce("sum", x, keeps_axes=False), 0.0)
    b.branch(condition, lambda: store(b, b.op("neg", load(b)), "X"), lambda: None)
    store(b, load(b))
    before, after = merged(b)
    assert count(after, ir.Load) == 2
    assert_same(before, after, {"X": np.arange(5, dtype=np.float32)}, DIMS)


def test_extents_follow_merged_scalars():
    b = start()
    b.tensor("Count", DType.I32, [1])

    def part():
        length = b.load("Count", b.point(0))
        return b.reduce("sum", b.load("X", b.span(0, Extent.of(Opaque(length.number, length)))))

    store(b, b.broadcast(b.op("add", part(), part()), (dim("N"),)))
    before, after = merged(b)
    assert count(after, ir.Reduce) == 1
    assert_same(before, after, {"X": np.arange(5, dtype=np.float32), "Count": np.array([3], np.int32)}, DIMS)
