"""Reads device memory through mapped buffers that are kept from one read to the next."""

from __future__ import annotations

import threading
from typing import Any

_CHUNK = 32 << 20
"""Bytes that are read at a time: a device array may be larger than what can be mapped at once."""

_KEPT_BYTES = 64 << 20


class Staging:
    """The mappable buffers of one device. `handle` is wgpu's device, `usage` its usage flags for them."""

    def __init__(self, handle: Any, usage: int, lock: threading.RLock) -> None:
        self._handle = handle
        self._usage = usage
        self._lock = lock
        self._free: dict[int, list[Any]] = {}
        self._kept_bytes = 0

    def read(self, source: Any, offset: int, target: memoryview) -> None:
        """Fills `target` with bytes of wgpu's buffer `source` from `offset` (a multiple of 4) on. One copy is made.

        Waits for what was submitted before; other threads may submit meanwhile.
        """
        done = 0
        while done < len(target):
            count = min(_CHUNK, len(target) - done)
            self._read(source, offset + done, target[done : done + count])
            done += count

    def _read(self, source: Any, offset: int, target: memoryview) -> None:
        whole = -(-len(target) // 4) * 4
        size = max(256, 1 << (whole - 1).bit_length())
        with self._lock:
            mapped = self._take(size)
            encoder = self._handle.create_command_encoder()
            encoder.copy_buffer_to_buffer(source, offset, mapped, 0, whole)
            self._handle.queue.submit([encoder.finish()])
        # Not through wgpu's own read_buffer: it makes a buffer for each read, and a copy that is copied again.
        mapped.map_async("READ_NOSYNC", 0, whole).sync_wait()
        target[:] = mapped.read_mapped(0, whole, copy=False)[: len(target)]
        mapped.unmap()
        with self._lock:
            self._give_back(size, mapped)

    def _take(self, size: int) -> Any:
        known = self._free.get(size)
        if known:
            self._kept_bytes -= size
            return known.pop()
        return self._handle.create_buffer(size=size, usage=self._usage)

    def _give_back(self, size: int, mapped: Any) -> None:
        if self._kept_bytes + size > _KEPT_BYTES:
            mapped.destroy()
            return
        self._kept_bytes += size
        self._free.setdefault(size, []).append(mapped)
