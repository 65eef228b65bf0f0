"""A reporter that counts one kernel's own errors, and that can be silent during a trial.

It holds the rule that nothing of a program is given up without a diagnostic.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.diag.report import Reporter, outermost
from tilec.diag.row import Row
from tilec.errors import InternalError
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

    def give_up(self, span: Span) -> None:
        """What stands at `span` has no meaning, and the user was told why: every value without a meaning is made here.

        Raises InternalError where nobody was told. A trial may not know yet what a later one will.
        """
        self.count += 1
        if not self.is_silent and not self.reporter.has_errors:
            place = outermost(span)
            line, column = place.source.line_column(place.start)
            where = f"{place.source.name}:{line}:{column}"
            raise InternalError("sema", f"{where}: `{span.text[:60]}` was not understood, and no diagnostic says why")
