"""From bound arguments to a result: on a device through what was prepared, or through the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tilec.driver import stage
from tilec.errors import ArrayError, SandboxError
from tilec.options import Limits, Options
from tilec.runtime.arrays import DeviceArray, numpy_dtype, upload_array
from tilec.runtime.compute import Device
from tilec.runtime.memory import Buffer
from tilec.runtime.prepared import Prepared
from tilec.runtime.scalars import Number
from tilec.runtime.trust import shuffled_threads, trusted_builtins
from tilec.tile.ir import Kernel, TensorParameter
from tilec.tile.outline import Outline
from tilec.tile.reports import Log
from tilec.types import DType

if TYPE_CHECKING:
    from tilec.runtime.windowed import Launchable

__all__ = ["Prepared", "check_aliases", "common_device", "interpret", "launch", "options_for", "place"]


Write: TypeAlias = "Callable[[str], None]"


def options_for(device: Device) -> Options:
    """The limits that a plan may use on the device, and the built-ins that a probe found right there."""
    limits = device.limits
    return Options(
        limits=Limits(
            invocations=limits["max-compute-invocations-per-workgroup"],
            workgroup_bytes=limits["max-compute-workgroup-storage-size"],
            storage_buffers=limits["max-storage-buffers-per-shader-stage"],
            workgroups_per_axis=limits["max-compute-workgroups-per-dimension"],
            binding_bytes=limits["max-storage-buffer-binding-size"],
            is_cpu=device.info.kind == "cpu",
            subgroup=shuffled_threads(device),
        ),
        trusted=trusted_builtins(device),
    )


def check_aliases(kernel: Kernel, arrays: Mapping[str, object]) -> None:
    """Refuses one array for two parameters of which one is written."""
    seen: dict[int, TensorParameter] = {}
    for tensor in kernel.tensors:
        if tensor.name not in arrays:
            continue
        array = arrays[tensor.name]
        key = id(array.buffer) if isinstance(array, DeviceArray) else id(array)
        other = seen.setdefault(key, tensor)
        if other is not tensor and (other.access != "in" or tensor.access != "in"):
            written = other if other.access != "in" else tensor
            raise ArrayError(
                f"{other.name} and {tensor.name} are the same array, and {kernel.name} writes {written.name}: "
                "pass a copy for one of them"
            )


# --- the interpreter -----------------------------------------------------------------------------------------


def interpret(
    kernel: Kernel,
    arrays: Mapping[str, np.ndarray],
    scalars: Mapping[str, Number],
    dims: Mapping[str, int],
    log: Log | None = None,
    unwritten: dict[str, np.ndarray] | None = None,
    write: Write | None = None,
) -> dict[str, np.ndarray]:
    """Runs the kernel in the NumPy interpreter. `arrays` have the kernel's shapes and storage types; `log` and
    `unwritten` are filled as `tilec.tile.interp.run` does. `write` gets a line for each step."""
    if isinstance(kernel, Outline):
        reason = "was compiled in a sandbox, from which only its code comes back, and the interpreter runs no code"
        raise SandboxError(f"{kernel.name} {reason}: run it on a device")
    from tilec.tile.interp import run

    trace = each_block = None
    if write is not None:
        from tilec.runtime.trace import Tracer

        values = {**dims, **{name: int(n) for name, n in scalars.items() if not isinstance(n, float)}}
        x, y, z = (max(0, extent.evaluate(values)) for extent in kernel.grid)
        tracer = Tracer(kernel, (x, y, z), write)
        trace, each_block = tracer.step, tracer.block
    with stage(f"interpreting kernel {kernel.name}"):
        results = run(
            kernel, dict(arrays), dict(scalars), dict(dims), trace=trace, each_block=each_block, log=log,
            unwritten=unwritten,
        )  # fmt: skip
    written = {tensor.name: tensor for tensor in kernel.tensors if tensor.access != "in"}
    return {name: _own_type(results[name], tensor.dtype) for name, tensor in written.items()}


def _own_type(array: np.ndarray, dtype: DType) -> np.ndarray:
    target = numpy_dtype(dtype)
    return array.view(target) if dtype is DType.BF16 and array.dtype != target else array


# --- devices -------------------------------------------------------------------------------------------------


def place(
    prepared: Launchable, arrays: Mapping[str, np.ndarray | DeviceArray]
) -> tuple[dict[str, DeviceArray], list[Buffer]]:
    """Every tensor on the device, and what has to be cleared: host arrays are uploaded, missing outputs allocated."""
    device = prepared.device
    on_device: dict[str, DeviceArray] = {}
    cleared: list[Buffer] = []
    for output in prepared.outputs:
        if output.name not in arrays:
            on_device[output.name], must_clear = prepared.output(output)
            if must_clear:
                cleared.append(on_device[output.name].buffer)
    for tensor in prepared.kernel.tensors:
        array = arrays.get(tensor.name)
        if array is None:
            continue
        if isinstance(array, DeviceArray):
            on_device[tensor.name] = array
        else:
            on_device[tensor.name] = upload_array(device, array, tensor.dtype)
    return on_device, cleared


def launch(prepared: Launchable, arrays: Mapping[str, np.ndarray | DeviceArray]) -> dict[str, DeviceArray]:
    """Uploads host arrays, allocates the outputs that are missing, runs, and gives the tensors that were written.

    `arrays` have the kernel's storage types; device arrays are used where they are.
    """
    on_device, cleared = place(prepared, arrays)
    prepared.run(on_device, cleared)
    return {output.name: on_device[output.name] for output in prepared.outputs}


def common_device(arrays: Sequence[tuple[str, DeviceArray]], asked: Device | None) -> Device | None:
    """The device of the device arrays. Raises ArrayError where they, or the one asked for, differ."""
    device, first = asked, "the device asked for"
    for name, array in arrays:
        if device is not None and array.device is not device:
            raise ArrayError(f"{name} is on {array.device.name}, but {first} is {device.name}: copy it with .numpy()")
        if device is None:
            device, first = array.device, f"{name}'s device"
    return device
