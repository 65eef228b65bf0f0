"""Small loop programs by hand, and running them: each thread of one workgroup writes what an expression gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.diff import tint
from tilec.loop.ir import (
    Bits,
    Buffer,
    Builtin,
    Dispatch,
    Expr,
    Program,
    SharedArray,
    Statement,
    StoreElement,
    UniformField,
)
from tilec.runtime.device import Device, Launch
from tilec.types import ONE, ZERO, DType, Extent
from tilec.wgsl import layout
from tilec.wgsl.emit import Emitted, emit_module

THREADS = 64
LOCAL_INDEX = Builtin("local_index")
COUNT = UniformField("workgroup_count", DType.U32, extent=ONE)
NUMPY = {DType.F32: np.float32, DType.I32: np.int32, DType.U32: np.uint32}


def out_buffer(dtype: DType) -> Buffer:
    return Buffer("Out", dtype, "Out", True)


def program(
    body: Sequence[Statement],
    buffers: Sequence[Buffer],
    *,
    shared: Sequence[SharedArray] = (),
    uniforms: Sequence[UniformField] = (),
    workgroups: Extent = ONE,
    count: UniformField = COUNT,
    threads: int = THREADS,
    name: str = "k",
) -> Program:
    dispatch = Dispatch(name, threads, workgroups, count, tuple(buffers), tuple(shared), tuple(body))
    return Program(name, (dispatch,), (*uniforms, count), ZERO, ())


def store_each(value: Expr, dtype: DType, *before: Statement, **extra: object) -> Program:
    """Thread i of one workgroup writes the value at Out[i], bools as 0 and 1."""
    out = out_buffer(DType.U32 if dtype is DType.BOOL else dtype)
    if dtype is DType.BOOL:
        from tilec.loop.ir import Op

        value = Op("u32", (value,), DType.U32)
    return program([*before, StoreElement(out, LOCAL_INDEX, value)], [out], **extra)  # type: ignore[arg-type]


def i32(expression: Expr) -> Expr:
    return Bits("bitcast", (expression,), DType.I32)


def accepted(one: Program) -> Emitted:
    """The emitted module, which Tint accepts."""
    emitted = emit_module(one)
    tint.assert_valid(emitted.text)
    return emitted


def run(
    device: Device,
    one: Program,
    arrays: dict[str, np.ndarray],
    values: dict[str, int] | None = None,
    scalars: dict[str, bool | int | float] | None = None,
) -> dict[str, np.ndarray]:
    """The arrays after the program ran on the device; `values` are dims and integers by name."""
    emitted = accepted(one)
    buffers = {}
    for name, array in arrays.items():
        buffers[name] = device.create_buffer(array.nbytes)
        device.write(buffers[name], np.ascontiguousarray(array))
    uniforms = layout.pack_uniforms(one, values or {}, scalars or {})
    places = layout.bindings(one)
    for dispatch, entry in zip(one.dispatches, emitted.entries, strict=True):
        own = {binding.number: binding for binding in layout.dispatch_bindings(one, dispatch)}
        kinds = [own[place.number].kind if place.number in own else None for place in places]
        arguments = [
            None if place.number not in own else uniforms if place.kind == "uniform" else buffers[place.name]
            for place in places
        ]
        pipeline = device.compute_pipeline(emitted.text, entry, kinds)  # type: ignore[arg-type]
        groups = layout.fold(max(0, dispatch.workgroups.evaluate(values or {})))
        device.run([Launch(pipeline, arguments, groups)])
    return {
        name: np.frombuffer(device.read(buffers[name]), array.dtype).reshape(array.shape)
        for name, array in arrays.items()
    }


def evaluate(device: Device, value: Expr, dtype: DType, *before: Statement, **extra: object) -> np.ndarray:
    """What thread 0 to 63 find for the expression."""
    one = store_each(value, dtype, *before, **extra)
    start = np.zeros(THREADS, NUMPY.get(dtype, np.uint32))
    return run(device, one, {"Out": start})["Out"]
