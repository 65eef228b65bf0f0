from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given

from tests.passes.checks import assert_same, count, floats
from tests.tile.build import Builder, dim
from tilec.tile import ir
from tilec.tile.affine import BLOCK_SYMBOLS
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.passes.forward_stores import forward_stores
from tilec.types import DType, Extent, apply

ARRAYS = {
    DType.F32: np.float32,
    DType.F16: np.float16,
    DType.BF16: ml_dtypes.bfloat16,
}
BLOCK = Extent.of(BLOCK_SYMBOLS[0]) * 4
DIMS = {"M": 5, "V": 3}


class Rows(Builder):
    """Blocks of four rows of tensors [M, V], the last one ragged."""

    def __init__(self, dtype=DType.F32):
        super().__init__()
        self.tensor("X", dtype, ["M", "V"], access="inout")
        self.tensor("Out", DType.F32, ["M", "V"], access="out")
        self.row = self.op("mul", self.block(), 4)

    def read(self, tensor="X", row=None, shift=0, fill=None):
        spans = (self.span(self.row if row is None else row, 4), self.span(0, dim("V")))
        return self.load(tensor, *spans, starts=[BLOCK + shift], fill=fill)

    def write(self, tensor, value, row=None, shift=0):
        spans = (self.span(self.row if row is None else row, 4), self.span(0, dim("V")))
        return self.store(tensor, value, *spans, starts=[BLOCK + shift])

    def made(self):
        return self.kernel((apply("ceildiv", dim("M"), Extent.of(4)), 1, 1))


def check(b, x, loads, dims=DIMS):
    before = b.made()
    after = drop_dead(forward_stores(before))
    assert count(after, ir.Load) == loads
    assert_same(before, after, {"X": x}, dims)
    return after


@pytest.mark.parametrize("dtype", ARRAYS)
@given(x=floats(5, 3))
def test_the_stored_value_rounded(dtype, x):
    b = Rows(dtype)
    b.write("X", b.op("mul", b.read(), 1.1))
    b.write("Out", b.op("add", b.read(), 1.0))
    with np.errstate(over="ignore"):
        check(b, x.astype(ARRAYS[dtype]), loads=1)


def test_a_start_that_is_computed_again():
    b = Rows()
    b.write("X", b.op("mul", b.read(), 2.0))
    b.write("Out", b.read(row=b.op("mul", b.block(), 4)))
    check(b, np.ones((5, 3), np.float32), loads=1)


@given(x=floats(5, 3))
def test_a_value_a_row_is_stretched(x):
    b = Rows()
    b.write("X", b.reduce("max", b.read()))
    b.write("Out", b.reduce("sum", b.read()))
    after = check(b, x, loads=1)
    assert count(after, ir.Broadcast) == 1


@given(x=floats(5, 3))
def test_a_fill_pads_the_stored_value(x):
    b = Rows()
    b.write("X", b.op("neg", b.read()))
    total = b.reduce("sum", b.read(fill=-100.0), (0,))
    b.write("Out", total)
    after = check(b, x, loads=1)
    assert count(after, ir.Pad) == 1


def test_the_last_of_two_stores():
    b = Rows()
    x = b.read()
    b.write("X", b.op("mul", x, 2.0))
    b.write("X", b.op("mul", x, 3.0))
    b.write("Out", b.read())
    check(b, np.ones((5, 3), np.float32), loads=1)


def test_lanes_that_were_not_stored_keep_what_was_there():
    """The value comes from rows one further down, so the last row of the tensor is not stored."""
    b = Rows()
    shifted = b.read(row=b.op("add", b.row, 1), shift=1)
    b.write("X", b.op("mul", shifted, 2.0))
    b.write("Out", b.read())
    before = b.kernel()  # one block: blocks that read each other's rows have no order
    after = forward_stores(before)
    assert after is before
    assert_same(before, after, {"X": np.arange(9, dtype=np.float32).reshape(3, 3)}, {"M": 3, "V": 3})


def test_a_value_that_is_active_outside_the_tensor():
    """Forwarded it would count lanes that a read does not have."""
    b = Rows()
    b.write("X", b.broadcast(b.const(2.0), (4, dim("V"))))
    b.write("Out", b.reduce("sum", b.read(), (0,)))
    check(b, np.ones((5, 3), np.float32), loads=1)


