"""Short versions of what `python -m tests.soak` does for long."""

from __future__ import annotations

from tests.soak.memory import soak
from tests.soak.threads import run_threads


def test_threads_compile_and_launch_on_one_device(lavapipe):
    tally = run_threads(lavapipe, 8, 3.0)
    assert not tally.failures, tally.failures[0]
    assert tally.launches > 8


def test_what_is_kept_is_bounded(lavapipe):
    """Caches have bounds that many shapes reach."""
    result = soak(lavapipe, 1500, samples=3)
    assert result.launches >= 1500
    assert len(lavapipe._bind_groups) <= 256
    assert len(lavapipe._pipelines) <= 512
    assert lavapipe._staging._kept_bytes <= 64 << 20
    assert not lavapipe._batches
    assert not lavapipe._buried
