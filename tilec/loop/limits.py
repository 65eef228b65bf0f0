"""Limits of a device that a lowered program may exceed."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.loop.ir import Program
from tilec.source import Span


def check_limits(program: Program, kernel: str, span: Span, storage_buffers: int, reporter: Reporter) -> None:
    """Reports the dispatch that binds the most storage buffers, if they are more than `storage_buffers`."""
    most = max(program.dispatches, key=lambda dispatch: len(dispatch.buffers), default=None)
    if most is None or len(most.buffers) <= storage_buffers:
        return
    tensors = sum(buffer.tensor is not None for buffer in most.buffers)
    scratch = " and scratch memory" if tensors < len(most.buffers) else ""
    reporter.error(
        catalog.TOO_MANY_BUFFERS,
        span,
        name=kernel,
        given=len(most.buffers),
        limit=storage_buffers,
        count=tensors,
        scratch=scratch,
    )
