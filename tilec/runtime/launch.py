"""From bound arguments to a result: on a device through the compiled variant, or through the interpreter."""

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tilec.driver import Compiled, stage
from tilec.errors import ArrayError, DeviceError
from tilec.options import Limits, Options
from tilec.runtime.arrays import DeviceArray, allocate, numpy_dtype, upload_array
from tilec.runtime.cache import Kept
from tilec.runtime.compute import Buffer, Device, Launch, Pipeline
from tilec.runtime.limits import check_launch
from tilec.runtime.scalars import Number
from tilec.tile.ir import Kernel, TensorParameter
from tilec.types import DType
from tilec.wgsl.layout import dispatch_bindings, fold, pack_uniforms

Shapes: TypeAlias = "Mapping[str, tuple[int, ...]]"

_UNIFORMS_KEPT = 1024
_uniforms: Kept[Buffer] = Kept(_UNIFORMS_KEPT)
_scratch: dict[int, Buffer] = {}


def options_for(device: Device) -> Options:
    """The limits that a plan may use on the device."""
    limits = device.limits
    return Options(
        limits=Limits(
            invocations=limits["max-compute-invocations-per-workgroup"],
            workgroup_bytes=limits["max-compute-workgroup-storage-size"],
            storage_buffers=limits["max-storage-buffers-per-shader-stage"],
            workgroups_per_axis=limits["max-compute-workgroups-per-dimension"],
            binding_bytes=limits["max-storage-buffer-binding-size"],
            is_cpu=device.info.kind == "cpu",
        )
    )


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor that a launch returns. `shape` is the kernel's."""

    name: str
    dtype: DType
    shape: tuple[int, ...]


