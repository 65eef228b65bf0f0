"""Launches of debug builds: with a log, outputs that begin as poison, and what both say afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tilec.export.log import USUAL_WORDS
from tilec.runtime.arrays import DeviceArray, allocate, upload_array
from tilec.runtime.log import empty_log, overflow, read_log
from tilec.runtime.prepared import Output, Prepared
from tilec.tile.reports import LOG, Layout, Log
from tilec.types import DType

LOG_WORDS = USUAL_WORDS
"""Words of a log, of 32 bits."""

_POISONS = (0xA5, 0x5A)
"""By attempt, the byte that outputs consist of before a launch."""


@dataclass(frozen=True, slots=True)
class Debugged:
    """What a launch gave: the tensors that it wrote, its log, and by output which elements nothing was stored to."""

    written: dict[str, DeviceArray]
    log: Log
    unwritten: dict[str, np.ndarray]


class _Attempt:
    """One launch with the arrays as they were given; device arrays that it writes are restored before the next."""

    def __init__(self, prepared: Prepared, arrays: Mapping[str, np.ndarray | DeviceArray]) -> None:
        self.prepared, self.arrays = prepared, arrays
        self.saved = {
            output.name: array.numpy()
            for output in prepared.outputs
            if isinstance(array := arrays.get(output.name), DeviceArray)
        }
        self.poisoned = [output for output in prepared.outputs if output.name not in arrays]

    def run(self, number: int, layout: Layout | None, last_block: int | None) -> _Outcome:
        device = self.prepared.device
        on_device: dict[str, DeviceArray] = {}
        for output in self.poisoned:
            on_device[output.name] = allocate(device, output.dtype, output.shape)
            device.write(on_device[output.name].buffer, _poison(output, number).tobytes())
        for tensor in self.prepared.compiled.kernel.tensors:
            array = self.arrays.get(tensor.name)
            if isinstance(array, DeviceArray):
                on_device[tensor.name] = array
                if number and tensor.name in self.saved:
                    device.write(array.buffer, self.saved[tensor.name].tobytes())
            elif array is not None:
                on_device[tensor.name] = upload_array(device, array, tensor.dtype)
        words = np.zeros(0, np.uint32)
        extra = {}
        if layout is not None:
            words = empty_log(layout, LOG_WORDS) if last_block is None else empty_log(layout, LOG_WORDS, last_block)
            buffer = extra[LOG] = device.create_buffer(words.nbytes)
            device.write(buffer, words)
        self.prepared.run(on_device, log=extra)
        if layout is not None:
            words = np.frombuffer(device.read(extra[LOG]), np.uint32)
        written = {output.name: on_device[output.name] for output in self.prepared.outputs}
        left = {}
        for output in self.poisoned:
            poison = _poison(output, number)
            left[output.name] = _bytes(written[output.name].numpy(), output) == poison
        return _Outcome(written, words, left)


@dataclass(frozen=True, slots=True)
class _Outcome:
    written: dict[str, DeviceArray]
    words: np.ndarray
    left: dict[str, np.ndarray]
    """By output, which elements are still what they were before."""


def _poison(output: Output, number: int) -> np.ndarray:
    """What an output holds before the launch, as unsigned integers of its elements' size."""
    size = output.dtype.size
    value = number % 2 if output.dtype is DType.BOOL else int.from_bytes(bytes([_POISONS[number]] * size), "little")
    return np.full(output.shape, value, f"u{size}")


def _bytes(array: np.ndarray, output: Output) -> np.ndarray:
    return array.reshape(-1).view(f"u{output.dtype.size}").reshape(output.shape)


def debug(
    prepared: Prepared,
    arrays: Mapping[str, np.ndarray | DeviceArray],
    grid: tuple[int, int, int],
) -> Debugged:
    """Launches a debug build, like `launch`. It runs twice where one run does not tell all.

    An element is unwritten if it keeps what was there before, whatever that was. A log that overflows is made again for
    the blocks up to the first that told too much, so that it holds the first records and not any.
    """
    layout = prepared.compiled.program.log
    attempt = _Attempt(prepared, arrays)
    first = attempt.run(0, layout, None)
    log = Log(grid=grid) if layout is None else read_log(layout, first.words, grid)
    last_block = None if layout is None else overflow(layout, first.words)
    written, unwritten = first.written, {name: np.zeros(left.shape, np.bool_) for name, left in first.left.items()}
    if last_block is not None or any(left.any() for left in first.left.values()):
        second = attempt.run(1, layout, last_block)
        if layout is not None and last_block is not None:
            log.records = _joined(layout, first.words, log, read_log(layout, second.words, grid))
        written = second.written
        unwritten = {name: left & second.left[name] for name, left in first.left.items()}
    for name, left in unwritten.items():
        if left.any():
            array = written[name].numpy()
            array[left] = 0
            prepared.device.write(written[name].buffer, array.tobytes())
    return Debugged(written, log, {name: left for name, left in unwritten.items() if left.any()})


def _joined(layout: Layout, words: np.ndarray, first: Log, second: Log) -> list:
    """Records of kinds that the first launch had room for, and those of the others from the second."""
    room = layout.room(len(words))
    fits = {kind for kind in layout.kinds if words[layout.kind_word(kind)] <= room}
    kept = [record for record in first.records if record.site.kind in fits]
    kept += [record for record in second.records if record.site.kind not in fits]
    return sorted(kept, key=lambda record: record.block)
