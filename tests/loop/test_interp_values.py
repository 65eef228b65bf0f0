"""The loop interpreter computes: loops, uniforms, bits, what a loop must not be."""

from __future__ import annotations

import numpy as np
import pytest

from tests.loop.builders import BOOL, F32, GROUP, I32, LANE, U32, bits, buffer, f32, i32, loop, op, program, run, u32
from tilec.loop import interp, ir
from tilec.types import Extent, Symbol


def test_loops_and_mutable_locals():
    out, total, index, done = buffer("out", I32), ir.Local("total", I32), ir.Local("i", I32), ir.Local("done", BOOL)
    made = program(
        ir.Declare(total, i32(0)),
        ir.Declare(done, ir.Const(BOOL, False)),
        loop(
            index, i32(1), op("i32", LANE), i32(2),
            ir.Assign(total, op("add", total, index)),
            ir.If(op("gt", total, i32(50)), (ir.Assign(done, ir.Const(BOOL, True)),)),
            until=done,
        ),
        ir.StoreElement(out, LANE, total),
        buffers=(out,),
    )  # fmt: skip
    expected = []
    for lane in range(32):
        value = 0
        for i in range(1, lane, 2):
            if value > 50:
                break
            value += i
        expected.append(value)
    assert run(made, out=np.zeros(32, np.int32))["out"].tolist() == expected


def test_while_stops_at_its_bound():
    out, value, half = buffer("out", I32), ir.Local("value", I32), ir.Local("half", I32)
    made = program(
        ir.Declare(value, op("i32", LANE)),
        ir.While(
            (ir.Let(half, op("div", value, i32(2))),), op("gt", value, i32(1)), (ir.Assign(value, half),), bound=3
        ),
        ir.StoreElement(out, LANE, value),
        buffers=(out,),
    )
    result = run(made, out=np.zeros(32, np.int32))["out"]
    assert result.tolist() == [lane if lane < 2 else max(lane >> 3, 1) for lane in range(32)]


@pytest.mark.parametrize(("stop", "step"), [(2**31 - 1, 2**30), (5, 0)])
def test_loop_that_cannot_be_right(stop, step):
    made = program(loop(ir.Local("i", I32), i32(1), i32(stop), i32(step)))
    with pytest.raises(interp.LoopError):
        run(made)


def test_uniforms_from_dims_and_scalars():
    rows, slope = Extent.of(Symbol("M", "dim")), ir.UniformField("slope", F32, scalar="slope")
    count, offset = ir.UniformField("groups", U32, rows), ir.UniformField("offset", I32, -rows)
    out = buffer("out")
    store = ir.StoreElement(out, GROUP, op("mul", ir.Uniform(slope), op("f32", ir.Uniform(offset))))
    dispatch = ir.Dispatch("main", 1, rows, count, (out,), (), (store,))
    made = ir.Program("kernel", (dispatch,), (count, slope, offset), Extent.of(0), ())
    result = run(made, dims={"M": 5}, scalars={"slope": 0.5}, out=np.zeros(8, np.float32))
    assert result["out"].tolist() == [-2.5] * 5 + [0] * 3


def test_bits():
    x, out = buffer("x", U32, writable=False), buffer("out", U32)
    value = ir.Load(x, LANE)
    half = bits("helper:f16_to_f32", value, dtype=F32)
    made = program(
        ir.If(op("lt", LANE, u32(4)), (ir.StoreElement(out, LANE, bits("bitcast", half)),)),
        ir.If(op("eq", LANE, u32(4)), (ir.StoreElement(out, LANE, bits("helper:f32_to_bf16", f32(1.00390625))),)),
        ir.If(
            op("eq", LANE, u32(5)),
            (
                ir.StoreElement(
                    out, LANE, bits("bitcast", bits("shr", bits("bitcast", value, dtype=I32), u32(4), dtype=I32))
                ),
            ),
        ),
        buffers=(x, out),
    )
    x_words = np.zeros(32, np.uint32)
    x_words[:6] = [0x3C00, 0x7C00, 0xFFFF8000, 0x3555, 0, 0x80000000]
    result = run(made, x=x_words, out=np.zeros(32, np.uint32))["out"]
    assert result[:4].view(np.float32).tolist()[:2] == [1.0, np.inf]
    assert result[2] == 0x80000000
    assert result[4] == 0x3F80
    assert result[5] == 0xF8000000


def test_store_to_a_readable_buffer_is_refused():
    x = buffer("x", writable=False)
    with pytest.raises(interp.InterpreterError, match="only readable"):
        run(program(ir.StoreElement(x, LANE, f32(0.0)), buffers=(x,)), x=np.zeros(32, np.float32))
