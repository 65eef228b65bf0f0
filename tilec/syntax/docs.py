"""Doc comments on their way to what they document."""

from __future__ import annotations

from lark import Token

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.source import Source, Span


class DocComments:
    """`pending` lines wait for the token that follows; `texts` has those that found theirs, by its offset."""

    def __init__(self, source: Source, reporter: Reporter) -> None:
        self.pending: list[Token] = []
        self.texts: dict[int, str] = {}
        self._source = source
        self._reporter = reporter

    def attach(self, token: Token) -> None:
        """The pending lines document what begins with `token`."""
        self.texts[token.start_pos or 0] = "\n".join(str(line)[3:].removeprefix(" ").rstrip() for line in self.pending)
        self.pending.clear()

    def lose(self) -> None:
        """Nothing that can be documented follows: a warning."""
        first, last = self.pending[0], self.pending[-1]
        self._reporter.warning(catalog.DOC_ON_NOTHING, Span(self._source, first.start_pos or 0, last.end_pos or 0))
        self.pending.clear()