def test_another_span_between():
    b = Rows()
    x = b.read()
    b.write("X", b.op("mul", x, 2.0))
    b.write("X", b.op("mul", x, 5.0), row=b.op("add", b.row, 1), shift=1)
    b.write("Out", b.read())
    before = b.kernel()
    after = forward_stores(before)
    assert after is before
    assert_same(before, after, {"X": np.arange(12, dtype=np.float32).reshape(4, 3)}, {"M": 4, "V": 3})


def test_a_part_of_what_was_stored_is_read():
    b = Rows()
    b.write("X", b.op("mul", b.read(), 2.0))
    b.store("Out", b.load("X", b.span(b.row, 2), b.span(0, dim("V")), starts=[BLOCK]), b.span(b.row, 2),
            b.span(0, dim("V")), starts=[BLOCK])  # fmt: skip
    check(b, np.arange(15, dtype=np.float32).reshape(5, 3), loads=2)


@pytest.mark.parametrize("stores", [True, False])
def test_a_branch_between(stores):
    b = Rows()
    x = b.read()
    b.write("X", b.op("mul", x, 2.0))
    condition = b.op("gt", b.reduce("max", x, (0, 1), keeps_axes=False), 1.0)

    def then():
        b.write("X" if stores else "Out", b.op("mul", x, 3.0))

    b.branch(condition, then, lambda: None)
    b.write("Out", b.read())
    check(b, np.arange(15, dtype=np.float32).reshape(5, 3), loads=2 if stores else 1)


def test_a_loop_between():
    """After its rounds the tensor holds what the last of them stored, not what stood before the loop."""
    b = Rows()
    b.write("X", b.op("mul", b.read(), 2.0))

    def body(index, total):
        b.write("X", total)
        return [b.op("add", total, 1.0)]

    b.loop(0, 3, 1, [b.read("Out")], body)
    b.write("Out", b.read())
    check(b, np.arange(15, dtype=np.float32).reshape(5, 3), loads=3)


def test_a_store_outside_of_the_loop_that_reads():
    b = Rows()
    b.write("X", b.op("mul", b.read(), 2.0))

    def body(index, total):
        total = b.op("add", total, b.read())
        b.write("X", total)
        return [b.op("add", total, b.read())]

    (total,) = b.loop(0, 3, 1, [b.read("Out")], body)
    b.write("Out", total)
    check(b, np.arange(15, dtype=np.float32).reshape(5, 3), loads=3)


@pytest.mark.parametrize(
    ("dims", "index", "loads"), [([1], 0, 0), ([8], 7, 0), ([8], 8, 1), ([8], -1, 1), (["K"], 0, 1)]
)
def test_points(dims, index, loads):
    """A store to a point outside is dropped, and a read there gives 0: forwarded only if inside for certain."""
    b = Rows()
    b.tensor("Mean", DType.F32, dims, access="inout")
    b.store("Mean", b.const(3.0), b.point(index))
    b.write("Out", b.load("Mean", b.point(index)))
    before = b.kernel()
    after = drop_dead(forward_stores(before))
    assert count(after, ir.Load) == loads
    length = 2 if dims == ["K"] else dims[0]
    tensors = {"X": np.ones((5, 3), np.float32), "Mean": np.zeros(length, np.float32)}
    assert_same(before, after, tensors, {"M": 5, "V": 3, "K": 2})


def test_narrow_integers_are_read_back():
    b = Builder()
    b.tensor("X", DType.I8, ["N"], access="inout")
    b.tensor("Out", DType.I32, ["N"], access="out")
    x = b.load("X", b.span(0, dim("N")))
    b.store("X", b.op("mul", x, 100), b.span(0, dim("N")))
    b.store("Out", b.load("X", b.span(0, dim("N"))), b.span(0, dim("N")))
    before = b.kernel()
    assert forward_stores(before) is before
    assert_same(before, before, {"X": np.arange(5, dtype=np.int8)}, {"N": 5})


def test_unsigned_stored_as_signed():
    b = Builder()
    b.tensor("X", DType.I32, ["N"], access="inout")
    b.tensor("Out", DType.I32, ["N"], access="out")
    x = b.load("X", b.span(0, dim("N")))
    b.store("X", b.op("add", b.op("u32", x), b.const(5, DType.U32)), b.span(0, dim("N")))
    b.store("Out", b.op("div", b.load("X", b.span(0, dim("N"))), 2), b.span(0, dim("N")))
    before = b.kernel()
    after = drop_dead(forward_stores(before))
    assert count(after, ir.Load) == 1
    assert_same(before, after, {"X": np.array([-20, -3, 0, 7, 2**31 - 1], np.int32)}, {"N": 5})
