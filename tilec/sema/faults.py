"""A reporter that counts one kernel's own errors, and that can be silent during a trial."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.diag.report import Reporter
from tilec.diag.row import Row
from tilec.source import Span


class Faults:
    """Passes diagnostics on to `reporter`, unless it is silent."""

    def __init__(self, reporter: Reporter, *, is_silent: bool = False) -> None:
        self.reporter = reporter
        self.is_silent = is_silent
        self.count = 0

    def error(
        self, row: Row, span: Span, *, notes: Sequence[tuple[Span, str]] = (), hint: str | None = None, **fields: object
    ) -> None:
        self.count += 1
        if not self.is_silent:
            self.reporter.error(row, span, notes=notes, hint=hint, **fields)

    def warning(
        self, row: Row, span: Span, *, notes: Sequence[tuple[Span, str]] = (), hint: str | None = None, **fields: object
    ) -> None:
        if not self.is_silent:
            self.reporter.warning(row, span, notes=notes, hint=hint, **fields)
