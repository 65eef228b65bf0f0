"""Source texts and byte-exact places in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from tilec.text import printable


@dataclass(frozen=True, eq=False)
class Source:
    """One source text. `name` is what diagnostics print; `text` is decoded, with any line endings."""

    name: str
    text: str = field(repr=False)
    is_std: bool = False

    @cached_property
    def line_starts(self) -> list[int]:
        """Offsets (in characters) at which lines start."""
        return [0] + [i + 1 for i, character in enumerate(self.text) if character == "\n"]

    def line_column(self, offset: int) -> tuple[int, int]:
        """1-based line and column of a character offset."""
        from bisect import bisect_right

        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a 1-based line, without its line ending."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (exclusive) of a source.

    `via` is the call through which an inlined function's body was reached: the span of the call in the caller,
    itself with its own `via`. Diagnostics point at the outermost user line and show the way down.
    """

    source: Source
    start: int
    end: int
    via: Span | None = field(default=None)

    def through(self, call: Span) -> Span:
        """This place, reached through `call`."""
        return Span(self.source, self.start, self.end, call)

    @property
    def line(self) -> int:
        """1-based line of the start."""
        return self.source.line_column(self.start)[0]

    @property
    def place(self) -> str:
        """File and line, as messages say it."""
        return f"{printable(self.source.name)}:{self.line}"

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]
