"""Runs rows and helper functions lane by lane on a device."""

from __future__ import annotations

import struct

import numpy as np

from tests.diff import tint
from tilec.ops import Call, Helper, Infix
from tilec.ops.reference import NUMPY_DTYPES
from tilec.runtime.device import Launch
from tilec.types import DType
from tilec.wgsl.helpers import helper_closure

_GROUPS_WIDE = 256


def _load(dtype, place):
    text = f"in{place}[i]"
    return f"{text} != 0u" if dtype is DType.BOOL else text


def row_text(row, dtypes, names=("x", "y", "z")):
    """The row as a WGSL expression, and the helpers that it needs."""
    form = row.wgsl[dtypes[1] if row.rule == "where" else dtypes[0]]
    operands = names[: len(dtypes)]
    match form:
        case Infix():
            text = f"{form.symbol}{operands[0]}" if len(operands) == 1 else f" {form.symbol} ".join(operands)
            return text, ()
        case Call():
            return f"{form.function}({', '.join(operands)})", ()
        case Helper():
            return f"{form.name}({', '.join(operands)})", (form.name,)


def shader(expression, helpers, dtypes, result):
    """A shader that evaluates `expression` of x, y, z at every lane."""
    stored = [DType.U32 if dtype is DType.BOOL else dtype for dtype in (*dtypes, result)]
    lines = [
        f"@group(0) @binding({place}) var<storage, read> in{place}: array<{stored[place]}>;"
        for place in range(len(dtypes))
    ]
    last = len(dtypes)
    lines.append(f"@group(0) @binding({last}) var<storage, read_write> out: array<{stored[-1]}>;")
    lines += helper_closure(helpers)
    lines += [
        "@compute @workgroup_size(64)",
        "fn go(@builtin(global_invocation_id) id: vec3<u32>) {",
        f"  let i = id.x + id.y * {64 * _GROUPS_WIDE}u;",
        "  if (i < arrayLength(&out)) {",
    ]
    lines += [f"    let {'xyz'[place]} = {_load(dtype, place)};" for place, dtype in enumerate(dtypes)]
    lines += [f"    out[i] = {'u32(' + expression + ')' if result is DType.BOOL else expression};", "  }", "}"]
    return "\n".join(lines) + "\n"


def run_expression(device, expression, helpers, operands, dtypes, result):
    """The values of the expression at every lane of the operands, on the device. The text is given to Tint too."""
    text = shader(expression, helpers, dtypes, result)
    tint.assert_valid(text)
    count = len(operands[0])
    padded = -(-count // 4) * 4
    kinds = ("read",) * len(dtypes) + ("read_write",)
    pipeline = device.compute_pipeline(text, "go", kinds)
    buffers = []
    for operand, dtype in zip(operands, dtypes, strict=True):
        words = operand.astype(np.uint32) if dtype is DType.BOOL else operand
        buffer = device.create_buffer(padded * 4)
        device.write(buffer, np.concatenate([words, np.zeros(padded - count, words.dtype)]).tobytes())
        buffers.append(buffer)
    output = device.create_buffer(padded * 4)
    groups = -(-padded // 64)
    device.run([Launch(pipeline, [*buffers, output], (min(groups, _GROUPS_WIDE), -(-groups // _GROUPS_WIDE), 1))])
    words = np.frombuffer(device.read(output), np.uint32)[:count].copy()
    if result is DType.BOOL:
        return words != 0
    return words.view(NUMPY_DTYPES[result])


def run_row(device, row, operands, dtypes, result):
    """A row at every lane of the operands (already of the dtypes that its rule gives)."""
    expression, helpers = row_text(row, dtypes)
    return run_expression(device, expression, helpers, operands, dtypes, result)


def f32_from(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]
