"""Dawn, Chrome's WebGPU, as a device for tests: what `Device` does, in a Node process. Needs .drivers/node."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tilec.errors import DeviceError
from tilec.runtime.adapters import announce_drivers
from tilec.runtime.device import BindingKind, Buffer, Device, Launch, Pipeline, device

_SERVER = Path(__file__).with_name("dawn_serve.mjs")


class _Handle:
    """A buffer in the other process."""

    def __init__(self, owner: DawnDevice, number: int) -> None:
        self.owner = owner
        self.number = number

    def destroy(self) -> None:
        self.owner.ask({"do": "destroy", "id": self.number})


class DawnDevice(Device):
    """A device that runs through Dawn and Tint on the driver that the wgpu device of the same name uses."""

    def __init__(self, name: str) -> None:
        # Not Device's own set-up, which asks wgpu: only what this class does not override is shared.
        announce_drivers()
        twin = device(name)
        self.info = twin.info
        self.limits = dict(twin.limits)
        self.lock = threading.RLock()
        self._numbers = iter(range(1, 1 << 60))
        self._known: dict[tuple[str, str, tuple[BindingKind | None, ...]], Pipeline] = {}
        reading, writing = os.pipe()
        command = ["node", str(_SERVER), twin.name.partition(" ")[0], str(writing)]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=(writing,))
        os.close(writing)
        self._answers = os.fdopen(reading, "rb")
        atexit.register(self._server.kill)
        self.features = tuple(self.ask({"do": "info"})[0]["features"])

    def __repr__(self) -> str:
        return f"<Dawn on {self.info}>"

    def ask(self, request: dict[str, Any], payload: bytes | memoryview = b"") -> tuple[dict[str, Any], bytes]:
        """Sends one request and waits for its answer. Raises DeviceError with Dawn's words."""
        with self.lock:
            assert self._server.stdin is not None
            try:
                self._server.stdin.write(json.dumps(request | {"payload": len(payload)}).encode() + b"\n")
                self._server.stdin.write(payload)
                self._server.stdin.flush()
                line = self._answers.readline()
            except BrokenPipeError:
                line = b""
            if not line:
                raise DeviceError("Dawn's process ended; run `bash scripts/setup_drivers.sh`")
            answer = json.loads(line)
            data = self._answers.read(answer["payload"])
        if "error" in answer:
            raise DeviceError(f"Dawn on {self.name} could not {request['do']}: {answer['error']}")
        return answer, data

    def create_buffer(self, nbytes: int, *, uniform: bool = False) -> Buffer:
        size = max(16, -(-nbytes // 16) * 16)
        if size > self.limits["max-storage-buffer-binding-size"]:
            raise DeviceError(f"{self.name}: a buffer of {nbytes:,} bytes is over its limit")
        number = next(self._numbers)
        self.ask({"do": "create", "id": number, "size": size, "uniform": uniform})
        return Buffer(self, _Handle(self, number), nbytes, size)

    def write(self, buffer: Buffer, data: Any, offset: int = 0) -> None:
        view = memoryview(data).cast("B")
        if view.nbytes:
            whole = bytes(view).ljust(-(-view.nbytes // 4) * 4, b"\0")
            self.ask({"do": "write", "id": buffer.handle.number, "offset": offset}, whole)

    def read(self, buffer: Buffer, nbytes: int | None = None, offset: int = 0) -> memoryview:
        wanted = buffer.nbytes - offset if nbytes is None else nbytes
        if not wanted:
            return memoryview(bytearray())
        size = -(-wanted // 4) * 4
        _, data = self.ask({"do": "read", "id": buffer.handle.number, "offset": offset, "size": size})
        return memoryview(bytearray(data))[:wanted]

    def copy(self, source: Buffer, target: Buffer, nbytes: int) -> None:
        numbers = {"source": source.handle.number, "target": target.handle.number}
        self.ask({"do": "copy", **numbers, "size": -(-nbytes // 4) * 4})

    def synchronize(self) -> None:
        self.read(self.create_buffer(4), 4)

    def compute_pipeline(self, wgsl: str, entry: str, bindings: Sequence[BindingKind | None]) -> Pipeline:
        key = (wgsl, entry, tuple(bindings))
        if key not in self._known:
            number = next(self._numbers)
            self.ask({"do": "pipeline", "id": number, "wgsl": wgsl, "entry": entry, "bindings": list(bindings)})
            self._known[key] = Pipeline(number, None, tuple(bindings), entry, number)
        return self._known[key]

    def run(self, launches: Sequence[Launch], cleared: Sequence[Buffer] = (), what: str = "run") -> None:
        with self.lock:
            kept: list[Buffer] = []
            described = []
            for launch in launches:
                if 0 in launch.groups:
                    continue
                numbers: list[int | None] = []
                for argument in launch.arguments:
                    if argument is None:
                        numbers.append(None)
                        continue
                    buffer = argument
                    if not isinstance(buffer, Buffer):
                        buffer = self.create_buffer(len(argument), uniform=True)
                        self.write(buffer, argument)
                        kept.append(buffer)
                    numbers.append(buffer.handle.number)
                described.append({"pipeline": launch.pipeline.handle, "buffers": numbers, "groups": launch.groups})
            self.ask({"do": "run", "launches": described, "cleared": [buffer.handle.number for buffer in cleared]})


@functools.cache
def dawn_device(name: str = "lavapipe") -> DawnDevice:
    """Dawn on the driver of that name, opened once."""
    return DawnDevice(name)
