"""An opened device: memory, compute pipelines and dispatches. Knows bytes and WGSL text, nothing of kernels."""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tilec.errors import DeviceError
from tilec.runtime.adapters import DEFAULT_LIMITS, DeviceInfo, load_wgpu

if TYPE_CHECKING:
    from tilec.runtime.arrays import DeviceArray

BindingKind = Literal["read", "read_write", "uniform"]

_BUFFER_TYPES = {"read": "read-only-storage", "read_write": "storage", "uniform": "uniform"}
_BIND_GROUPS_KEPT = 256
_ENABLE_SUBGROUPS = re.compile(r"^[ \t]*enable\s+subgroups\s*;", re.MULTILINE)
# naga has no such directive although it has the operations; the standard demands it. A comment keeps line numbers.
_SUBGROUPS_NOTE = "// subgroups are enabled by the device"

_serials = itertools.count()


class Buffer:
    """Device memory of `nbytes` bytes, padded to a multiple of 16; freed with its last reference or by `free`."""

    __slots__ = ("_handle", "device", "nbytes", "serial", "size")

    def __init__(self, device: Device, handle: Any, nbytes: int, size: int) -> None:
        self._handle = handle
        self.device = device
        self.nbytes = nbytes
        self.size = size
        self.serial = next(_serials)

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
            handle, self._handle = self._handle, None
            if handle is not None:
                handle.destroy()

    def __del__(self) -> None:
        # Cached bind groups hold the native buffer: only destroying it gives the memory back. At interpreter
        # shutdown parts of wgpu may be gone already, and then so is the memory.
        with contextlib.suppress(Exception):
            self.free()


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """A compiled entry point and the kinds of its bindings by their number in group 0; None where there is none."""

    handle: Any
    layout: Any
    bindings: tuple[BindingKind | None, ...]
    entry: str
    serial: int


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """One dispatch: a buffer, or the bytes of a uniform, for each binding of the pipeline (None where it has none), and
    the workgroup counts."""

    pipeline: Pipeline
    arguments: Sequence[Buffer | bytes | None]
    groups: tuple[int, int, int]


