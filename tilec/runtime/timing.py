"""How long launches take on a device: by timestamps of one compute pass, by the wall where the adapter has none.

A GPU that was idle runs at a fraction of its clock, so every measurement warms it first and keeps it busy; contenders
take turns, so that whatever else happens meets all of them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tilec.runtime.adapters import load_wgpu
from tilec.runtime.compute import Device
from tilec.runtime.memory import Buffer, Launch

WARM_SECONDS = 0.25
_SETTLED = 0.03
_LEAST_SAMPLES = 5

COPY = """
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4<u32>>;
@compute @workgroup_size(256)
fn copy(
  @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32,
  @builtin(num_workgroups) groups: vec3<u32>
) {
  let size = arrayLength(&copied);
  let stride = groups.x * 256u;
  for (var at = group.x * 256u + i; at < size; at += stride) {
    copied[at] = source[at];
  }
}
"""


def copy_launch(device: Device, source: Buffer, target: Buffer) -> Launch:
    """The dispatch that copies one buffer over another of its size, as fast as a kernel can."""
    pipeline = device.compute_pipeline(COPY, "copy", ("read", "read_write"))
    groups = 64 if device.info.kind == "cpu" else min(65535, max(1, target.size // 4096))
    return Launch(pipeline, (source, target), (groups, 1, 1))


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of one launch: the median, and the tenth and ninetieth percentile of the samples."""

    median: float
    low: float
    high: float
    samples: int

    @property
    def spread(self) -> float:
        """How far the percentiles are apart, relative to the median."""
        return (self.high - self.low) / self.median if self.median else 0.0


@dataclass(frozen=True, slots=True)
class Rounds:
    """What is timed together: launches, each a list of dispatches, one after the other. `prepare` stands before every
    sample and is not timed."""

    launches: Sequence[Sequence[Launch]]
    prepare: Callable[[], object] | None = None


class Timer:
    """Times launches on a device. `by_timestamps` says which clock it reads."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.by_timestamps = "timestamp-query" in device.features
        if self.by_timestamps:
            usage = load_wgpu().BufferUsage
            self._queries = device.handle.create_query_set(type="timestamp", count=2)
            self._resolved = device.handle.create_buffer(size=16, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)

    def once(self, rounds: Rounds) -> float:
        """Seconds a launch, over one compute pass that holds all of them."""
        if rounds.prepare is not None:
            rounds.prepare()
        flat = [launch for dispatches in rounds.launches for launch in dispatches]
        if not self.by_timestamps:
            self.device.synchronize()
            start = time.perf_counter()
            self.device.run(flat)
            self.device.synchronize()
            return (time.perf_counter() - start) / len(rounds.launches)
        handle = self.device.handle
        with self.device.lock:
            encoder = handle.create_command_encoder()
            writes = {"query_set": self._queries, "beginning_of_pass_write_index": 0, "end_of_pass_write_index": 1}
            work = encoder.begin_compute_pass(timestamp_writes=writes)
            self.device.encode(work, flat)
            work.end()
            encoder.resolve_query_set(self._queries, 0, 2, self._resolved, 0)
            handle.queue.submit([encoder.finish()])
            begin, end = np.frombuffer(handle.queue.read_buffer(self._resolved), np.uint64)
        return max(0.0, float(end) - float(begin)) * 1e-9 / len(rounds.launches)

    def warm(self, rounds: Rounds, seconds: float = WARM_SECONDS) -> None:
        """Runs until the clock has settled: for so long at least, then while samples still fall, twice as long."""
        start = time.perf_counter()
        last = self.once(rounds)
        while (spent := time.perf_counter() - start) < 2 * seconds:
            sample = self.once(rounds)
            if spent >= seconds and abs(sample - last) <= _SETTLED * last:
                return
            last = sample

    def in_turn(
        self, contenders: Mapping[str, Rounds], seconds: float, report: Callable[[float], None] | None = None
    ) -> dict[str, Measured]:
        """Each contender's time: warmed, then sampled in turns for so long in all, five times at least. `report` is
        told which share of the time is over."""
        for rounds in contenders.values():
            self.warm(rounds, WARM_SECONDS / len(contenders))
        samples: dict[str, list[float]] = {name: [] for name in contenders}
        start = time.perf_counter()
        while (spent := time.perf_counter() - start) < seconds or min(map(len, samples.values())) < _LEAST_SAMPLES:
            if report is not None:
                report(min(1.0, spent / max(seconds, 1e-9)))
            for name, rounds in contenders.items():
                samples[name].append(self.once(rounds))
        return {name: _measured(found) for name, found in samples.items()}

    def median(self, launches: Sequence[Sequence[Launch]], seconds: float = 0.4, least: int = 64) -> float:
        """The median seconds of one launch, of at least so many in a pass."""
        repeated = Rounds(list(launches) * max(1, least // len(launches)))
        self.warm(repeated)
        samples: list[float] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(samples) < _LEAST_SAMPLES:
            samples.append(self.once(repeated))
        return statistics.median(samples)


def _measured(samples: Sequence[float]) -> Measured:
    low, middle, high = np.percentile(np.asarray(samples), (10, 50, 90))
    return Measured(float(middle), float(low), float(high), len(samples))
