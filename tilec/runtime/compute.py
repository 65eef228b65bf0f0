"""An opened device: memory, compute pipelines and dispatches. Knows bytes and WGSL text, nothing of kernels."""

from __future__ import annotations

import contextlib
import re
import threading
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tilec.errors import DeviceError, DeviceLostError
from tilec.runtime.adapters import DEFAULT_LIMITS, DeviceInfo, load_wgpu
from tilec.runtime.kept import Kept
from tilec.runtime.memory import BindingKind, Buffer, Launch, Pipeline, Slice, next_serial
from tilec.runtime.recording import Batch, Work, encode, record
from tilec.runtime.staging import Staging

if TYPE_CHECKING:
    from tilec.runtime.arrays import DeviceArray

_BUFFER_TYPES = {"read": "read-only-storage", "read_write": "storage", "uniform": "uniform"}
_BIND_GROUPS_KEPT = 256
_UNIFORMS_KEPT = 1024
_PIPELINES_KEPT = 512
_MODULES_KEPT = 16
_MOST_RECORDED = 4096
_ENABLE_SUBGROUPS = re.compile(r"^[ \t]*enable\s+subgroups\s*;", re.MULTILINE)
# naga has no such directive although it has the operations; the standard demands it. A comment keeps line numbers.
_SUBGROUPS_NOTE = "// subgroups are enabled by the device"

