from __future__ import annotations

import numpy as np

from tests.passes.checks import assert_same, count
from tests.tile.build import SPAN, Builder, dim
from tilec.tile import ir
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.verify import verify
from tilec.types import DType, Extent, Opaque


def start():
    b = Builder()
    b.tensor("X", DType.F32, ["N"])
    b.tensor("Out", DType.F32, ["N"], access="out")
    return b


def whole(b, value):
    b.store("Out", value, b.span(0, dim("N")))


def load(b):
    return b.load("X", b.span(0, dim("N")))


TENSORS, DIMS = {"X": np.arange(5, dtype=np.float32)}, {"N": 5}


def test_unused_instructions_and_loads_go():
    b = start()
    x = load(b)
    b.reduce("sum", b.op("exp", load(b)))
    whole(b, b.op("neg", x))
    before = b.kernel()
    after = drop_dead(before)
    assert count(after, ir.Load) == 1
    assert count(after, ir.Reduce) == 0
    assert_same(before, after, TENSORS, DIMS)
    assert drop_dead(after) is after


def test_carried_values_that_only_feed_themselves_go():
    b = start()
    x = load(b)

    def body(index, dead, live, other):
        return [b.op("mul", dead, other), b.op("add", live, 1.0), b.op("add", other, 2.0)]

    _, live, _ = b.loop(0, 3, 1, [1.0, 0.0, 5.0], body)
    whole(b, b.op("add", x, live))
    before = b.kernel()
    after = drop_dead(before)
    (loop,) = [value for value in after.body.body if isinstance(value, ir.For)]
    assert len(loop.carried) == len(loop.initial) == len(loop.body.yields) == 1
    assert len(loop.body.body) == 2
    assert_same(before, after, TENSORS, DIMS)
    assert drop_dead(after) is after


def test_a_carried_value_that_another_needs_stays():
    b = start()
    x = load(b)
    _, result = b.loop(0, 4, 1, [1.0, 0.0], lambda i, a, total: [b.op("mul", a, 2.0), b.op("add", total, a)])
    whole(b, b.op("add", x, result))
    before = b.kernel()
    after = drop_dead(before)
    (loop,) = [value for value in after.body.body if isinstance(value, ir.For)]
    assert len(loop.carried) == 2
    assert_same(before, after, TENSORS, DIMS)
    assert drop_dead(after) is after


def test_the_flag_that_ends_a_loop_stays_and_keeps_its_number():
    b = start()
    x = load(b)

    def body(index, dead, flag, total):
        total = b.op("add", total, 1.0)
        return [b.op("add", dead, 1.0), b.op("gt", total, 2.5), total]

    *_, total = b.loop(0, 10, 1, [0.0, False, 0.0], body, until=1)
    whole(b, b.op("add", x, total))
    before = b.kernel()
    after = drop_dead(before)
    (loop,) = [value for value in after.body.body if isinstance(value, ir.For)]
    assert loop.until == 0
    assert len(loop.carried) == 2
    assert_same(before, after, TENSORS, DIMS)


def test_loops_and_branches_without_a_purpose_go():
    b = start()
    x = load(b)
    b.loop(0, 3, 1, [0.0], lambda i, a: [b.op("add", a, 1.0)])
    b.branch(b.op("gt", b.const(1), 0), lambda: [b.op("exp", x)], lambda: [x])
    b.repeat([1.0], lambda a: b.op("lt", a, 3.0), lambda a: [b.op("add", a, 1.0)])
    whole(b, x)
    after = drop_dead(b.kernel())
    verify(after)
    assert count(after, ir.For) == count(after, ir.If) == count(after, ir.While) == 0


def test_stores_keep_what_is_around_them():
    b = start()
    x = load(b)

    def body(index, dead):
        whole(b, b.op("add", x, b.op("f32", index)))
        return [b.op("add", dead, 1.0)]

    b.loop(0, 3, 1, [0.0], body)
    before = b.kernel()
    after = drop_dead(before)
    (loop,) = [value for value in after.body.body if isinstance(value, ir.For)]
    assert loop.carried == ()
    assert_same(before, after, TENSORS, DIMS)


def test_reports_keep_what_they_tell_and_what_is_around_them():
    b = start()
    x = load(b)

    def body(index, total, dead):
        total = b.op("add", total, x)
        b.add(ir.Report(None, SPAN, "print", b.op("gt", total, 2.0), (total,), "total", ("total",)))
        return [total, b.op("exp", dead)]

    b.loop(0, 3, 1, [x, 1.0], body)
    b.op("neg", x)
    whole(b, x)
    before = b.kernel()
    after = drop_dead(before)
    (loop,) = [value for value in after.body.body if isinstance(value, ir.For)]
    assert len(loop.carried) == 1
    assert count(after, ir.Report) == count(after, ir.Pointwise, "add") == 1
    assert count(after, ir.Pointwise, "neg") == count(after, ir.Pointwise, "exp") == 0
    verify(after)
    assert drop_dead(after) is after


def test_results_of_a_branch_are_renumbered():
    b = start()
    x = load(b)
    total = b.reduce("sum", x, keeps_axes=False)
    _, kept = b.branch(b.op("gt", total, 3.0), lambda: [1.0, 2.0], lambda: [3.0, 4.0])
    whole(b, b.op("mul", x, kept))
    before = b.kernel()
    after = drop_dead(before)
    assert [value.index for value in after.body.body if isinstance(value, ir.Result)] == [0]
    assert_same(before, after, TENSORS, DIMS)


def test_while_keeps_what_its_condition_needs():
    b = start()
    x = load(b)
    _, kept, _ = b.repeat(
        [0.0, 1.0, 7.0],
        lambda n, value, dead: b.op("lt", n, 3.0),
        lambda n, value, dead: [b.op("add", n, 1.0), b.op("mul", value, 2.0), b.op("add", dead, n)],
    )
    whole(b, b.op("mul", x, kept))
    before = b.kernel()
    after = drop_dead(before)
    (loop,) = [value for value in after.body.body if isinstance(value, ir.While)]
    assert len(loop.carried) == 2
    assert_same(before, after, TENSORS, DIMS)


def test_scalars_that_extents_mention_stay():
    b = start()
    b.tensor("Count", DType.I32, [1])
    length = b.load("Count", b.point(0))
    x = b.load("X", b.span(0, Extent.of(Opaque(length.number, length))))
    total = b.reduce("sum", x)
    whole(b, b.broadcast(total, (dim("N"),)))
    before = b.kernel()
    assert drop_dead(before) is before
    assert_same(before, before, TENSORS | {"Count": np.array([3], np.int32)}, DIMS)
