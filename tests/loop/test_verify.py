"""The static checks of loop programs: each fault is named, and what is right passes."""

from __future__ import annotations

import pytest

from tests.loop.builders import BOOL, F32, GROUP, I32, LANE, U32, bits, buffer, f32, i32, loop, op, program, u32
from tests.loop.test_interp import halves_of_words, in_place_rows, mirrored_copy, tree_reduction
from tilec.errors import InternalError
from tilec.loop import ir
from tilec.loop.verify import verify
from tilec.types import Extent, Symbol

X, OUT, WORDS = buffer("x", writable=False), buffer("out"), buffer("words", U32)
VECTORS = buffer("vectors", width=4)
PARTIAL, FLAG = ir.SharedArray("partial", F32, 32), ir.SharedArray("flag", I32, 1)
SCALE = ir.UniformField("scale", F32, scalar="scale")


def check(*body, uniforms=()):
    made = program(*body, buffers=(X, OUT, WORDS, VECTORS), shared=(PARTIAL, FLAG))
    verify(ir.Program(made.kernel, made.dispatches, (*made.uniforms, *uniforms), made.scratch_words, ()))


def local(dtype=F32, width=1):
    return ir.Local("value", dtype, width)


@pytest.mark.parametrize(
    "made",
    [tree_reduction(), mirrored_copy(storage=True), halves_of_words(owner_of_word=True), in_place_rows(clamp=False)],
    ids=["tree", "mirrored", "halves", "rows"],
)
def test_right_programs(made):
    verify(made)


def let(value, width=1):
    return ir.Let(ir.Local("value", value.dtype, width), value)


UNDEFINED, TWICE, WRONG = local(), local(), local(I32)
MUTABLE, INNER = local(), local()

FAULTS = {
    "has no value at this place": [ir.StoreElement(OUT, LANE, UNDEFINED)],
    "is defined twice": [ir.Let(TWICE, f32(1.0)), ir.Let(TWICE, f32(2.0))],
    "the value is f32, not i32": [ir.Let(WRONG, f32(1.0))],
    "is no variable here": [ir.Let(MUTABLE, f32(1.0)), ir.Assign(MUTABLE, f32(2.0))],
    "operands of add are not converted": [let(ir.Op("add", (f32(1.0), i32(1)), F32))],
    "the result of lt is i32, not bool": [let(ir.Op("lt", (f32(1.0), f32(1.0)), I32))],
    "no operation plus": [let(ir.Op("plus", (f32(1.0), f32(1.0)), F32))],
    "takes 2 operands": [let(ir.Op("add", (f32(1.0),), F32))],
    "sqrt are not converted": [let(ir.Op("sqrt", (i32(1),), F32))],
    "a constant of f32 that is True": [let(ir.Const(F32, True))],
    "a constant of i32 that is True": [let(ir.Const(I32, True))],
    "4294967296 is no u32": [let(u32(2**32))],
    "bitcast to bool": [let(bits("bitcast", u32(1), dtype=BOOL))],
    "shl of u32, i32": [let(bits("shl", u32(1), i32(1)))],
    "no bit operation rotate": [let(bits("rotate", u32(1), u32(1)))],
    "the condition is i32": [let(ir.Select(i32(1), f32(1.0), f32(2.0)))],
    "the other side is i32": [let(ir.Select(ir.Const(BOOL, True), f32(1.0), i32(2)))],
    "a component of no vector": [let(ir.Component(f32(1.0), 0))],
    "of width 4 for out of width 1": [ir.StoreElement(OUT, LANE, ir.Vector((f32(1.0),) * 4))],
    "of width 1 for vectors of width 4": [ir.StoreElement(VECTORS, LANE, f32(1.0))],
    "operands of different widths": [let(op("add", ir.Load(VECTORS, LANE), f32(1.0)))],
    "an index of f32": [let(ir.Load(X, f32(0.0)))],
    "the index is f32": [ir.StoreElement(OUT, f32(0.0), f32(0.0))],
    "x is only readable": [ir.StoreElement(X, LANE, f32(0.0))],
    "does not bind other": [let(ir.Load(buffer("other"), LANE))],
    "has no array other": [ir.SharedStore(ir.SharedArray("other", F32, 1), LANE, f32(0.0))],
    "the value is i32, not u32": [ir.StoreElement(WORDS, LANE, i32(0))],
    "not the whole value of a let": [let(op("add", ir.UniformLoad(FLAG), i32(1)))],
    "partial has 32 elements, not one": [ir.Let(local(), ir.UniformLoad(PARTIAL))],
    "no uniform field scale": [let(ir.Uniform(SCALE))],
    "no builtin value lane": [let(ir.Builtin("lane"))],
    "the stop is u32, not i32": [loop(local(I32), i32(0), u32(4), i32(1))],
    "a step that is not positive": [loop(local(I32), i32(0), i32(4), i32(0))],
    "a bound that is not positive": [ir.While((), ir.Const(BOOL, True), (), 0)],
    "the condition is f32, not bool": [ir.If(f32(1.0), ())],
}


@pytest.mark.parametrize("message", FAULTS)
def test_fault(message):
    with pytest.raises(InternalError, match=message.replace("(", r"\(")) as raised:
        check(*FAULTS[message])
    assert "in dispatch main: " in str(raised.value)