_LOST = re.compile(r"device\s*(is\s+|was\s+)?lost", re.IGNORECASE)


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
        # A module is used for its entry points one after the other, a pipeline as long as a launch is prepared.
        self._modules: Kept[Any] = Kept(_MODULES_KEPT)
        self._pipelines: Kept[Pipeline] = Kept(_PIPELINES_KEPT)
        self._layouts: dict[tuple[BindingKind | None, ...], tuple[Any, Any]] = {}
        self._bind_groups: OrderedDict[tuple[int, ...], Any] = OrderedDict()
        self._uniforms: dict[tuple[int, int, int], Buffer] = {}
        usage = self._wgpu.BufferUsage
        self._staging = Staging(handle, usage.COPY_DST | usage.MAP_READ, self.lock)
        # Made now: a race for the first use would make two.
        assert not self._buried
        assert not self._batches
        assert not len(self.uniforms)

    _lost: str | None = None
    # Not in `__init__`: a device that works otherwise (Dawn, in tests) shares what needs no wgpu.

    @cached_property
    def uniforms(self) -> Kept[Buffer]:
        """Uniform buffers by their bytes: they are never written again, so that recorded work may share them."""
        return Kept(_UNIFORMS_KEPT)

    @cached_property
    def _scratch(self) -> list[Buffer]:
        return []

    @cached_property
    def _batches(self) -> dict[int, Batch]:
        return {}

    @cached_property
    def _buried(self) -> deque[Any]:
        return deque()

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def handle(self) -> Any:
        """wgpu's own device, for measurements and for code that mixes both."""
        return self._handle

    @property
    def is_lost(self) -> bool:
        """Whether the driver gave this device up: nothing runs on it any more, and its arrays are gone."""
        return self._lost is not None

    def __repr__(self) -> str:
        return f"<tilec.Device {self.info}{', lost' if self.is_lost else ''}>"

    # -- memory -------------------------------------------------------------------------------------------------

    def create_buffer(self, nbytes: int, *, uniform: bool = False) -> Buffer:
        """Memory of zeros. No binding may be empty, so even 0 bytes take 16. Raises DeviceError beyond the limits."""
        size = max(16, -(-nbytes // 16) * 16)
        name = "max-uniform-buffer-binding-size" if uniform else "max-buffer-size"
        if size > self.limits[name]:
            raise DeviceError(
                f"{self.name}: a buffer of {nbytes:,} bytes is over its limit of {self.limits[name]:,} bytes ({name}); "
                "split the rows over several arrays, or pass host arrays: kernels of rows take those in parts"
            )
        usage = self._wgpu.BufferUsage
        flags = usage.COPY_SRC | usage.COPY_DST | (usage.UNIFORM if uniform else usage.STORAGE)
        with self.lock, self._words(f"allocate {nbytes:,} bytes"):
            self._unbury()
            return Buffer(self, self._handle.create_buffer(size=size, usage=flags), nbytes, size)

    def scratch(self, nbytes: int) -> Buffer:
        """Memory that kernels share for what does not outlive them; launches are in order, so one is enough."""
        with self.lock:
            if not self._scratch or self._scratch[0].size < nbytes:
                self._scratch[:] = [self.create_buffer(nbytes)]
            return self._scratch[0]

    def bury(self, handle: Any) -> None:
        """Destroys a buffer of wgpu that nothing refers to, now or before the next work.

        The garbage collector calls it at any point of any thread: it must not wait for the lock.
        """
        self._buried.append(handle)
        if self.lock.acquire(blocking=False):
            try:
                self._unbury()
            finally:
                self.lock.release()

    def _unbury(self) -> None:
        while self._buried:
            self._buried.popleft().destroy()

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
        with self.lock, self._words("write to device memory"):
            self._submit_batch()
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
        data = memoryview(bytearray(wanted))
        with self._words("read device memory"):
            with self.lock:
                self._unbury()
                self._submit_batch()
                handle = buffer.handle
            self._staging.read(handle, offset, data)
        return data

    def copy(self, source: Buffer, target: Buffer, nbytes: int, source_at: int = 0, target_at: int = 0) -> None:
        """Copies `nbytes` bytes, rounded up to whole words, between two buffers of this device, from byte `source_at`
        to byte `target_at` (multiples of 4)."""
        with self.lock, self._words("copy device memory"):
            self._submit_batch()
            encoder = self._handle.create_command_encoder()
            encoder.copy_buffer_to_buffer(source.handle, source_at, target.handle, target_at, -(-nbytes // 4) * 4)
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
            known = self._pipelines.get(key)
            return known if known is not None else self._pipelines.put(key, self._compile(*key))

    def _compile(self, wgsl: str, entry: str, bindings: tuple[BindingKind | None, ...]) -> Pipeline:
        module = self._modules.get(wgsl)
        if module is None:
            with self._words("compile the shader"):
                code = _ENABLE_SUBGROUPS.sub(_SUBGROUPS_NOTE, wgsl)
                module = self._modules.put(wgsl, self._handle.create_shader_module(code=code))
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
                layout=whole, compute={"module": module, "entry_point": entry}
            )
        return Pipeline(handle, group, bindings, entry, next_serial())

    def run(self, launches: Sequence[Launch], cleared: Sequence[Buffer] = (), what: str = "run the kernel") -> None:
        """Submits the dispatches, each seeing what those before it wrote. Returns before they are done.

        The buffers `cleared` are set to zeros before the first. Inside `batch` they are recorded instead.
        """
        with self.lock:
            if any(isinstance(argument, bytes) for launch in launches for argument in launch.arguments):
                self._submit_batch()
                self._submit([self.prepare(launches, cleared, what)])
            else:
                self.submit(self.prepare(launches, cleared, what))

    def prepare(self, launches: Sequence[Launch], cleared: Sequence[Buffer] = (), what: str = "run the kernel") -> Work:
        """The dispatches with their bind groups, to be submitted as often as wanted."""
        most = self.limits["max-compute-workgroups-per-dimension"]
        steps: list[Any] = []
        buffers = list(cleared)
        with self.lock, self._words(what):
            for place, launch in enumerate(launches):
                if 0 in launch.groups:
                    continue
                if max(launch.groups) > most:
                    raise DeviceError(f"{self.name} launches at most {most:,} workgroups an axis, not {launch.groups}")
                steps.append((launch.pipeline.handle, self._bind_group(place, launch), launch.groups))
                for argument in launch.arguments:
                    if isinstance(argument, Slice):
                        buffers.append(argument.buffer)
                    elif isinstance(argument, Buffer):
                        buffers.append(argument)
        return Work(tuple(steps), tuple(cleared), tuple(buffers), what)

    def encode(self, scope: Any, launches: Sequence[Launch]) -> None:
        """Records the dispatches into a compute pass of wgpu. Uniforms are written at once: submit before more."""
        record(scope, self.prepare(launches).steps)

    def submit(self, work: Work) -> None:
        """Submits prepared work, or records it where the calling thread is inside `batch`."""
        with self.lock:
            batch = self._batches.get(threading.get_ident())
            if batch is None:
                self._submit([work])
                return
            work.check()
            batch.works.append(work)
            if len(batch.works) >= _MOST_RECORDED:
                self._submit_batch()

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """`with device.batch():` records the launches that this thread makes inside, and submits them together.

        That saves most of what a submission costs. Each launch sees what those before it wrote, as ever. Reading or
        writing an array submits what was recorded so far. An exception does not take back what was recorded before it.
        Launches of other threads are not held up; their order against those inside is open.
        """
        thread = threading.get_ident()
        with self.lock:
            batch = self._batches.setdefault(thread, Batch())
            batch.depth += 1
        try:
            yield
        finally:
            with self.lock:
                batch.depth -= 1
                if not batch.depth:
                    try:
                        self._submit_batch()
                    finally:
                        del self._batches[thread]

    def submit_batches_with(self, buffer: Buffer, *, of_others: bool = False) -> None:
        """Submits what threads, or all but the calling one, have recorded that touches the buffer."""
        with self.lock:
            for thread, batch in self._batches.items():
                if batch.uses(buffer) and not (of_others and thread == threading.get_ident()):
                    works, batch.works = batch.works, []
                    self._submit(works)

    def _submit_batch(self) -> None:
        """Submits what the calling thread has recorded."""
        batch = self._batches.get(threading.get_ident())
        if batch is not None and batch.works:
            works, batch.works = batch.works, []
            self._submit(works)

    def _submit(self, works: Sequence[Work]) -> None:
        if self._buried:
            self._unbury()
        with self._words(works[0].what if len(works) == 1 else f"run {len(works)} launches of a batch"):
            for work in works:
                work.check()
            encoder = self._handle.create_command_encoder()
            encode(encoder, works)
            self._queue.submit([encoder.finish()])

    def _bind_group(self, place: int, launch: Launch) -> Any:
        entries: list[dict[str, Any]] = []
        key = [launch.pipeline.serial]
        for position, argument in enumerate(launch.arguments):
            if argument is None:
                continue
            offset, size = 0, None
            if isinstance(argument, Slice):
                offset, size, argument = argument.offset, argument.size, argument.buffer
            elif not isinstance(argument, Buffer):
                argument = self._filled_uniform(place, position, argument)
            # `handle` refuses freed buffers, which the cache still knows.
            resource = {"buffer": argument.handle, "offset": offset, "size": argument.size if size is None else size}
            entries.append({"binding": position, "resource": resource})
            key += [argument.serial, offset, resource["size"]]
        known = tuple(key)
        group = self._bind_groups.get(known)
        if group is not None:
            self._bind_groups.move_to_end(known)
            return group
        group = self._handle.create_bind_group(layout=launch.pipeline.layout, entries=entries)
        self._bind_groups[known] = group
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
        if self.is_lost:
            raise self._lost_error(action)
        try:
            yield
        except DeviceError:
            raise
        except (self._wgpu.GPUError, self._wgpu.GPUPipelineError, RuntimeError, ValueError, MemoryError) as error:
            words = str(error).strip()
            if self._find_loss(words):
                raise self._lost_error(action) from error
            raise DeviceError(f"{self.name} could not {action}: {words}") from error

    def _find_loss(self, words: str) -> bool:
        """Whether an error means a lost device. Mapping only says that it failed; an empty recording tells."""
        if not _LOST.search(words):
            try:
                self._handle.create_command_encoder().finish()
            except self._wgpu.GPUError as error:
                words = str(error)
        if _LOST.search(words):
            self._lost = words
        return self.is_lost

    def _lost_error(self, action: str) -> DeviceLostError:
        return DeviceLostError(
            f"{self.name} could not {action}: the device was lost, and the arrays on it with it; "
            f"tilec.device({self.info.index}) opens it anew (the driver says: {' '.join(str(self._lost).split())})"
        )
