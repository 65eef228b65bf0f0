"""What work on a device is made of: memory, parts of it, compiled entry points, dispatches."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tilec.errors import DeviceError

if TYPE_CHECKING:
    from tilec.runtime.compute import Device

BindingKind = Literal["read", "read_write", "uniform"]

_serials = itertools.count()


def next_serial() -> int:
    """A number that no other object of a device has."""
    return next(_serials)


class Buffer:
    """Device memory of `nbytes` bytes, padded to a multiple of 16; freed with its last reference or by `free`."""

    __slots__ = ("_handle", "device", "nbytes", "serial", "size")

    def __init__(self, device: Device, handle: Any, nbytes: int, size: int) -> None:
        self._handle = handle
        self.device = device
        self.nbytes = nbytes
        self.size = size
        self.serial = next_serial()

    @property
    def handle(self) -> Any:
        """wgpu's buffer. Raises DeviceError after `free`."""
        if self._handle is None:
            raise DeviceError("this device array was freed")
        return self._handle

    @property
    def is_freed(self) -> bool:
        return self._handle is None

    def free(self) -> None:
        """Gives the memory back; work that was already submitted still completes. Any later use is a DeviceError."""
        # Under the lock: wgpu ends the process where a submission meets a buffer that was destroyed meanwhile.
        with self.device.lock:
            if self._handle is None:
                return
            self.device.submit_batches_with(self)
            handle, self._handle = self._handle, None
            handle.destroy()

    def __del__(self) -> None:
        # Cached bind groups hold the native buffer: only destroying it gives the memory back. At interpreter
        # shutdown parts of wgpu may be gone already, and then so is the memory.
        with contextlib.suppress(Exception):
            handle, self._handle = self._handle, None
            if handle is not None:
                self.device.bury(handle)


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """A compiled entry point and the kinds of its bindings by their number in group 0; None where there is none."""

    handle: Any
    layout: Any
    bindings: tuple[BindingKind | None, ...]
    entry: str
    serial: int


@dataclass(frozen=True, slots=True)
class Slice:
    """`size` bytes of a buffer from `offset` on, a multiple of the device's alignment."""

    buffer: Buffer
    offset: int
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """One dispatch: a buffer or a part of one, or the bytes of a uniform, for each binding of the pipeline (None where
    it has none), and the workgroup counts."""

    pipeline: Pipeline
    arguments: Sequence[Buffer | Slice | bytes | None]
    groups: tuple[int, int, int]