def tensor_shapes(kernel: Kernel, dims: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor parameter."""
    return {tensor.name: tuple(dim.evaluate(dims) for dim in tensor.dims) for tensor in kernel.tensors}


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
    kernel: Kernel, arrays: Mapping[str, np.ndarray], scalars: Mapping[str, Number], dims: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """Runs the kernel in the NumPy interpreter. `arrays` have the kernel's shapes and storage types."""
    from tilec.tile.interp import run

    with stage(f"interpreting kernel {kernel.name}"):
        results = run(kernel, dict(arrays), dict(scalars), dict(dims))
    written = {tensor.name: tensor for tensor in kernel.tensors if tensor.access != "in"}
    return {name: _own_type(results[name], tensor.dtype) for name, tensor in written.items()}


def _own_type(array: np.ndarray, dtype: DType) -> np.ndarray:
    target = numpy_dtype(dtype)
    return array.view(target) if dtype is DType.BF16 and array.dtype != target else array


# --- devices -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Step:
    """One dispatch: which buffer goes to which binding number (None: none), and the workgroups."""

    pipeline: Pipeline
    names: tuple[str | None, ...]
    groups: tuple[int, int, int]


class Prepared:
    """A variant with all that dims, scalars and the device decide: a launch only puts buffers in their places."""

    def __init__(
        self, compiled: Compiled, device: Device, dims: Mapping[str, int], scalars: Mapping[str, Number]
    ) -> None:
        self.compiled = compiled
        self.device = device
        self.shapes = tensor_shapes(compiled.kernel, dims)
        self.outputs = tuple(
            Output(tensor.name, tensor.dtype, self.shapes[tensor.name])
            for tensor in compiled.kernel.tensors
            if tensor.access != "in"
        )
        self._values = {**dims, **{name: int(n) for name, n in scalars.items() if not isinstance(n, float)}}
        check_launch(compiled, device, self.shapes, self._values)
        self._uniforms = self._uniform_buffer(scalars)
        self._scratch = self._scratch_buffer()
        self._steps = self._make_steps()
        self._spare: dict[str, list[Buffer]] = {}

    def _scratch_bytes(self) -> int:
        return 4 * max(0, self.compiled.program.scratch_words.evaluate(self._values))

    def _uniform_buffer(self, scalars: Mapping[str, Number]) -> Buffer | None:
        """A buffer with these uniforms, the same one for the same bytes: what never changes needs no write."""
        data = pack_uniforms(self.compiled.program, self._values, scalars)
        if not data:
            return None
        key = id(self.device), data
        known = _uniforms.get(key)
        if known is not None:
            return known
        buffer = self.device.create_buffer(len(data), uniform=True)
        self.device.write(buffer, data)
        return _uniforms.put(key, buffer)

    def _scratch_buffer(self) -> Buffer | None:
        """Scratch memory, one a device: launches are in order, and none relies on what it holds before."""
        needed = self._scratch_bytes()
        if not any(buffer.tensor is None for one in self.compiled.program.dispatches for buffer in one.buffers):
            return None
        with self.device.lock:
            known = _scratch.get(id(self.device))
            if known is None or known.size < needed:
                known = _scratch[id(self.device)] = self.device.create_buffer(needed)
            return known

    def _make_steps(self) -> tuple[_Step, ...]:
        steps = []
        program, emitted = self.compiled.program, self.compiled.emitted
        for dispatch, entry in zip(program.dispatches, emitted.entries, strict=True):
            own = dispatch_bindings(program, dispatch)
            size = 1 + max((binding.number for binding in own), default=-1)
            kinds: list = [None] * size
            names: list[str | None] = [None] * size
            for binding in own:
                kinds[binding.number] = binding.kind
                names[binding.number] = _key(binding.kind, binding.tensor)
            pipeline = self._pipeline(entry, kinds)
            groups = fold(max(0, dispatch.workgroups.evaluate(self._values)))
            if 0 not in groups:
                steps.append(_Step(pipeline, tuple(names), groups))
        return tuple(steps)

    def _pipeline(self, entry: str, kinds: list) -> Pipeline:
        emitted = self.compiled.emitted
        try:
            return self.device.compute_pipeline(emitted.text, entry, kinds)
        except DeviceError as error:
            raise DeviceError(with_places(str(error), emitted.spans)) from error

    def output(self, output: Output) -> tuple[DeviceArray, bool]:
        """Memory for an output, and whether it must be cleared because it was used before.

        Small ones come back when the array that held them is gone: making one costs more than a launch.
        """
        spare = self._spare.setdefault(output.name, [])
        try:
            array, is_used = DeviceArray(self.device, spare.pop(), output.dtype, output.shape), True
        except IndexError:
            array, is_used = allocate(self.device, output.dtype, output.shape), False
        if array.buffer.size <= _SPARE_BYTES:
            weakref.finalize(array, _give_back, spare, array.buffer).atexit = False
        return array, is_used

    def run(self, arrays: Mapping[str, DeviceArray], cleared: Sequence[Buffer] = ()) -> None:
        """Submits the dispatches; `arrays` holds every tensor parameter. Returns before they are done."""
        buffers: dict[str | None, Buffer | None] = {name: array.buffer for name, array in arrays.items()}
        buffers[None] = None
        buffers[_UNIFORMS] = self._uniforms
        buffers[_SCRATCH] = self._scratch
        self.device.run(
            [Launch(step.pipeline, [buffers[name] for name in step.names], step.groups) for step in self._steps],
            cleared,
        )


_SPARE_BYTES = 1 << 17
_SPARE_KEPT = 2


def _give_back(spare: list[Buffer], buffer: Buffer) -> None:
    """Keeps the memory of an output that nobody holds any more; what was submitted with it runs before its next use."""
    if len(spare) < _SPARE_KEPT and not buffer.is_freed:
        spare.append(buffer)


# No parameter is called so.
_UNIFORMS, _SCRATCH = "(uniforms)", "(scratch)"


def _key(kind: str, tensor: str | None) -> str:
    if kind == "uniform":
        return _UNIFORMS
    return _SCRATCH if tensor is None else tensor


_SHADER_PLACE = re.compile(r"wgsl:(\d+):\d+")


def with_places(words: str, spans: Mapping[int, object]) -> str:
    """The shader compiler's words with the lines of the source that its lines came from."""
    places = []
    for line in _SHADER_PLACE.findall(words):
        span = spans.get(int(line))
        if span is not None:
            places.append(f"line {line} of the shader is from {span.source.name}:{span.line}")  # type: ignore[attr-defined]
    return "\n".join([words, *dict.fromkeys(places)])


def launch(prepared: Prepared, arrays: Mapping[str, np.ndarray | DeviceArray]) -> dict[str, DeviceArray]:
    """Uploads host arrays, allocates the outputs that are missing, runs, and gives the tensors that were written.

    `arrays` have the kernel's storage types; device arrays are used where they are.
    """
    device, kernel = prepared.device, prepared.compiled.kernel
    on_device: dict[str, DeviceArray] = {}
    cleared: list[Buffer] = []
    for output in prepared.outputs:
        if output.name not in arrays:
            on_device[output.name], is_used = prepared.output(output)
            if is_used:
                cleared.append(on_device[output.name].buffer)
    for tensor in kernel.tensors:
        array = arrays.get(tensor.name)
        if array is None:
            continue
        if isinstance(array, DeviceArray):
            on_device[tensor.name] = array
        else:
            on_device[tensor.name] = upload_array(device, array, tensor.dtype)
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
