"""Work for a device as it is recorded: dispatches with their bind groups made, alone or many in one submission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tilec.runtime.compute import Buffer

Step: TypeAlias = "tuple[Any, Any, tuple[int, int, int]]"
"""wgpu's pipeline, its bind group, and the workgroups."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Dispatches in order, after the buffers `cleared` are set to zeros. It keeps all its buffers alive.

    `what` says what it does, for errors: `run the kernel double`.
    """

    steps: tuple[Step, ...]
    cleared: tuple[Buffer, ...]
    buffers: tuple[Buffer, ...]
    what: str

    def check(self) -> None:
        """Raises DeviceError if a buffer was freed."""
        for buffer in self.buffers:
            buffer.handle  # noqa: B018


@dataclass(slots=True, eq=False)
class Batch:
    """What one thread recorded and did not submit yet. `depth` counts the `with` statements around it."""

    works: list[Work] = field(default_factory=list)
    depth: int = 0

    def uses(self, buffer: Buffer) -> bool:
        """Whether what is recorded touches the buffer."""
        return any(buffer is one for work in self.works for one in work.buffers)


def encode(encoder: Any, works: Sequence[Work]) -> None:
    """Records works into a command encoder of wgpu, in as few passes as there may be.

    WebGPU makes each dispatch of a pass its own scope, so that its writes are visible to the next.
    """
    steps: list[Step] = []
    for work in works:
        if work.cleared:
            _record_pass(encoder, steps)
            steps = []
            for buffer in work.cleared:
                encoder.clear_buffer(buffer.handle)
        steps += work.steps
    _record_pass(encoder, steps)


def _record_pass(encoder: Any, steps: Sequence[Step]) -> None:
    if steps:
        scope = encoder.begin_compute_pass()
        record(scope, steps)
        scope.end()


def record(scope: Any, steps: Sequence[Step]) -> None:
    """Records dispatches into a compute pass of wgpu."""
    pipeline = group = None
    for next_pipeline, next_group, groups in steps:
        if next_pipeline is not pipeline:
            pipeline = next_pipeline
            scope.set_pipeline(pipeline)
        if next_group is not group:
            group = next_group
            scope.set_bind_group(0, group)
        scope.dispatch_workgroups(*groups)
