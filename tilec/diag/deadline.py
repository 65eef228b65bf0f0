"""How long one compilation may take, in seconds of its thread's processor time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tilec.diag import catalog
from tilec.diag.report import LimitReached
from tilec.source import Span

SECONDS = 30.0

_now = getattr(time, "thread_time", time.perf_counter)  # a page has no time of its own thread
_end: ContextVar[tuple[float, float] | None] = ContextVar("end", default=None)


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """What runs inside may take so long; inside another one that one's time counts."""
    if _end.get() is not None:
        yield
        return
    token = _end.set((_now() + seconds, seconds))
    try:
        yield
    finally:
        _end.reset(token)


def check_time(span: Span) -> None:
    """Raises LimitReached at `span` when the time is over. Cheap enough for every instruction."""
    end = _end.get()
    if end is not None and _now() > end[0]:
        raise LimitReached(catalog.COMPILE_TIME, span, limit=f"{end[1]:g}")