class Device:
    """An opened adapter. Get one from `device`. Methods take and give bytes; calls are ordered as they are made."""

    def __init__(self, info: DeviceInfo, handle: Any, features: tuple[str, ...]) -> None:
        self.info = info
        self.features = features
        self.limits: dict[str, int] = {
            str(name).replace("_", "-"): int(value)
            for name, value in handle.limits.items()
            if str(name).replace("_", "-") in DEFAULT_LIMITS
        }
        self._handle = handle
        self._queue = handle.queue
        self._wgpu = load_wgpu()
        self.lock = threading.RLock()
        self._modules: dict[str, Any] = {}
        self._pipelines: dict[tuple[str, str, tuple[BindingKind | None, ...]], Pipeline] = {}
        self._layouts: dict[tuple[BindingKind | None, ...], tuple[Any, Any]] = {}
        self._bind_groups: OrderedDict[tuple[int, ...], Any] = OrderedDict()
        self._uniforms: dict[tuple[int, int, int], Buffer] = {}

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def handle(self) -> Any:
        """wgpu's own device, for measurements and for code that mixes both."""
        return self._handle

    def __repr__(self) -> str:
        return f"<tilec.Device {self.info}>"

    # -- memory -------------------------------------------------------------------------------------------------

    def create_buffer(self, nbytes: int, *, uniform: bool = False) -> Buffer:
        """Memory of zeros. No binding may be empty, so even 0 bytes take 16. Raises DeviceError beyond the limits."""
        size = max(16, -(-nbytes // 16) * 16)
        limit_name = "max-uniform-buffer-binding-size" if uniform else "max-storage-buffer-binding-size"
        limit = min(self.limits["max-buffer-size"], self.limits[limit_name])
        if size > limit:
            raise DeviceError(f"{self.name}: a buffer of {nbytes:,} bytes is over its limit of {limit:,} bytes")
        usage = self._wgpu.BufferUsage
        flags = usage.COPY_SRC | usage.COPY_DST | (usage.UNIFORM if uniform else usage.STORAGE)
        with self._words(f"allocate {nbytes:,} bytes"):
            return Buffer(self, self._handle.create_buffer(size=size, usage=flags), nbytes, size)

    def array(self, data: Any, dtype: Any = None) -> DeviceArray:
        """A copy of an array (or a list) in device memory, for kernels: it stays there and is updated in place.

        `dtype` is a storage type (`"f16"`) and defaults to the data's own. Raises ArrayError where the values do not
        fit it exactly.
        """
        from tilec.runtime.arrays import upload

        return upload(self, data, dtype)

    def write(self, buffer: Buffer, data: Any, offset: int = 0) -> None:
        """Copies the bytes of `data` (anything contiguous with the buffer protocol) to `offset`, a multiple of 4."""
        view = memoryview(data).cast("B")
        if not view.nbytes:
            return
        whole = view.nbytes - view.nbytes % 4
        with self._words("write to device memory"):
            if whole:
                self._queue.write_buffer(buffer.handle, offset, view[:whole])
            if whole != view.nbytes:
                # WebGPU copies whole words; the padding behind the last element may change.
                self._queue.write_buffer(buffer.handle, offset + whole, bytes(view[whole:]).ljust(4, b"\0"))

    def read(self, buffer: Buffer, nbytes: int | None = None, offset: int = 0) -> memoryview:
        """The bytes of the buffer once all earlier work is done; `offset` is a multiple of 4."""
        wanted = buffer.nbytes - offset if nbytes is None else nbytes
        if not wanted:
            return memoryview(bytearray())
        with self._words("read device memory"):
            data = self._queue.read_buffer(buffer.handle, offset, -(-wanted // 4) * 4)
        return memoryview(data)[:wanted]

    def copy(self, source: Buffer, target: Buffer, nbytes: int) -> None:
        """Copies the first `nbytes` bytes, rounded up to whole words, between two buffers of this device."""
        with self.lock, self._words("copy device memory"):
            encoder = self._handle.create_command_encoder()
            encoder.copy_buffer_to_buffer(source.handle, 0, target.handle, 0, -(-nbytes // 4) * 4)
            self._queue.submit([encoder.finish()])

    def synchronize(self) -> None:
        """Waits until all submitted work is done."""
        # wgpu-py's own call for it fails in 0.32; reading a word waits as well.
        self.read(self._uniform(-1, 16), 4)

    # -- programs -----------------------------------------------------------------------------------------------

    def compute_pipeline(self, wgsl: str, entry: str, bindings: Sequence[BindingKind | None]) -> Pipeline:
        """Compiles one entry point, once per text. Raises DeviceError with the driver's words and the shader's line."""
        key = (wgsl, entry, tuple(bindings))
        with self.lock:
            if key not in self._pipelines:
                self._pipelines[key] = self._compile(*key)
            return self._pipelines[key]

    def _compile(self, wgsl: str, entry: str, bindings: tuple[BindingKind | None, ...]) -> Pipeline:
        if wgsl not in self._modules:
            with self._words("compile the shader"):
                code = _ENABLE_SUBGROUPS.sub(_SUBGROUPS_NOTE, wgsl)
                self._modules[wgsl] = self._handle.create_shader_module(code=code)
        if bindings not in self._layouts:
            compute = self._wgpu.ShaderStage.COMPUTE
            entries = [
                {"binding": place, "visibility": compute, "buffer": {"type": _BUFFER_TYPES[kind]}}
                for place, kind in enumerate(bindings)
                if kind is not None
            ]
            with self._words("lay out the bindings"):
                group = self._handle.create_bind_group_layout(entries=entries)
                self._layouts[bindings] = group, self._handle.create_pipeline_layout(bind_group_layouts=[group])
        group, whole = self._layouts[bindings]
        with self._words(f"compile the entry point {entry}"):
            handle = self._handle.create_compute_pipeline(
                layout=whole, compute={"module": self._modules[wgsl], "entry_point": entry}
            )
        return Pipeline(handle, group, bindings, entry, next(_serials))

    def run(self, launches: Sequence[Launch], cleared: Sequence[Buffer] = ()) -> None:
        """Submits the dispatches, each seeing what those before it wrote. Returns before they are done.

        The buffers `cleared` are set to zeros before the first.
        """
        with self.lock, self._words("run the kernel"):
            encoder = self._handle.create_command_encoder()
            for buffer in cleared:
                encoder.clear_buffer(buffer.handle)
            # One pass: WebGPU makes each dispatch its own scope, so writes are visible to the next.
            work = encoder.begin_compute_pass()
            self.encode(work, launches)
            work.end()
            self._queue.submit([encoder.finish()])

    def encode(self, work: Any, launches: Sequence[Launch]) -> None:
        """Records the dispatches into a compute pass of wgpu. Uniforms are written at once: submit before more."""
        most = self.limits["max-compute-workgroups-per-dimension"]
        for place, launch in enumerate(launches):
            if 0 in launch.groups:
                continue
            if max(launch.groups) > most:
                raise DeviceError(f"{self.name} launches at most {most:,} workgroups an axis, not {launch.groups}")
            work.set_pipeline(launch.pipeline.handle)
            work.set_bind_group(0, self._bind_group(place, launch))
            work.dispatch_workgroups(*launch.groups)

    def _bind_group(self, place: int, launch: Launch) -> Any:
        buffers = [
            (position, argument if isinstance(argument, Buffer) else self._filled_uniform(place, position, argument))
            for position, argument in enumerate(launch.arguments)
            if argument is not None
        ]
        # `handle` refuses freed buffers, which the cache still knows.
        handles = [buffer.handle for _, buffer in buffers]
        key = (launch.pipeline.serial, *(buffer.serial for _, buffer in buffers))
        group = self._bind_groups.get(key)
        if group is not None:
            self._bind_groups.move_to_end(key)
            return group
        entries = [
            {"binding": position, "resource": {"buffer": handle, "offset": 0, "size": buffer.size}}
            for handle, (position, buffer) in zip(handles, buffers, strict=True)
        ]
        group = self._handle.create_bind_group(layout=launch.pipeline.layout, entries=entries)
        self._bind_groups[key] = group
        if len(self._bind_groups) > _BIND_GROUPS_KEPT:
            self._bind_groups.popitem(last=False)
        return group

    def _filled_uniform(self, place: int, position: int, data: bytes) -> Buffer:
        # A write is ordered after earlier submissions, so each place within one submission needs a buffer of its own,
        # and the next submission may use it again.
        buffer = self._uniform(place, len(data), position)
        self._queue.write_buffer(buffer.handle, 0, data)
        return buffer

    def _uniform(self, place: int, nbytes: int, position: int = 0) -> Buffer:
        key = (place, position, nbytes)
        if key not in self._uniforms:
            self._uniforms[key] = self.create_buffer(nbytes, uniform=True)
        return self._uniforms[key]

    @contextlib.contextmanager
    def _words(self, action: str) -> Iterator[None]:
        """Turns wgpu's errors into DeviceError, which says what was tried and repeats the driver's words."""
        try:
            yield
        except DeviceError:
            raise
        except (self._wgpu.GPUError, RuntimeError, ValueError, MemoryError) as error:
            raise DeviceError(f"{self.name} could not {action}: {str(error).strip()}") from error
