"""A compiled variant with all that sizes, scalars and the device decide: a launch only puts buffers in their places."""

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilec.errors import DeviceError, DeviceLostError
from tilec.runtime.arrays import DeviceArray, allocate
from tilec.runtime.compute import Device
from tilec.runtime.executable import Code
from tilec.runtime.limits import check_launch
from tilec.runtime.memory import Buffer, Launch, Pipeline, Slice
from tilec.runtime.recording import Work
from tilec.runtime.scalars import Number
from tilec.source import Span
from tilec.tile.ir import Kernel
from tilec.tile.written import fully_written
from tilec.types import DType
from tilec.wgsl.layout import dispatch_bindings, fold, pack_uniforms


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor that a launch returns. `shape` is the kernel's."""

    name: str
    dtype: DType
    shape: tuple[int, ...]


def tensor_shapes(kernel: Kernel, dims: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor parameter."""
    return {tensor.name: tuple(dim.evaluate(dims) for dim in tensor.dims) for tensor in kernel.tensors}


@dataclass(frozen=True, slots=True)
class _Step:
    """One dispatch: which buffer goes to which binding number (None: none), and the workgroups."""

    pipeline: Pipeline
    names: tuple[str | None, ...]
    groups: tuple[int, int, int]


class Prepared:
    """A variant for sizes and scalars on a device. `scratch_bytes` is how much scratch memory a launch needs."""

    def __init__(
        self,
        compiled: Code,
        device: Device,
        dims: Mapping[str, int],
        scalars: Mapping[str, Number],
        *,
        may_exceed_scratch: bool = False,
    ) -> None:
        self.compiled = compiled
        self.device = device
        self.dims = dims
        self.scalars = scalars
        self.shapes = tensor_shapes(compiled.kernel, dims)
        self.outputs = written_tensors(compiled.kernel, self.shapes)
        self._values = {**dims, **{name: int(n) for name, n in scalars.items() if not isinstance(n, float)}}
        check_launch(compiled, device, self.shapes, self._values, may_exceed_scratch=may_exceed_scratch)
        self.scratch_bytes = 4 * max(0, compiled.program.scratch_words.evaluate(self._values))
        self._has_scratch = any(buffer.tensor is None for one in compiled.program.dispatches for buffer in one.buffers)
        self._what = f"run the kernel {place_of(compiled.kernel)}"
        self._uniforms = self._uniform_buffer(scalars)
        self._steps = self._make_steps()
        self._overwritten = fully_written(compiled.kernel)
        self._spares = Spares(device, self._overwritten)

    @property
    def kernel(self) -> Kernel:
        """The tile kernel: its parameters, for chosen types."""
        return self.compiled.kernel

    def _uniform_buffer(self, scalars: Mapping[str, Number]) -> Buffer | None:
        """A buffer with these uniforms, the same one for the same bytes: what never changes needs no write."""
        data = pack_uniforms(self.compiled.program, self._values, scalars)
        if not data:
            return None
        known = self.device.uniforms.get(data)
        if known is not None:
            return known
        buffer = self.device.create_buffer(len(data), uniform=True)
        self.device.write(buffer, data)
        return self.device.uniforms.put(data, buffer)

    def _make_steps(self) -> tuple[_Step, ...]:
        steps: list[_Step] = []
        program, emitted = self.compiled.program, self.compiled.emitted
        for dispatch, entry in zip(program.dispatches, emitted.entries, strict=True):
            own = dispatch_bindings(program, dispatch)
            size = 1 + max((binding.number for binding in own), default=-1)
            kinds: list[Any] = [None] * size
            names: list[str | None] = [None] * size
            for binding in own:
                kinds[binding.number] = binding.kind
                names[binding.number] = _key(binding.kind, binding.tensor)
            pipeline = self._pipeline(entry, kinds)
            groups = fold(max(0, dispatch.workgroups.evaluate(self._values)))
            if 0 not in groups:
                steps.append(_Step(pipeline, tuple(names), groups))
        return tuple(steps)

    def _pipeline(self, entry: str, kinds: list[Any]) -> Pipeline:
        emitted = self.compiled.emitted
        try:
            return self.device.compute_pipeline(emitted.text, entry, kinds)
        except DeviceLostError:
            raise
        except DeviceError as error:
            words = with_places(str(error), emitted.spans)
            raise DeviceError(f"the kernel {place_of(self.kernel)}: {words}") from error

    def output(self, output: Output) -> tuple[DeviceArray, bool]:
        """Memory for an output, and whether a launch must clear it first."""
        return self._spares.output(output)

    def must_clear(self, name: str) -> bool:
        """Whether a launch may leave elements of a tensor as they are."""
        return name not in self._overwritten

    def launches(self, parts: Mapping[str, Buffer | Slice]) -> list[Launch]:
        """The dispatches on buffers, or parts of them, for every tensor parameter."""
        arguments: dict[str | None, Buffer | Slice | None] = {**parts, None: None, _UNIFORMS: self._uniforms}
        if self._has_scratch:
            arguments[_SCRATCH] = self.device.scratch(self.scratch_bytes)
        return [Launch(step.pipeline, [arguments[name] for name in step.names], step.groups) for step in self._steps]

    def work(self, arrays: Mapping[str, DeviceArray], cleared: Sequence[Buffer] = ()) -> Work | None:
        """The launch with everything made, to be submitted again and again."""
        launches = self.launches({name: array.buffer for name, array in arrays.items()})
        return self.device.prepare(launches, cleared, self._what)

    def run(
        self,
        arrays: Mapping[str, DeviceArray],
        cleared: Sequence[Buffer] = (),
        log: Mapping[str, Buffer] | None = None,
    ) -> None:
        """Submits the dispatches; `arrays` holds every tensor parameter, `log` a debug build's log by its name. Returns
        before they are done."""
        launches = self.launches({**{name: array.buffer for name, array in arrays.items()}, **(log or {})})
        self.device.run(launches, cleared, self._what)


def written_tensors(kernel: Kernel, shapes: Mapping[str, tuple[int, ...]]) -> tuple[Output, ...]:
    """The tensors that a launch returns, outputs and those that it updates."""
    return tuple(Output(one.name, one.dtype, shapes[one.name]) for one in kernel.tensors if one.access != "in")


def place_of(kernel: Kernel) -> str:
    """A kernel as errors call it: `double (loss.ph:3)`."""
    return f"{kernel.name} ({kernel.span.place})"


# --- memory of outputs ---------------------------------------------------------------------------------------

_SPARE_BYTES = 1 << 17
_SPARE_KEPT = 2


class Spares:
    """The memory of small outputs that nobody holds any more: making a buffer costs more than a launch.

    `overwritten` are the outputs that a launch writes whole, so that what they held does not matter.
    """

    def __init__(self, device: Device, overwritten: frozenset[str]) -> None:
        self._device = device
        self._overwritten = overwritten
        self._spare: dict[str, list[Buffer]] = {}

    def output(self, output: Output) -> tuple[DeviceArray, bool]:
        """Memory for an output, and whether a launch must clear it first because it was used before."""
        spare = self._spare.setdefault(output.name, [])
        try:
            buffer = spare.pop()
        except IndexError:
            array, must_clear = allocate(self._device, output.dtype, output.shape), False
        else:
            # Another thread may have recorded work on it that is not submitted yet.
            self._device.submit_batches_with(buffer, of_others=True)
            array = DeviceArray(self._device, buffer, output.dtype, output.shape)
            must_clear = output.name not in self._overwritten
        if array.buffer.size <= _SPARE_BYTES:
            weakref.finalize(array, _give_back, spare, array.buffer).atexit = False
        return array, must_clear


def _give_back(spare: list[Buffer], buffer: Buffer) -> None:
    """Keeps the memory of an output that nobody holds any more; what was submitted with it runs before its next use."""
    if len(spare) < _SPARE_KEPT and not buffer.is_freed:
        spare.append(buffer)


# --- names ---------------------------------------------------------------------------------------------------

# No parameter is called so.
_UNIFORMS, _SCRATCH = "(uniforms)", "(scratch)"


def _key(kind: str, tensor: str | None) -> str:
    if kind == "uniform":
        return _UNIFORMS
    return _SCRATCH if tensor is None else tensor


_SHADER_PLACE = re.compile(r"wgsl:(\d+):\d+")


def with_places(words: str, spans: Mapping[int, Span]) -> str:
    """The shader compiler's words with the lines of the source that its lines came from."""
    places: list[str] = []
    for line in _SHADER_PLACE.findall(words):
        span = spans.get(int(line))
        if span is not None:
            places.append(f"line {line} of the shader is from {span.place}")
    return "\n".join([words, *dict.fromkeys(places)])
