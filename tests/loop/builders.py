"""Short names for writing loop IR by hand."""

from __future__ import annotations

import numpy as np

from tilec.loop import interp, ir
from tilec.ops import POINTWISE, Operand, apply_rule
from tilec.types import DType, Extent

F32, I32, U32, BOOL = DType.F32, DType.I32, DType.U32, DType.BOOL
LANE, GROUP = ir.Builtin("local_index"), ir.Builtin("workgroup")


def u32(value):
    return ir.Const(U32, value)


def i32(value):
    return ir.Const(I32, value)


def f32(value):
    return ir.Const(F32, value)


def op(name, *operands):
    signature = apply_rule(POINTWISE[name].rule, [Operand(operand.dtype) for operand in operands])
    return ir.Op(name, operands, signature.result)


def bits(name, *operands, dtype=U32):
    return ir.Bits(name, operands, dtype)


def buffer(name, element=F32, width=1, writable=True, tensor=""):
    return ir.Buffer(name, element, name if tensor == "" else tensor, writable, width)


def loop(index, start, stop, step, *body, until=None):
    return ir.Loop(index, start, stop, step, body, until)


def program(*body, threads=32, workgroups=1, buffers=(), shared=(), scratch=0):
    count = ir.UniformField("groups", U32, Extent.of(workgroups))
    dispatch = ir.Dispatch("main", threads, Extent.of(workgroups), count, tuple(buffers), tuple(shared), body)
    return ir.Program("kernel", (dispatch,), (count,), Extent.of(scratch), ())


def run(made, *, dims=None, scalars=None, **buffers):
    """Runs with copies of the buffers and gives them back."""
    results = []
    for order in ("forwards", "backwards"):
        copies = {name: np.array(words) for name, words in buffers.items()}
        interp.run(made, copies, interp.evaluate_uniforms(made, dims or {}, scalars or {}), order=order)
        results.append(copies)
    for name, words in results[0].items():
        np.testing.assert_array_equal(words.view(np.uint32), results[1][name].view(np.uint32))
    return results[0]
