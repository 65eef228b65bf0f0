"""The verifier finds planted mistakes, and the printer shows what stands there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tile.build import SPAN, Builder, dim
from tilec.errors import InternalError
from tilec.tile import ir
from tilec.tile.print import print_kernel, print_value
from tilec.tile.verify import verify
from tilec.types import ONE, SCALAR_BOOL, SCALAR_F32, SCALAR_I32, Bound, DType, Extent, Opaque, Symbol, TileType

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL


def start():
    """A builder with a tensor A: f32[M, 4], an output B: f32[M] and an i32 scalar k."""
    b = Builder()
    b.tensor("A", F32, ["M", 4])
    b.tensor("B", F32, ["M"], "out")
    return b, b.scalar("k", I32, 0)


def good():
    b, k = start()
    x = b.load("A", b.span(k, 8), b.span(0, 4), starts=(Extent.of(Symbol("k", "scalar", False)),))
    total = b.reduce("sum", x)

    def round_of(i, acc, is_done):
        return b.op("add", acc, b.op("f32", i)), b.op("gt", acc, 5.0)

    acc, _ = b.loop(0, 4, 2, [b.const(0.0), b.const(False)], round_of, until=1)
    (chosen,) = b.branch(b.op("lt", k, 3), lambda: (b.op("exp", acc),), lambda: (acc,))
    (halved,) = b.repeat([chosen], lambda v: b.op("gt", v, 1.0), lambda v: (b.op("mul", v, 0.5),))
    starts = (Extent.of(Symbol("k", "scalar", False)),)
    b.store("B", b.op("add", b.view(total, (0,)), halved), b.span(k, 8), starts=starts)
    return b.kernel()


def test_a_good_kernel_passes_and_prints():
    kernel = good()
    verify(kernel)
    text = print_kernel(kernel)
    assert text == print_kernel(good()), "the text does not depend on the numbers of the process"
    for part in (
        "in A: tensor<f32>[M, 4]", "out B: tensor<f32>[M]", "scalar k: i32", "grid 1, 1, 1", "load A[%0 :+ 8, ",
        "f32[8, 4] where -k <= i < M - k on 0", "sum %", "over 1", "for %", "until %", "carrying %", "if %", "else",
        "while, at most 65536 rounds", "do", "yield %", "store B[%0 :+ 8] = %", "result 0 of %",
    ):  # fmt: skip
        assert part in text, part


MISTAKES = {}


def mistake(message):
    def register(build):
        MISTAKES[build.__name__] = (build, message)
        return build

    return register


def raw(b, operation, *operands, tile=SCALAR_F32):
    return b.add(ir.Pointwise(tile, SPAN, operation, operands))


@mistake("no operation frobnicate")
def unknown_operation(b, k):
    raw(b, "frobnicate", k)


@mistake("add takes 2 operands")
def wrong_count(b, k):
    raw(b, "add", k, tile=SCALAR_I32)


@mistake("operands of add are not converted to f32, f32")
def not_converted(b, k):
    raw(b, "add", k, b.const(1.0))


@mistake("i32 and u32 do not mix")
def refused_by_the_rule(b, k):
    raw(b, "add", k, b.const(1, U32), tile=SCALAR_I32)


@mistake("its type is f32, not i32")
def wrong_type(b, k):
    raw(b, "add", k, k)


@mistake("its type is")
def wrong_activity(b, k):
    x = b.load("A", b.span(1, 8), b.span(0, 4), starts=(1,))
    raw(b, "exp", x, tile=TileType(F32, x.type.shape))


@mistake("do not broadcast")
def wrong_shapes(b, k):
    raw(b, "add", b.iota(0, (3,)), b.iota(0, (4,)), tile=TileType(I32, (Extent.of(3),)))


@mistake("is not defined at this place")
def use_before_definition(b, k):
    late = ir.Const(SCALAR_I32, SPAN, 1)
    raw(b, "neg", late, tile=SCALAR_I32)
    b.add(late)


@mistake("is not defined at this place")
def use_outside_the_region(b, k):
    inner = []

    def then():
        inner.append(b.op("add", k, 1))

    b.branch(b.op("lt", k, 3), then, lambda: ())
    raw(b, "neg", inner[0], tile=SCALAR_I32)


@mistake("is not defined at this place")
def use_in_an_extent(b, k):
    late = ir.Const(SCALAR_I32, SPAN, 1)
    b.add(ir.Dim(SCALAR_I32, SPAN, Extent.of(Opaque(late.number, late))))


@mistake("stands in the kernel twice")
def repeated(b, k):
    b.add(b.const(1))
    b.add(b.stack[-1][-1])


@mistake("the dim W is not known")
def unknown_dim(b, k):
    b.dim(dim("W"))


@mistake("the loop i.9 is not known")
def unknown_loop(b, k):
    b.dim(Symbol("i.9", "loop"))


@mistake("no scalar parameter j")
def unknown_scalar(b, k):
    b.add(ir.Scalar(SCALAR_I32, SPAN, "j"))


@mistake("a constant of f32 holds 1")
def wrong_constant(b, k):
    b.const(1, F32)


@mistake("f16 does not compute")
def storage_type(b, k):
    b.add(ir.Const(TileType(DType.F16), SPAN, 1.0))


@mistake("an iota has no inactive lanes")
def inactive_iota(b, k):
    b.add(ir.Iota(TileType(I32, (Extent.of(3),), (frozenset({Bound(ONE, ONE)}),)), SPAN, 0))


@mistake("no tensor C")
def unknown_tensor(b, k):
    b.add(ir.Load(SCALAR_F32, SPAN, "C", (b.point(0),)))


@mistake("1 indices of rank 2")
def wrong_rank(b, k):
    b.add(ir.Load(SCALAR_F32, SPAN, "A", (b.point(0),)))


@mistake("an index is f32, not i32")
def float_index(b, k):
    b.add(ir.Load(SCALAR_F32, SPAN, "B", (b.point(0.0),)))


@mistake("A is read as f32")
def wrong_element(b, k):
    b.add(ir.Load(SCALAR_I32, SPAN, "A", (b.point(0), b.point(0))))


@mistake("a load's shape is that of its spans")
def wrong_load_shape(b, k):
    b.add(ir.Load(TileType(F32, (Extent.of(3),)), SPAN, "B", (b.span(0, 4),)))


@mistake("a load with a fill has no inactive lanes")
def inactive_fill(b, k):
    x = b.load("B", b.span(1, 8), starts=(1,))
    b.add(ir.Load(x.type, SPAN, "B", (b.span(1, 8),), b.const(0.0)))


@mistake("A is only read")
def store_to_an_input(b, k):
    b.store("A", 1.0, b.point(0), b.point(0))


@mistake("i32 stored to B, which takes f32")
def store_of_an_integer(b, k):
    b.store("B", 1, b.point(0))


@mistake("do not broadcast")
def store_that_does_not_fit(b, k):
    b.store("B", b.op("f32", b.iota(0, (3,))), b.span(0, 4))


@mistake("is dropped")
def view_that_drops(b, k):
    x = b.load("A", b.span(0, 8), b.span(0, 4))
    b.add(ir.View(TileType(F32, (Extent.of(8),), x.type.active[:1]), SPAN, x, (0,)))


@mistake("a view's axes are in order")
def view_that_transposes(b, k):
    x = b.load("A", b.span(0, 8), b.span(0, 4))
    b.view(x, (1, 0))


@mistake("an update keeps the dtype")
def update_of_another_dtype(b, k):
    b.update(b.const(1.0), k)


@mistake("does not broadcast to")
def update_that_widens(b, k):
    b.update(k, b.iota(0, (3,)))


@mistake("a pick's index has extent 1")
def wide_pick(b, k):
    x = b.load("B", b.span(0, 8))
    b.add(ir.Pick(TileType(F32, (ONE,)), SPAN, x, b.iota(0, (8,))))


@mistake("axes (1, 0) are not in order")
def unsorted_axes(b, k):
    x = b.load("A", b.span(0, 8), b.span(0, 4))
    b.add(ir.Reduce(TileType(F32, (ONE, ONE)), SPAN, "sum", x, (1, 0)))


@mistake("axes (0,) of rank 0")
def reduced_scalar(b, k):
    b.add(ir.Reduce(SCALAR_F32, SPAN, "sum", b.const(1.0), (0,)))


@mistake("no reduction median")
def unknown_reduction(b, k):
    x = b.load("B", b.span(0, 8))
    b.add(ir.Reduce(TileType(F32, (ONE,)), SPAN, "median", x, (0,)))


@mistake("an if's condition is i32, not bool")
def integer_condition(b, k):
    b.branch(k, lambda: (), lambda: ())


@mistake("the sides' yields: 1 values, not 0")
def sides_that_differ(b, k):
    b.branch(b.op("lt", k, 3), lambda: (b.const(1),), lambda: ())


@mistake("a loop's step is 0")
def no_step(b, k):
    b.loop(0, 3, 0, [], lambda i: ())


@mistake("what a loop's body yields is f32, not i32")
def carried_of_another_type(b, k):
    b.loop(0, 3, 1, [k], lambda i, acc: (b.op("f32", acc),))


@mistake("what ends a loop is i32, not bool")
def until_that_counts(b, k):
    b.loop(0, 3, 1, [k], lambda i, acc: (acc,), until=0)


@mistake("a while's condition is i32, not bool")
def while_that_counts(b, k):
    b.repeat([k], lambda v: v, lambda v: (v,))


@mistake("no result 1")
def result_that_is_missing(b, k):
    b.loop(0, 3, 1, [k], lambda i, acc: (acc,))
    b.add(ir.Result(SCALAR_I32, SPAN, b.stack[-1][-2], 1))


@mistake("its type is f32, not i32")
def result_of_another_type(b, k):
    b.loop(0, 3, 1, [k], lambda i, acc: (acc,))
    b.add(ir.Result(SCALAR_F32, SPAN, b.stack[-1][-2], 0))


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(name):
    build, message = MISTAKES[name]
    b, k = start()
    build(b, k)
    with pytest.raises(InternalError) as caught:
        verify(b.kernel(), "the pass under test")
    assert message in str(caught.value)
    assert "the pass under test" in str(caught.value)
    assert "in kernel hand" in str(caught.value)


def test_requirements_are_expressions_of_dims_and_scalars():
    b, _ = start()
    four, zero = ir.Const(SCALAR_I32, SPAN, 4), ir.Const(SCALAR_I32, SPAN, 0)
    remainder = ir.Pointwise(SCALAR_I32, SPAN, "rem", (ir.Dim(SCALAR_I32, SPAN, dim("M")), four))
    condition = ir.Pointwise(SCALAR_BOOL, SPAN, "eq", (remainder, zero))
    kernel = replace(b.kernel(), requirements=(ir.Requirement(condition, "M is a multiple of 4", SPAN),))
    verify(kernel)
    assert 'require eq(rem(M, 4), 0), "M is a multiple of 4"' in print_kernel(kernel)
    block = ir.BlockIndex(SCALAR_I32, SPAN, 0)
    bad = ir.Pointwise(SCALAR_BOOL, SPAN, "eq", (block, zero))
    with pytest.raises(InternalError, match="BlockIndex in a requirement"):
        verify(replace(kernel, requirements=(ir.Requirement(bad, "no", SPAN),)))


def test_an_instruction_alone_is_shown_with_its_own_numbers():
    b, k = start()
    total = b.op("add", k, 1)
    assert print_value(total) == f"%{total.number}: i32 = add %{k.number}, %{total.operands[1].number}"
