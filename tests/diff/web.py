"""WebGPU as browsers have it, in other processes: Dawn in Node, and a page of headless Chromium.

A `WebDevice` does what `Device` does, and launches kernels from their shipped files, the WGSL and the manifest that
`tilec compile` writes. Needs .drivers/node, and Chromium for the page.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilec.errors import DeviceError
from tilec.runtime.adapters import announce_drivers
from tilec.runtime.device import BindingKind, Buffer, Device, Launch, Pipeline, device

_SERVERS = Path(__file__).with_name("web")
_DRIVERS = Path(__file__).parents[2] / ".drivers"
_SET_UP = "run `bash scripts/setup_drivers.sh`"

Number = bool | int | float


class _Handle:
    """A buffer in the other process."""

    def __init__(self, owner: WebDevice, number: int) -> None:
        self.owner = owner
        self.number = number

    def destroy(self) -> None:
        self.owner.ask({"do": "destroy", "id": self.number})


@dataclass(frozen=True, slots=True)
class Output:
    """Where a launch's result goes: the NumPy type and shape."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class WebDevice(Device):
    """A device behind one of the servers in tests/diff/web: `server` is its file, `argument` what it is given."""

    def __init__(self, label: str, twin: Device, server: str, argument: str) -> None:
        """`twin`: the wgpu device on the same driver, whose name and limits are this one's."""
        # Not Device's own set-up, which asks wgpu: only what this class does not override is shared.
        self.label = label
        self.info = twin.info
        self.limits = dict(twin.limits)
        self.lock = threading.RLock()
        self._numbers = iter(range(1, 1 << 60))
        self._known: dict[tuple[str, str, tuple[BindingKind | None, ...]], Pipeline] = {}
        self.folder = tempfile.TemporaryDirectory(prefix="tilec-shipped-")
        reading, writing = os.pipe()
        command = ["node", str(_SERVERS / server), self.folder.name, argument, str(writing)]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=(writing,))
        os.close(writing)
        self._answers = os.fdopen(reading, "rb")
        atexit.register(self._close)
        answer = self.ask({"do": "info"})[0]
        self.features = tuple(name for name in answer["features"] if name in twin.info.features)
        self.adapter: str = answer["adapter"]
        self.limits |= {
            "max-buffer-size": answer["limits"]["maxBufferSize"],
            "max-storage-buffer-binding-size": answer["limits"]["maxStorageBufferBindingSize"],
        }

    def __repr__(self) -> str:
        return f"<{self.label} on {self.info}>"

    def _close(self) -> None:
        """Lets the server end by itself, which closes its browser too."""
        assert self._server.stdin is not None
        with contextlib.suppress(OSError):
            self._server.stdin.close()
        try:
            self._server.wait(5)
        except subprocess.TimeoutExpired:
            self._server.kill()

    def ask(self, request: dict[str, Any], payload: bytes | memoryview = b"") -> tuple[dict[str, Any], bytes]:
        """Sends one request and waits for its answer. Raises DeviceError with WebGPU's words."""
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
                raise DeviceError(f"the process of {self.label} ended; {_SET_UP}")
            answer = json.loads(line)
            data = self._answers.read(answer["payload"])
        if "error" in answer:
            raise DeviceError(f"{self.label} on {self.name} could not {request['do']}: {answer['error']}")
        return answer, data

    # --- shipped files ---------------------------------------------------------------------------------------

    def launch_shipped(
        self,
        files: Mapping[str, str],
        manifest: str,
        arrays: Mapping[str, np.ndarray],
        outputs: Mapping[str, Output],
        given: Mapping[str, int],
        scalars: Mapping[str, Number],
    ) -> dict[str, np.ndarray]:
        """One launch that follows the manifest. `files`: texts by name, written where the server finds them, once.
        `arrays`: every input, in storage types; `given`: sizes that no input has. Raises DeviceError.
        """
        place = hashlib.sha256(json.dumps(dict(files)).encode()).hexdigest()
        folder = Path(self.folder.name) / place
        if not folder.exists():
            folder.mkdir()
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8", newline="\n")
        whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        request = {
            "do": "launch",
            "file": f"{place}/{manifest}",
            "inputs": [{"name": name, "shape": one.shape, "bytes": one.nbytes} for name, one in whole.items()],
            "given": dict(given),
            # JSON has no infinities: they are texts, as in the manifest.
            "scalars": {name: value if np.isfinite(value) else str(float(value)) for name, value in scalars.items()},
        }
        answer, data = self.ask(request, b"".join(one.tobytes() for one in whole.values()))
        results, at = {}, 0
        for one in answer["outputs"]:
            output, name = outputs[one["name"]], one["name"]
            results[name] = np.frombuffer(data[at : at + one["bytes"]], output.dtype).reshape(output.shape).copy()
            at += one["bytes"]
        return results

    # --- what Device does ------------------------------------------------------------------------------------

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
def dawn_device(name: str = "lavapipe") -> WebDevice:
    """Dawn on the driver of that name, opened once."""
    announce_drivers()
    twin = device(name)
    return WebDevice("Dawn", twin, "dawn.mjs", twin.name.partition(" ")[0])


@functools.cache
def page_device() -> WebDevice:
    """A page of headless Chromium, on the SwiftShader that it brings, opened once. Raises DeviceError without it."""
    path = chromium_path()
    if path is None:
        raise DeviceError(f"Chromium is not here; {_SET_UP}")
    return WebDevice("Chromium", device("swiftshader"), "page.mjs", path)


def chromium_path() -> str | None:
    """The browser that scripts/setup_drivers.sh installs."""
    unpacked = _DRIVERS / "chromium" / "chromium"
    return str(unpacked) if unpacked.is_file() else shutil.which("chromium")
