"""The manifest: everything a host needs to run a compiled kernel, as JSON. `docs/manifest.md` describes the format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tilec.export.conditions import condition_text
from tilec.export.log import USUAL_WORDS, log_description
from tilec.loop.ir import Dispatch, Program
from tilec.source import Source
from tilec.tile.ir import Kernel, ScalarParameter, TensorParameter
from tilec.tile.reports import LOG
from tilec.types import Extent
from tilec.wgsl.emit import Emitted
from tilec.wgsl.layout import (
    MOST_WORKGROUPS_AN_AXIS,
    bindings,
    dispatch_bindings,
    uniform_offsets,
    uniform_size,
)

FORMAT = 1
PADDING = 16
"""Every buffer's size is rounded up to a multiple of this many bytes: code may read and write whole vectors."""


def source_hash(sources: Iterable[Source]) -> str:
    """SHA-256 over the names and texts that a program's meaning depends on."""
    digest = hashlib.sha256()
    for source in sources:
        for text in (source.name, source.text):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def manifest(
    kernel: Kernel,
    variants: Sequence[tuple[str, Program, Emitted]],
    sources: Sequence[Source],
    *,
    version: str,
    features: Sequence[str] = (),
) -> dict[str, Any]:
    """The manifest of a kernel as JSON values.

    `variants` are (file name, program, emitted module), in the order in which a host tries them: the first whose guards
    all hold is right for its dims; the last has none. Formulas are texts over dims and i32 scalars with `+ - *` and
    ceildiv, div, mod, min, max on integers.
    """
    return {
        "format": FORMAT,
        "compiler": f"tilec {version}",
        "kernel": kernel.name,
        "doc": kernel.doc,
        "source": {"file": sources[0].name, "sha256": source_hash(sources)},
        "dims": list(kernel.dims),
        "given_dims": list(kernel.given_dims),
        "parameters": _parameters(kernel),
        "constants": _finite(kernel.constants),
        "requirements": [
            {
                "condition": one.span.text.strip(),
                "formula": condition_text(one.condition),
                "message": one.message,
            }
            for one in kernel.requirements
        ],
        "grid": [str(extent) for extent in kernel.grid],
        "padding": PADDING,
        "variants": [_variant(file, program, emitted, kernel, features) for file, program, emitted in variants],
    }


def _parameters(kernel: Kernel) -> list[dict[str, Any]]:
    tensors = {tensor.name: tensor for tensor in kernel.tensors}
    scalars = {scalar.name: scalar for scalar in kernel.scalars}
    found = []
    for name in kernel.parameters:
        if name in tensors:
            found.append(_tensor(tensors[name]))
        elif name in scalars and name not in kernel.constants:
            found.append(_scalar(scalars[name]))
    return found


def _tensor(tensor: TensorParameter) -> dict[str, Any]:
    elements = Extent.of(1)
    for dim in tensor.dims:
        elements = elements * dim
    return {
        "name": tensor.name,
        "kind": "tensor",
        "dtype": tensor.dtype.label,
        "access": tensor.access,
        "dims": [str(dim) for dim in tensor.dims],
        "bytes": str(elements * tensor.dtype.size),
        "doc": tensor.doc,
    }


def _scalar(scalar: ScalarParameter) -> dict[str, Any]:
    return {
        "name": scalar.name,
        "kind": "scalar",
        "dtype": scalar.dtype.label,
        "default": _json_number(scalar.default),
        "doc": scalar.doc,
    }


def _json_number(value: Any) -> Any:
    """JSON has no infinities: they are texts, `"inf"`, `"-inf"` and `"nan"`."""
    is_special = isinstance(value, float) and (value != value or value in (float("inf"), float("-inf")))
    return str(value) if is_special else value


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _json_number(value) for name, value in values.items()}


def _variant(
    file: str, program: Program, emitted: Emitted, kernel: Kernel, features: Sequence[str]
) -> dict[str, Any]:
    tensors = {tensor.name: tensor for tensor in kernel.tensors}
    return {
        "file": file,
        "sha256": hashlib.sha256(emitted.text.encode()).hexdigest(),
        "guards": list(program.guards),
        "bindings": [
            {
                "group": 0,
                "binding": binding.number,
                "name": binding.name,
                "kind": binding.kind,
                "holds": _holds(binding.kind, binding.tensor),
                "bytes": _bytes(program, binding.kind, binding.tensor, tensors),
            }
            for binding in bindings(program)
        ],
        "uniforms": {"bytes": uniform_size(program), "fields": _fields(program)},
        "scratch": {"bytes": str(program.scratch_words * 4), "zeroed": False},
        "dispatches": [
            _dispatch(program, dispatch, entry)
            for dispatch, entry in zip(program.dispatches, emitted.entries, strict=True)
        ],
        "limits": _limits(program),
        "features": list(features),
        **_log(program),
    }


def _log(program: Program) -> dict[str, Any]:
    """What a debug build tells, and nothing for other builds."""
    if program.log is None:
        return {}
    [number] = [binding.number for binding in bindings(program) if binding.tensor == LOG]
    return {"log": log_description(program.log, number)}


def _holds(kind: str, tensor: str | None) -> str:
    if tensor == LOG:
        return "log"
    return "uniforms" if kind == "uniform" else "scratch" if tensor is None else "tensor"


def _bytes(program: Program, kind: str, tensor: str | None, tensors: Mapping[str, TensorParameter]) -> str:
    if kind == "uniform":
        return str(uniform_size(program))
    if tensor == LOG:
        return str(4 * USUAL_WORDS)
    return str(program.scratch_words * 4) if tensor is None else _tensor(tensors[tensor])["bytes"]


def _fields(program: Program) -> list[dict[str, Any]]:
    return [
        {
            "name": field.name,
            "offset": offset,
            "type": field.dtype.label,
            **({"formula": str(field.extent)} if field.extent is not None else {"scalar": field.scalar}),
        }
        for field, offset in zip(program.uniforms, uniform_offsets(program), strict=True)
    ]


def _dispatch(program: Program, dispatch: Dispatch, entry: str) -> dict[str, Any]:
    return {
        "entry": entry,
        "workgroup_size": [dispatch.threads, 1, 1],
        "workgroups": str(dispatch.workgroups),
        # More than this make `ceildiv(n, most)` rows along y of `ceildiv(n, rows)` workgroups along x.
        "fold_beyond": MOST_WORKGROUPS_AN_AXIS,
        "bindings": [
            {"binding": binding.number, "kind": binding.kind} for binding in dispatch_bindings(program, dispatch)
        ],
        "workgroup_bytes": sum(4 * array.length for array in dispatch.shared),
    }


def _limits(program: Program) -> dict[str, int]:
    """What the variant needs of a device, by WebGPU's names; buffer sizes come on top, by the formulas."""
    dispatches = program.dispatches
    threads = max((one.threads for one in dispatches), default=1)
    return {
        "maxComputeInvocationsPerWorkgroup": threads,
        "maxComputeWorkgroupSizeX": threads,
        "maxComputeWorkgroupStorageSize": max((sum(4 * a.length for a in one.shared) for one in dispatches), default=0),
        "maxStorageBuffersPerShaderStage": max((len(one.buffers) for one in dispatches), default=0),
    }
