"""Timing: both clocks give times of the same work, and profiles hold rates that can be."""

from __future__ import annotations

import numpy as np
import pytest

from tilec.runtime.compute import Device, Launch
from tilec.runtime.profile import measure_profile
from tilec.runtime.timing import Rounds, Timer, copy_launch

COUNT = """
@group(0) @binding(0) var<storage, read_write> counted: array<u32>;
@compute @workgroup_size(1) fn count() { counted[0] += 1u; }
"""


@pytest.fixture
def counter(lavapipe: Device):
    pipeline = lavapipe.compute_pipeline(COUNT, "count", ("read_write",))
    buffer = lavapipe.create_buffer(4)
    yield Launch(pipeline, (buffer,), (1, 1, 1)), buffer
    buffer.free()


def counted(device: Device, buffer) -> int:
    return int(np.frombuffer(device.read(buffer), np.uint32)[0])


@pytest.mark.parametrize("by_timestamps", [True, False])
def test_every_launch_runs_once_a_sample(lavapipe, counter, by_timestamps):
    launch, buffer = counter
    timer = Timer(lavapipe)
    assert timer.by_timestamps
    timer.by_timestamps = by_timestamps
    prepared = []
    seconds = timer.once(Rounds([[launch, launch], [launch]], lambda: prepared.append(counted(lavapipe, buffer))))
    assert seconds > 0
    assert prepared == [0]
    assert counted(lavapipe, buffer) == 3


def test_contenders_take_turns(lavapipe, counter):
    launch, _ = counter
    order = []
    contenders = {name: Rounds([[launch]], lambda name=name: order.append(name)) for name in ("a", "b")}
    measured = Timer(lavapipe).in_turn(contenders, 0.0)
    assert {name: one.samples for name, one in measured.items()} == {"a": 5, "b": 5}
    assert order[-10:] == ["a", "b"] * 5
    assert all(0 < one.low <= one.median <= one.high and one.spread >= 0 for one in measured.values())


def test_the_copy_copies(lavapipe):
    data = np.arange(100_000, dtype=np.uint32)
    source, target = (lavapipe.create_buffer(data.nbytes) for _ in range(2))
    lavapipe.write(source, data)
    lavapipe.run([copy_launch(lavapipe, source, target)])
    np.testing.assert_array_equal(np.frombuffer(lavapipe.read(target), np.uint32), data)


def test_a_measured_profile_is_kept(lavapipe):
    profile = measure_profile(lavapipe)
    assert profile is measure_profile(lavapipe)
    assert profile.name == lavapipe.name
    assert profile.limits.is_cpu
    assert profile.functions < profile.operations
    assert min(profile.bandwidth, profile.operations, profile.functions, profile.dispatch_seconds) > 0
    assert profile.barrier_seconds > 0