def test_values_of_inner_blocks_are_not_visible_outside():
    for block in (
        ir.If(op("lt", LANE, u32(3)), (ir.Let(INNER, f32(1.0)),)),
        loop(local(I32), i32(0), i32(3), i32(1), ir.Let(INNER, f32(1.0))),
        ir.While((ir.Let(INNER, f32(1.0)),), ir.Const(BOOL, False), (), 4),
    ):
        with pytest.raises(InternalError, match="has no value at this place"):
            check(block, ir.StoreElement(OUT, LANE, INNER))


def test_a_loops_index_is_not_visible_outside_nor_assigned():
    index = local(I32)
    with pytest.raises(InternalError, match="no value"):
        check(loop(index, i32(0), i32(3), i32(1)), ir.SharedStore(FLAG, i32(0), index))
    with pytest.raises(InternalError, match="no variable"):
        check(loop(index, i32(0), i32(3), i32(1), ir.Assign(index, i32(9))))


def test_a_condition_sees_its_prelude_and_so_does_the_body():
    flag = local(BOOL)
    prelude = (ir.Let(flag, op("lt", LANE, u32(4))),)
    check(ir.While(prelude, flag, (ir.StoreElement(OUT, LANE, op("f32", flag)),), 4))


def test_uniform_fields_of_one_name():
    """As an i32 and a u32 they have one value; with two values the name would say which only by luck."""
    rows, columns = Extent.of(Symbol("M", "dim")), Extent.of(Symbol("V", "dim"))
    check(uniforms=(ir.UniformField("M", I32, rows), ir.UniformField("M", U32, rows)))
    with pytest.raises(InternalError, match="one name, M, are M and V"):
        check(uniforms=(ir.UniformField("M", I32, rows), ir.UniformField("M", U32, columns)))


# --- barriers ------------------------------------------------------------------------------------------------

BARRIER = ir.Barrier(storage=False)
COUNT = ir.UniformField("count", I32, scalar="count")
VARIABLE = local(I32)


def barrier_under(condition):
    return ir.If(condition, (BARRIER,))


def uniform_cases():
    value, flag, index = local(I32), local(BOOL), local(I32)
    yield "a uniform field", [barrier_under(op("gt", ir.Uniform(COUNT), i32(3)))]
    yield "the workgroup", [barrier_under(op("gt", GROUP, u32(3)))]
    yield "a uniform load", [ir.Let(value, ir.UniformLoad(FLAG)), barrier_under(op("gt", value, i32(0)))]
    yield "a read-only buffer", [barrier_under(op("gt", ir.Load(X, GROUP), f32(0.0)))]
    yield "a loop", [loop(index, i32(0), ir.Uniform(COUNT), i32(1), barrier_under(op("gt", index, i32(1))))]
    yield "a variable", [
        ir.Declare(VARIABLE, i32(0)),
        ir.Declare(flag, ir.Const(BOOL, False)),
        loop(
            local(I32), i32(0), i32(9), i32(1),
            BARRIER, ir.Assign(VARIABLE, op("add", VARIABLE, i32(2))), ir.Assign(flag, op("gt", VARIABLE, i32(9))),
            until=flag,
        ),
    ]  # fmt: skip


def varying_cases():
    value, flag, index = local(I32), local(BOOL), local(I32)
    yield "a lane", [barrier_under(op("gt", LANE, u32(3)))]
    yield "a value from a lane", [ir.Let(value, op("i32", LANE)), barrier_under(op("gt", value, i32(3)))]
    yield "shared memory", [barrier_under(op("gt", ir.SharedLoad(FLAG, i32(0)), i32(0)))]
    yield "a buffer that is written", [barrier_under(op("gt", ir.Load(OUT, GROUP), f32(0.0)))]
    yield "an index that varies", [barrier_under(op("gt", ir.Load(X, LANE), f32(0.0)))]
    yield "a loop from the lane", [loop(index, op("i32", LANE), i32(9), i32(1), BARRIER)]
    yield "an inner block", [ir.If(op("gt", LANE, u32(3)), (barrier_under(op("gt", GROUP, u32(3))),))]
    yield "a uniform load", [ir.If(op("gt", LANE, u32(3)), (ir.Let(value, ir.UniformLoad(FLAG)),))]
    yield "a while", [ir.While((), op("gt", LANE, u32(3)), (BARRIER,), 3)]
    yield "a variable assigned under a lane's condition", [
        ir.Declare(flag, ir.Const(BOOL, False)),
        loop(
            local(I32), i32(0), i32(9), i32(1),
            BARRIER, ir.If(op("eq", LANE, u32(3)), (ir.Assign(flag, ir.Const(BOOL, True)),)),
            until=flag,
        ),
    ]  # fmt: skip
    yield "a variable that varies after its use in a loop", [
        ir.Declare(VARIABLE, i32(0)),
        loop(
            local(I32), i32(0), i32(9), i32(1),
            barrier_under(op("gt", VARIABLE, i32(0))), ir.Assign(VARIABLE, op("i32", LANE)),
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in uniform_cases()])
def test_barrier_in_uniform_flow(body):
    check(*body, uniforms=(COUNT,))


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in varying_cases()])
def test_barrier_that_some_threads_may_miss(body):
    with pytest.raises(InternalError, match="some threads of a workgroup may not reach"):
        check(*body, uniforms=(COUNT,))
