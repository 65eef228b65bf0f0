"""Plans lowered to loops, naive and grouped, against the tile interpreter, under the race checker."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan.harness import check, run_plan, storage_dtype
from tests.tile.build import Builder, dim
from tilec.options import Limits, Options
from tilec.types import ONE, DType, Extent, Symbol, apply

BLOCK = Symbol("ctx.block.x", "block")
F32, I32 = DType.F32, DType.I32
SHAPES = [(1, 1), (3, 7), (16, 64), (9, 1003), (2, 5000)]


def rows_of(builder, count=8):
    """`r = ctx.block.x * count` as a value and as an extent."""
    return builder.op("mul", builder.block(), count), Extent.of(BLOCK) * count


def grid(count=8):
    return (apply("ceildiv", dim("M"), Extent.of(count)), 1, 1)


class Rows:
    """A kernel over blocks of 8 rows of [M, V] tensors."""

    def __init__(self):
        self.builder = Builder()
        self.row, self.start = rows_of(self.builder)

    def load(self, name, columns="V", **rest):
        b = self.builder
        count = dim(columns) if isinstance(columns, str) else columns
        return b.load(name, b.span(self.row, 8), b.span(0, count), starts=[self.start], **rest)

    def store(self, name, value, columns="V"):
        b = self.builder
        count = dim(columns) if isinstance(columns, str) else columns
        return b.store(name, value, b.span(self.row, 8), b.span(0, count), starts=[self.start])


def normal(rng, shape, dtype=F32, scale=3.0):
    return (rng.standard_normal(shape) * scale).astype(storage_dtype(dtype))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize(("m", "v"), SHAPES)
def test_cross_entropy_and_gradient_in_place(rng, m, v):
    k = Rows()
    b = k.builder
    b.tensor("Logits", F32, ("M", "V"), "inout")
    b.tensor("Target", I32, ("M", 1))
    b.tensor("Loss", F32, ("M", 1), "out")
    x, t = k.load("Logits"), k.load("Target", ONE)
    lse = b.logsumexp(x)
    loss = b.op("sub", lse, b.pick(x, t))
    k.store("Loss", loss, ONE)
    hot = b.op("f32", b.op("eq", b.iota(1, (1, dim("V"))), t))
    k.store("Logits", b.op("sub", b.op("exp", b.op("sub", x, lse)), hot))
    target = rng.integers(-1, v + 1, (m, 1)).astype(np.int32)
    check(b.kernel(grid()), {"Logits": normal(rng, (m, v)), "Target": target, "Loss": np.zeros((m, 1), np.float32)})


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
@pytest.mark.parametrize(("m", "v"), [(1, 1), (5, 7), (9, 64), (3, 1003)])
def test_softmax_of_packed_rows(rng, m, v, dtype):
    k = Rows()
    b = k.builder
    b.tensor("X", dtype, ("M", "V"), "inout")
    x = k.load("X")
    peak = b.reduce("max", x)
    e = b.op("exp", b.op("sub", x, peak))
    k.store("X", b.op("div_f32", e, b.reduce("sum", e)))
    check(b.kernel(grid()), {"X": normal(rng, (m, v), dtype)}, rtol=1e-2)


@pytest.mark.parametrize(("m", "v"), SHAPES)
def test_column_mean_of_a_whole_tensor(rng, m, v):
    b = Builder()
    b.tensor("X", F32, ("M", "V"))
    b.tensor("Y", F32, (1, "V"), "out")
    x = b.load("X", b.span(0, dim("M")), b.span(0, dim("V")))
    b.store("Y", b.op("div_f32", b.reduce("sum", x, (0,)), b.count(x, (0,))), b.span(0, 1), b.span(0, dim("V")))
    check(b.kernel(), {"X": normal(rng, (m, v)), "Y": np.zeros((1, v), np.float32)})


@pytest.mark.parametrize(("m", "v"), SHAPES)
def test_rows_columns_and_total_of_one_tile(rng, m, v):
    b = Builder()
    b.tensor("X", F32, ("M", "V"), "inout")
    b.tensor("Total", F32, (1,), "out")
    x = b.load("X", b.span(0, dim("M")), b.span(0, dim("V")))
    rows, columns = b.logsumexp(x), b.reduce("max", x, (0,))
    total = b.reduce("sum", b.op("sub", rows, columns), (0, 1), keeps_axes=False)
    b.store("Total", total, b.point(0))
    k = b.op("add", b.op("sub", x, rows), b.op("mul", columns, total))
    b.store("X", k, b.span(0, dim("M")), b.span(0, dim("V")))
    check(b.kernel(), {"X": normal(rng, (m, v)), "Total": np.zeros(1, np.float32)}, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("m", "v"), SHAPES)
def test_sums_over_chunks(rng, m, v):
    k = Rows()
    b = k.builder
    b.tensor("X", F32, ("M", "V"))
    b.tensor("Y", F32, ("M", 1), "out")
    zero = b.broadcast(b.const(0.0), (8, 1))

    def chunk(index, total):
        start = Extent.of(Symbol(index.name, "loop"))
        x = b.load("X", b.span(k.row, 8), b.span(index, 64), starts=[k.start, start])
        return (b.update(total, b.op("add", total, b.reduce("sum", x))),)

    (total,) = b.loop(0, b.dim(dim("V")), 64, [zero], chunk)
    k.store("Y", total, ONE)
    check(b.kernel(grid()), {"X": normal(rng, (m, v)), "Y": np.zeros((m, 1), np.float32)}, atol=1e-4)


@pytest.mark.parametrize(("m", "v"), SHAPES)
def test_a_carried_tile_with_a_ragged_last_chunk(rng, m, v):
    k = Rows()
    b = k.builder
    b.tensor("X", F32, ("M", "V"))
    b.tensor("Y", F32, ("M", 64), "out")
    zero = b.broadcast(b.const(0.0), (8, 64))

    def chunk(index, total):
        start = Extent.of(Symbol(index.name, "loop"))
        x = b.load("X", b.span(k.row, 8), b.span(index, 64), starts=[k.start, start])
        return (b.update(total, b.op("add", total, x)),)

    (total,) = b.loop(0, b.dim(dim("V")), 64, [zero], chunk)
    k.store("Y", total, 64)
    check(b.kernel(grid()), {"X": normal(rng, (m, v)), "Y": np.zeros((m, 64), np.float32)}, atol=1e-4)


@pytest.mark.parametrize("m", [1, 8, 100])
def test_a_store_that_overlaps_what_it_reads(rng, m):
    b = Builder()
    b.tensor("X", F32, ("M",), "inout")
    x = b.load("X", b.span(1, dim("M")), starts=[1])
    b.store("X", x, b.span(0, dim("M")))
    y = b.load("X", b.span(0, dim("M")))
    b.store("X", b.op("add", y, b.reduce("sum", y, (0,))), b.span(0, dim("M")))
    check(b.kernel(), {"X": normal(rng, (m,))}, atol=1e-4)


@pytest.mark.parametrize(("m", "v"), [(3, 7), (20, 33)])
def test_a_read_after_a_store_and_an_old_value_after_it(rng, m, v):
    k = Rows()
    b = k.builder
    b.tensor("X", DType.F16, ("M", "V"), "inout")
    b.tensor("Y", F32, ("M", "V"), "out")
    x = k.load("X")
    k.store("X", b.op("mul", x, 1.001))
    again = k.load("X")
    k.store("Y", b.op("sub", b.op("mul", again, b.reduce("max", again)), b.op("mul", x, b.reduce("min", x))))
    check(b.kernel(grid()), {"X": normal(rng, (m, v), DType.F16), "Y": np.zeros((m, v), np.float32)}, rtol=1e-3)


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize(("m", "v"), [(3, 7), (20, 33)])
def test_an_if_with_a_reduction(rng, m, v, flag):
    k = Rows()
    b = k.builder
    b.tensor("X", F32, ("M", "V"))
    b.tensor("Y", F32, ("M", "V"), "out")
    alpha = b.scalar("alpha", F32)
    x = k.load("X")
    (y,) = b.branch(
        b.op("gt", alpha, 0.0), lambda: (b.op("sub", x, b.reduce("max", x)),), lambda: (b.op("mul", x, 2.0),)
    )
    k.store("Y", y)
    check(b.kernel(grid()), {"X": normal(rng, (m, v)), "Y": np.zeros((m, v), np.float32)}, {"alpha": float(flag)})


@pytest.mark.parametrize("m", [1, 8, 300])
def test_a_while_on_a_reduced_value(rng, m):
    b = Builder()
    b.tensor("X", F32, ("M",), "inout")
    x = b.load("X", b.span(0, dim("M")))
    start = b.op("abs", x)
    (y, _) = b.repeat(
        [start, b.const(0)],
        lambda y, n: b.op("and", b.op("gt", b.reduce("sum", y, (0,), keeps_axes=False), 1.0), b.op("lt", n, 20)),
        lambda y, n: (b.op("mul", y, 0.5), b.op("add", n, 1)),
    )
    b.store("X", y, b.span(0, dim("M")))
    check(b.kernel(), {"X": normal(rng, (m,))})


@pytest.mark.parametrize(("m", "v"), [(1, 1), (5, 3), (9, 33), (3, 300)])
@pytest.mark.parametrize("dtype", [DType.I8, DType.U8, DType.BOOL])
def test_bytes(rng, m, v, dtype):
    k = Rows()
    b = k.builder
    b.tensor("X", F32, ("M", "V"))
    b.tensor("Q", dtype, ("M", "V"), "inout")
    b.tensor("Any", DType.BOOL, ("M", 1), "out")
    b.tensor("Best", I32, ("M", 1), "out")
    x = k.load("X")
    rows = b.op("bool", b.op("i32", k.load("Q")))
    k.store("Any", b.reduce("any", rows), ONE)
    k.store("Best", b.reduce("argmax", x), ONE)
    k.store("Q", b.op("gt", x, 0.0) if dtype is DType.BOOL else b.op("i32", b.op("round", x)))
    q = (rng.integers(0, 2, (m, v)) * 3).astype(storage_dtype(dtype))
    outputs = {"Any": np.zeros((m, 1), np.bool_), "Best": np.zeros((m, 1), np.int32)}
    check(b.kernel(grid()), {"X": normal(rng, (m, v)), "Q": q, **outputs})


@pytest.mark.parametrize("n", [1, 1000, 1024, 5000])
def test_elementwise_blocks(rng, n):
    b = Builder()
    start = b.op("mul", b.block(), 1024)
    at = Extent.of(BLOCK) * 1024
    for name, dtype in (("P", F32), ("G", DType.BF16), ("Q", DType.BF16)):
        b.tensor(name, dtype, ("N",), "in" if name == "G" else "inout")
    p = b.load("P", b.span(start, 1024), starts=[at])
    g = b.load("G", b.span(start, 1024), starts=[at])
    new = b.op("sub", p, b.op("mul", g, 0.1))
    b.store("P", new, b.span(start, 1024), starts=[at])
    b.store("Q", new, b.span(start, 1024), starts=[at])
    tensors = {"P": normal(rng, (n,)), "G": normal(rng, (n,), DType.BF16), "Q": np.zeros(n, storage_dtype(DType.BF16))}
    check(b.kernel((apply("ceildiv", dim("N"), Extent.of(1024)), 1, 1)), tensors)


def test_carried_tiles_that_change_places(rng):
    b = Builder()
    b.tensor("X", F32, ("M",), "inout")
    b.tensor("Y", F32, ("M",), "inout")
    x, y = (b.load(name, b.span(0, dim("M"))) for name in "XY")
    x, y = b.loop(0, 3, 1, [x, y], lambda i, p, q: (b.op("add", q, 1.0), b.op("mul", p, 2.0)))
    b.store("X", x, b.span(0, dim("M")))
    b.store("Y", y, b.span(0, dim("M")))
    check(b.kernel(), {"X": normal(rng, (50,)), "Y": normal(rng, (50,))})


def test_layer_norm_backward_with_sums_over_rows(rng):
    b = Builder()
    first = b.op("mul", b.block(), 16)
    for name, dims, access in (
        ("X", ("M", "D"), "in"), ("Dy", ("M", "D"), "in"), ("Dx", ("M", "D"), "out"), ("Part", ("P", "D"), "out")
    ):  # fmt: skip
        b.tensor(name, F32, dims, access)
    zero = b.broadcast(b.const(0.0), (dim("D"),))

    def rows(index, total):
        at = Extent.of(BLOCK) * 16 + Extent.of(Symbol(index.name, "loop"))
        row = b.op("add", first, index)
        x, dy = (b.load(n, b.span(row, 8), b.span(0, dim("D")), starts=[at]) for n in ("X", "Dy"))
        mean = b.op("div_f32", b.reduce("sum", x), b.count(x))
        d = b.op("sub", x, mean)
        scale = b.op("rsqrt", b.op("add", b.op("div_f32", b.reduce("sum", b.op("square", d)), b.count(x)), 1e-5))
        y = b.op("mul", d, scale)
        b.store("Dx", b.op("mul", b.op("sub", dy, b.op("mul", y, b.reduce("sum", b.op("mul", dy, y)))), scale),
                b.span(row, 8), b.span(0, dim("D")), starts=[at])  # fmt: skip
        part = b.view(b.reduce("sum", b.op("mul", dy, y), (0,)), (1,))
        return (b.update(total, b.op("add", total, part)),)

    (total,) = b.loop(0, 16, 8, [zero], rows)
    b.store("Part", total, b.point(b.block()), b.span(0, dim("D")), starts=[Extent.of(BLOCK)])
    m, d = 37, 65
    tensors = {"X": normal(rng, (m, d)), "Dy": normal(rng, (m, d)), "Dx": np.zeros((m, d), np.float32),
               "Part": np.zeros((3, d), np.float32)}  # fmt: skip
    check(b.kernel((apply("ceildiv", dim("M"), Extent.of(16)), 1, 1)), tensors, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n", [1, 40_000, 100_003])
def test_a_sweep_that_workgroups_share(rng, n):
    b = Builder()
    b.tensor("X", F32, ("N",), "inout")
    b.tensor("Stats", F32, (3,), "out")
    b.tensor("Best", I32, (1,), "out")
    x = b.load("X", b.span(0, dim("N")))
    norm = b.op("sqrt", b.reduce("sum", b.op("square", x), (0,), keeps_axes=False))
    lse = b.op("lse_add", *(b.reduce(op, x, (0,), keeps_axes=False) for op in ("max", "rest")))
    for place, value in enumerate((norm, lse, b.reduce("min", x, (0,), keeps_axes=False))):
        b.store("Stats", value, b.point(place))
    b.store("Best", b.reduce("argmax", x, (0,), keeps_axes=False), b.point(0))
    b.store("X", b.op("div_f32", x, norm), b.span(0, dim("N")))
    tensors = {"X": normal(rng, (n,)), "Stats": np.zeros(3, np.float32), "Best": np.zeros(1, np.int32)}
    check(b.kernel(), tensors)


def test_a_reduced_value_that_a_loop_around_phases_starts_with(rng):
    k = Rows()
    b = k.builder
    b.tensor("X", F32, ("M", "V"), "inout")
    x = k.load("X")
    mean = b.reduce("max", x, (0, 1), keeps_axes=False)

    def halve(index, value):
        rows = b.reduce("sum", k.load("X"))
        k.store("X", b.op("sub", k.load("X"), b.op("mul", rows, value)))
        return (b.op("mul", value, 0.001),)

    b.loop(0, 2, 1, [b.op("mul", mean, 0.001)], halve)
    check(b.kernel(grid()), {"X": normal(rng, (11, 70))}, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("m", "v"), SHAPES)
def test_a_condition_of_the_swept_axis_is_decided_element_by_element(rng, m, v):
    b = Builder()
    b.tensor("X", F32, ("M", "V"))
    b.tensor("Y", F32, (1, "V"), "out")
    x = b.load("X", b.span(0, dim("M")), b.span(0, dim("V")))
    kept = b.op("where", b.op("gt", b.reduce("sum", x), 0.0), x, 0.0)
    b.store("Y", b.reduce("sum", kept, (0,)), b.span(0, 1), b.span(0, dim("V")))
    check(b.kernel(), {"X": normal(rng, (m, v)), "Y": np.zeros((1, v), np.float32)}, atol=1e-5)


def test_the_later_of_two_stores_stays_whatever_their_masks(rng):
    b = Builder()
    for name, access in (("X", "in"), ("Y", "out"), ("Z", "out")):
        b.tensor(name, F32, ("M", "V"), access)
    whole = (b.span(0, dim("M")), b.span(0, dim("V")))
    x = b.load("X", *whole)
    shifted = b.load("X", b.span(1, dim("M")), b.span(0, dim("V")), starts=[1])
    b.store("Z", x, *whole)
    b.store("Y", shifted, *whole)
    b.store("Y", b.op("mul", x, 2.0), *whole)
    zeros = np.zeros((9, 5), np.float32)
    check(b.kernel(), {"X": normal(rng, (9, 5)), "Y": zeros, "Z": zeros})


def test_where_an_operand_that_drops_its_axes_is_needed(rng):
    """The condition is one a column: the last axis of two, and of three before the first is summed."""
    b = Builder()
    b.tensor("X", F32, (4, "N", "N"))
    b.tensor("C", F32, ("N",))
    b.tensor("Out", F32, ("N", "N"), "out")
    rows = b.span(0, dim("N"))
    x = b.load("X", b.span(0, 4), rows, rows)
    total = b.reduce("sum", b.op("abs", b.op("sub", x, b.reduce("max", x, (0,)))), (0,), keeps_axes=False)
    b.store("Out", b.op("where", b.op("gt", b.load("C", rows), 0.0), total, 0.0), rows, rows)
    tensors = {"X": normal(rng, (4, 5, 5)), "C": normal(rng, (5,)), "Out": np.zeros((5, 5), np.float32)}
    kernel = b.kernel()
    check(kernel, tensors)
    total = np.abs(tensors["X"].astype(np.float64) - tensors["X"].max(axis=0)).sum(axis=0)
    np.testing.assert_allclose(run_plan(kernel, tensors)["Out"], np.where(tensors["C"] > 0, total, 0.0), rtol=1e-6)


@pytest.mark.parametrize("pattern", [0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001])
def test_a_nan_stays_one_wherever_it_stands_among_halves(pattern):
    """Rounding its bits as those of a number would make 0 or infinity of it."""
    k = Rows()
    b = k.builder
    b.tensor("X", F32, ("M", "V"))
    b.tensor("Y", DType.BF16, ("M", "V"), "out")
    k.store("Y", k.load("X"))
    x = np.ones((8, 8), np.float32)
    x.view(np.uint32)[np.arange(8), np.arange(8)] = pattern
    for options in (Options(), Options(limits=Limits(is_cpu=True))):
        got = run_plan(b.kernel(grid()), {"X": x, "Y": np.zeros((8, 8), storage_dtype(DType.BF16))}, options=options)
        np.testing.assert_array_equal(got["Y"].astype(np.float32), np.where(np.eye(8), np.nan, 1.0))
