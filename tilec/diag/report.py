"""Collecting diagnostics: one reporter goes through the whole pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tilec.diag.row import Row
from tilec.errors import CompileError
from tilec.source import Span
from tilec.text import printable

LIMIT = 100
"""Diagnostics beyond this number are dropped: nobody reads them, and they cost time to find. An error takes the
place of a warning then, so that a program is never refused without a reason."""

_LONGEST_FIELD = 300
"""Characters of one field of a message."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `notes` are further places, each with what is to be said about it."""

    code: str
    severity: str
    message: str
    label: str
    span: Span
    notes: tuple[tuple[Span, str], ...] = ()
    hint: str | None = None

    def __str__(self) -> str:
        place = self.place
        line, column = place.source.line_column(place.start)
        return f"{printable(place.source.name)}:{line}:{column}: {self.severity}[{self.code}]: {self.message}"

    @property
    def place(self) -> Span:
        """Where the user should look first: the argument that does not fit, of a call, or where the call is."""
        arguments = self.arguments
        return arguments[0][0] if arguments else outermost(self.span)

    @property
    def arguments(self) -> tuple[tuple[Span, str], ...]:
        """Of a fault inside an inlined function, the notes on arguments of the user's call."""
        call = outermost(self.span)
        if self.span.via is None:
            return ()
        return tuple(note for note in self.placed_notes if _is_within(note[0], call))

    @property
    def placed_notes(self) -> tuple[tuple[Span, str], ...]:
        """The notes, each in the innermost body that it shares with the diagnostic: the user's, or a function's."""
        bodies = [None, *_chain(self.span)]
        placed = []
        for span, text in self.notes:
            while span.via is not None and span.via not in bodies:
                span = span.via
            placed.append((span, text))
        return tuple(placed)


def _chain(span: Span) -> list[Span]:
    """The calls that lead to a place."""
    calls = []
    while span.via is not None:
        span = span.via
        calls.append(span)
    return calls


def _is_within(span: Span, call: Span) -> bool:
    is_inside = span.via is None and span.source is call.source and call.start <= span.start and span.end <= call.end
    return is_inside and (span.start, span.end) != (call.start, call.end)


def outermost(span: Span) -> Span:
    """The place where the user's own text enters the chain of inlined calls."""
    while span.via is not None:
        span = span.via
    return span


class LimitReached(Exception):
    """Raised by a stage that runs into a cap of the compiler; the driver makes the diagnostic of it."""

    def __init__(self, row: Row, span: Span, **fields: str | int) -> None:
        super().__init__(row.code)
        self.row = row
        self.span = span
        self.fields = fields

    def as_error(self) -> CompileError:
        reporter = Reporter()
        reporter.error(self.row, self.span, notes=(), hint=None, **self.fields)
        return CompileError(reporter.diagnostics, _render_all())


class Reporter:
    """Collects diagnostics in the order in which they are found; a second one of a code at a place is dropped."""

    def __init__(self) -> None:
        self._diagnostics: list[Diagnostic] = []
        self._seen: set[tuple[object, ...]] = set()
        self._error_count = 0

    def error(
        self, row: Row, span: Span, *, notes: Sequence[tuple[Span, str]] = (), hint: str | None = None, **fields: object
    ) -> None:
        """Reports an error. `fields` fill the row's templates; `hint` replaces the row's."""
        assert row.severity == "error", row.code
        self._add(row, span, notes, hint, fields)

    def warning(
        self, row: Row, span: Span, *, notes: Sequence[tuple[Span, str]] = (), hint: str | None = None, **fields: object
    ) -> None:
        """Reports a warning, as `error` does an error."""
        assert row.severity == "warning", row.code
        self._add(row, span, notes, hint, fields)

    def _add(
        self,
        row: Row,
        span: Span,
        notes: Sequence[tuple[Span, str]],
        hint: str | None,
        fields: dict[str, object],
    ) -> None:
        self._error_count += row.severity == "error"
        is_full = len(self._diagnostics) >= LIMIT
        if is_full and (row.severity != "error" or all(one.severity == "error" for one in self._diagnostics)):
            return
        words = {name: _one_line(value) for name, value in fields.items()}
        if hint is None and row.hint is not None:
            hint = row.hint.format(**words)
        message, label = row.message.format(**words), row.label.format(**words)
        said = tuple((place, _one_line(text)) for place, text in notes)
        diagnostic = Diagnostic(row.code, row.severity, message, label, span, said, hint and _one_line(hint))
        # A body that is inlined at several calls is one fault of the user's: keyed by the place, not by the way there.
        key = (row.code, id(span.source), span.start, span.end, diagnostic.message)
        if key in self._seen:
            return
        self._seen.add(key)
        if is_full:
            self._diagnostics.remove([one for one in self._diagnostics if one.severity != "error"][-1])
        self._diagnostics.append(diagnostic)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found, errors and warnings, in source order (by file as first met, then by place)."""
        order: dict[int, int] = {}
        for diagnostic in self._diagnostics:
            order.setdefault(id(diagnostic.place.source), len(order))

        def place(diagnostic: Diagnostic) -> tuple[int, int]:
            return order[id(diagnostic.place.source)], diagnostic.place.start

        return tuple(sorted(self._diagnostics, key=place))

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return tuple(diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "warning")

    @property
    def has_errors(self) -> bool:
        return self._error_count > 0

    def raise_if_errors(self) -> None:
        """Raises `CompileError` with everything found so far when one of them is an error."""
        if self.has_errors:
            raise CompileError(self.diagnostics, _render_all())


def _one_line(value: object) -> str:
    """Texts of the source come in with their newlines and at any length, and may speak to the terminal."""
    text = printable(" ".join(str(value).split()))
    return text if len(text) <= _LONGEST_FIELD else f"{text[: _LONGEST_FIELD - 3]}..."


def _render_all() -> Callable[[Sequence[object]], str]:
    from tilec.diag.render import render_all  # the text is made only when it is asked for

    return render_all


_LONGEST_NAME = 64
"""Letters of a name for which others are looked for: comparing two takes the square of it."""


def suggest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was probably meant to be, or None.

    One letter in three may be wrong, left out or swapped with its neighbour; of one or two letters none.
    """
    pool = sorted({candidate for candidate in candidates if candidate != name})
    for candidate in pool:
        if candidate.lower().replace("_", "") == name.lower().replace("_", ""):
            return candidate
    if not 3 <= len(name) <= _LONGEST_NAME:
        return None
    near = [(edits(name.lower(), each.lower()), each) for each in pool if abs(len(each) - len(name)) <= len(name) // 3]
    best = min(near, default=(len(name), ""))
    return best[1] if best[0] <= len(name) // 3 and best[0] < len(best[1]) - 1 else None


def edits(left: str, right: str) -> int:
    """Letters to replace, insert, delete, or swap with the next one, to make one word of the other."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for place, letter in enumerate(left):
        earlier, before, row = before, row, [place + 1]
        for column, other in enumerate(right):
            steps = [before[column + 1] + 1, row[column] + 1, before[column] + (letter != other)]
            if place and column and letter == right[column - 1] and left[place - 1] == other:
                steps.append(earlier[column - 1] + 1)
            row.append(min(steps))
    return row[-1]


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """The hint for an unknown name, or None where nothing is near."""
    found = suggest(name, candidates)
    return f"did you mean `{found}`?" if found else None
