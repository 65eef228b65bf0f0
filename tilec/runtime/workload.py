"""A kernel's tensors on a device for measuring: in as many sets as outrun its cache, filled with drawn numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

import numpy as np

from tilec.runtime.arrays import DeviceArray, allocate, numpy_dtype
from tilec.runtime.compute import Device
from tilec.runtime.memory import Buffer, Launch
from tilec.runtime.prepared import Prepared, tensor_shapes
from tilec.runtime.timing import Measured, Rounds, Timer, copy_launch
from tilec.tile.ir import Kernel

_ROTATED = {"cpu": 64 << 20}
_ROTATED_GPU = 256 << 20
_MOST_SETS = 64
_PASS_SECONDS = 4e-3
"""About how long one sample is: long against the clock's grain, short against a session's time."""
_MOST_LAUNCHES = 64


class Workload:
    """The tensors of a kernel for given sizes.

    `samples` hold, for every tensor that the kernel reads, some elements in its storage type: they are repeated until
    the tensor is full, so whole rows of a matrix make rows that repeat.
    """

    def __init__(
        self, device: Device, kernel: Kernel, dims: Mapping[str, int], samples: Mapping[str, np.ndarray]
    ) -> None:
        self.device, self.kernel = device, kernel
        shapes = tensor_shapes(kernel, dims)
        self._samples = {name: self._upload(sample) for name, sample in samples.items() if sample.size}
        first = self._make_set(shapes)
        self.nbytes = sum(array.nbytes for array in first.values())
        rotated = _ROTATED.get(device.info.kind, _ROTATED_GPU)
        count = max(1, min(_MOST_SETS, -(-rotated // max(1, self.nbytes))))
        self.sets = [first, *(self._make_set(shapes) for _ in range(count - 1))]
        self._fill([name for name in self._samples])

    def _upload(self, sample: np.ndarray) -> Buffer:
        raw = np.ascontiguousarray(sample).tobytes()
        raw *= 4 if len(raw) % 4 else 1  # copies are of whole words
        buffer = self.device.create_buffer(len(raw))
        self.device.write(buffer, raw)
        return buffer

    def _make_set(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, DeviceArray]:
        return {
            tensor.name: allocate(self.device, tensor.dtype, shapes[tensor.name]) for tensor in self.kernel.tensors
        }

    def _fill(self, names: list[str]) -> None:
        encoder = self.device.handle.create_command_encoder()
        for arrays in self.sets:
            for name in names:
                sample, target = self._samples[name], arrays[name].buffer
                for start in range(0, target.size, sample.nbytes):
                    count = min(sample.nbytes, target.size - start)
                    encoder.copy_buffer_to_buffer(sample.handle, 0, target.handle, start, count)
        self.device.handle.queue.submit([encoder.finish()])

    def restore(self) -> None:
        """Gives the tensors that a launch overwrites the numbers that they had at first."""
        names = [one.name for one in self.kernel.tensors if one.access == "inout" and one.name in self._samples]
        if names:
            self._fill(names)

    def launches(self, prepared: Prepared) -> list[list[Launch]]:
        """A launch on each set."""
        return [prepared.launches({name: array.buffer for name, array in arrays.items()}) for arrays in self.sets]

    def results(self, prepared: Prepared, most_bytes: int = 1 << 24) -> dict[str, np.ndarray]:
        """What one launch writes: the first elements of each tensor, flat, in its storage type."""
        self.restore()
        arrays = self.sets[0]
        self.device.run(self.launches(prepared)[0])
        found = {}
        for tensor in self.kernel.tensors:
            if tensor.access != "in":
                array = arrays[tensor.name]
                raw = self.device.read(array.buffer, min(array.nbytes, most_bytes))
                found[tensor.name] = np.frombuffer(bytes(raw), numpy_dtype(tensor.dtype))
        return found

    def free(self) -> None:
        for arrays in self.sets:
            for array in arrays.values():
                array.free()
        for buffer in self._samples.values():
            buffer.free()


@dataclass(slots=True)
class Timings:
    """By name of the contender: kernel time, and the wall's time of one launch with its wait. `copy` is the time that
    a copy takes to read and write the ideal bytes."""

    kernels: dict[str, Measured]
    walls: dict[str, float] = field(default_factory=dict)
    copy: Measured | None = None
    by_timestamps: bool = True


def time_contenders(
    workload: Workload,
    contenders: Mapping[str, Prepared],
    seconds: float,
    ideal_bytes: int = 0,
    report: Callable[[float], None] | None = None,
) -> Timings:
    """Times prepared kernels in turn on the same tensors, and a copy of as many bytes as the ideal has. `report` is
    told which share of the time is over."""
    timer = Timer(workload.device)
    rounds = {
        name: _rounds(timer, workload.launches(prepared), workload.restore) for name, prepared in contenders.items()
    }
    copied = _copy_sets(workload.device, ideal_bytes)
    if copied:
        rounds["\0copy"] = _rounds(timer, [[copy_launch(workload.device, *pair)] for pair in copied], None)
    try:
        measured = timer.in_turn(rounds, seconds, report)
    finally:
        for pair in copied:
            for buffer in pair:
                buffer.free()
    copy = measured.pop("\0copy", None)
    if copy is not None:
        scale = ideal_bytes / (2 * copied[0][0].size)
        copy = Measured(copy.median * scale, copy.low * scale, copy.high * scale, copy.samples)
    walls = {name: _wall(timer, workload, prepared) for name, prepared in contenders.items()}
    return Timings(measured, walls, copy, timer.by_timestamps)


def _rounds(timer: Timer, launches: list[list[Launch]], prepare: Any) -> Rounds:
    """So many launches, the sets in turn, that a sample is long enough."""
    first = timer.once(Rounds(launches[:1], prepare))
    again = timer.once(Rounds(launches[:1], prepare))  # the first one compiled
    count = round(_PASS_SECONDS / max(min(first, again), 1e-7))
    return Rounds(list(islice(cycle(launches), max(1, min(_MOST_LAUNCHES, count)))), prepare)


def _copy_sets(device: Device, ideal_bytes: int) -> list[tuple[Buffer, Buffer]]:
    if not ideal_bytes:
        return []
    most = min(device.limits["max-storage-buffer-binding-size"], device.limits["max-buffer-size"])
    nbytes = min(max(4096, ideal_bytes // 2), most // 16 * 16)
    rotated = _ROTATED.get(device.info.kind, _ROTATED_GPU)
    count = max(1, min(_MOST_SETS, -(-rotated // (2 * nbytes))))
    return [(device.create_buffer(nbytes), device.create_buffer(nbytes)) for _ in range(count)]


def _wall(timer: Timer, workload: Workload, prepared: Prepared) -> float:
    """Seconds of a launch by the wall, from the call to the finished result."""
    import statistics
    import time

    samples = []
    launch = workload.launches(prepared)[0]
    for _ in range(9):
        workload.restore()
        timer.device.synchronize()
        start = time.perf_counter()
        timer.device.run(launch)
        timer.device.synchronize()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)
