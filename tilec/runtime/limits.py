"""What a device cannot launch, found before the driver meets it: errors name the limit, the value and a way out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from tilec.diag.catalog import TOO_MANY_BUFFERS
from tilec.errors import CompileError, DeviceError
from tilec.options import Options
from tilec.runtime.executable import Code
from tilec.tile.ir import Kernel, TensorParameter
from tilec.wgsl.layout import fold, uniform_size

if TYPE_CHECKING:
    from tilec.runtime.cache import Variants
    from tilec.runtime.compute import Device

BINDING, BUFFERS = "max-storage-buffer-binding-size", "max-storage-buffers-per-shader-stage"
WORKGROUPS = "max-compute-workgroups-per-dimension"
_THREADS = ("max-compute-invocations-per-workgroup", "max-compute-workgroup-size-x")
_SHARED = "max-compute-workgroup-storage-size"
_UNIFORMS = "max-uniform-buffer-binding-size"

_WAYS = {
    BINDING: "launch on fewer rows at a time",
    WORKGROUPS: "launch on fewer rows at a time",
    BUFFERS: "merge tensors of one shape and type, or split the kernel in two",
    _UNIFORMS: "fix scalars with specialize(), or pass them in a tensor",
    **dict.fromkeys((*_THREADS, _SHARED), "ask for fewer threads with @threads(n) on the kernel"),
}
MOST_ELEMENTS = 2**32 - 1
"""Elements of a tensor are numbered in a u32."""

MOST_OF_AN_AXIS = 2**31 - 1 - 2**16
"""Loops over an axis count in an i32, up to one round of a workgroup past the end."""


def compile_for(variants: Variants, device: Device, dims: Mapping[str, int], options: Options) -> Code:
    """The variant for these dims on the device, with the plan that was tuned for it. Raises CompileError, and
    DeviceError where another device would do."""
    from tilec.runtime.tuned import tuned_options

    options = tuned_options(variants.kernel, device, dims, options)
    try:
        return variants.for_dims(dims, options)
    except CompileError as error:
        offered = device.info.limits.get(BUFFERS, 0)
        codes = [getattr(one, "code", "") for one in error.diagnostics]
        if TOO_MANY_BUFFERS.code not in codes or offered <= options.limits.storage_buffers:
            raise
        compiled = variants.for_dims(dims, replace(options, limits=replace(options.limits, storage_buffers=offered)))
        count = max(len(dispatch.buffers) for dispatch in compiled.program.dispatches)
        _at_most(device, BUFFERS, count, f"{compiled.program.kernel}: tensors and scratch of one dispatch")
        raise  # only if the device itself would take them


def too_large(device: Device, tensor: TensorParameter, shape: tuple[int, ...]) -> bool:
    """Whether the tensor has more bytes than the device binds, or more elements than a shader numbers."""
    return bool(shape) and bool(prod(shape)) and shape[0] > most_rows(device, tensor, shape)


def most_rows(device: Device, tensor: TensorParameter, shape: tuple[int, ...]) -> int:
    """How many rows of the tensor the device binds, and a shader numbers, at once."""
    elements = max(1, prod(shape[1:]))
    # A part of a buffer is bound with its end rounded up to 16 bytes.
    by_bytes = device.limits[BINDING] // 16 * 16 // (tensor.dtype.size * elements)
    return min(shape[0], by_bytes, MOST_ELEMENTS // elements, MOST_OF_AN_AXIS)


def why_large(device: Device, tensor: TensorParameter, shape: tuple[int, ...]) -> str:
    """In words, why the tensor is too large for one launch."""
    nbytes = tensor.dtype.size * prod(shape)
    text = f"{tensor.name} [{', '.join(map(str, shape))}]"
    if nbytes > device.limits[BINDING]:
        limit = f"{device.limits[BINDING]:,} ({BINDING})"
        return f"{text} of {nbytes:,} bytes is more than {device.name} binds at once, {limit}"
    if prod(shape) > MOST_ELEMENTS:
        return f"{text} has {prod(shape):,} elements, and a shader numbers at most {MOST_ELEMENTS:,} (32 bits)"
    return f"{text} has more rows than a shader counts, {MOST_OF_AN_AXIS:,} (32 bits, signed)"


def way_around(device: Device, kernel: Kernel, shapes: Mapping[str, tuple[int, ...]]) -> str:
    """What to do about tensors that are more than the device binds at once."""
    largest = max(tensor.dtype.size * prod(shapes[tensor.name]) for tensor in kernel.tensors)
    return _way(device, BINDING, largest)


def check_launch(
    compiled: Code,
    device: Device,
    shapes: Mapping[str, tuple[int, ...]],
    values: Mapping[str, int],
    *,
    may_exceed_scratch: bool = False,
) -> None:
    """Raises DeviceError for what the device cannot launch. `values` are dims and integer scalars by name."""
    program = compiled.program
    kernel = program.kernel
    for feature in compiled.options.features:
        if feature not in device.features:
            raise DeviceError(
                f"{kernel}: the code uses the feature {feature}, which {device.name} was not opened with; "
                "compile without it, or open the device with it if the adapter has it"
            )
    for tensor in compiled.kernel.tensors:
        shape = shapes[tensor.name]
        what = f"{kernel}: the bytes of {tensor.name} [{', '.join(map(str, shape))}]"
        _at_most(device, BINDING, tensor.dtype.size * prod(shape), what)
        _check_counting(kernel, tensor.name, shape)
    scratch = 4 * max(0, program.scratch_words.evaluate(values))
    if not may_exceed_scratch:
        _at_most(device, BINDING, scratch, f"{kernel}: the bytes of scratch memory")
    _at_most(device, _UNIFORMS, uniform_size(program), f"{kernel}: the bytes of sizes and scalars")
    for dispatch in program.dispatches:
        what = f"{kernel}: the dispatch {dispatch.name}"
        for limit in _THREADS:
            _at_most(device, limit, dispatch.threads, f"{what}: threads of a workgroup")
        shared = sum(4 * array.length for array in dispatch.shared)
        _at_most(device, _SHARED, shared, f"{what}: bytes of workgroup memory")
        _at_most(device, BUFFERS, len(dispatch.buffers), f"{what}: tensors and scratch")
        workgroups = max(0, dispatch.workgroups.evaluate(values))
        if max(fold(workgroups)) > device.limits[WORKGROUPS]:
            most = device.limits[WORKGROUPS]
            raise DeviceError(
                f"{what}: {workgroups:,} workgroups are more than {device.name} launches, {most:,} an axis of two "
                f"({WORKGROUPS}); {_WAYS[WORKGROUPS]}"
            )


def _check_counting(kernel: str, name: str, shape: tuple[int, ...]) -> None:
    if prod(shape) > MOST_ELEMENTS:
        raise DeviceError(
            f"{kernel}: {name} has {prod(shape):,} elements, and a shader numbers at most {MOST_ELEMENTS:,} (32 bits); "
            f"{_WAYS[BINDING]}"
        )
    if max(shape) > MOST_OF_AN_AXIS:
        raise DeviceError(
            f"{kernel}: an axis of {name} has {max(shape):,} elements, and a shader counts up to {MOST_OF_AN_AXIS:,} "
            "(32 bits, signed); give it more axes"
        )


def _at_most(device: Device, limit: str, value: int, what: str) -> None:
    if value <= device.limits[limit]:
        return
    way = _way(device, limit, value)
    raise DeviceError(f"{what}: {value:,} is more than {device.name} allows, {device.limits[limit]:,} ({limit}); {way}")


def _way(device: Device, limit: str, value: int) -> str:
    if value <= device.info.limits.get(limit, 0):
        return f"this adapter offers more: tilec.device({device.info.index}, limits={{'{limit}': {value}}})"
    return _WAYS[limit]
