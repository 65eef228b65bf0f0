"""The functions of std: indexed by a scan of the texts, parsed one by one when they are used."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from tilec.diag.report import Reporter
from tilec.sema.program import FileScope
from tilec.source import Source
from tilec.syntax import ast
from tilec.syntax.parse import parse

_ITEM = re.compile(r"^(?:fn|const) +([A-Za-z_][A-Za-z0-9_]*)", re.MULTILINE)


class Library:
    """std's files. A name's definitions are parsed at its first look-up."""

    def __init__(self, texts: list[tuple[str, str]]) -> None:
        self.sources = tuple(Source(name, text, is_std=True) for name, text in texts)
        self.scopes = [FileScope(source) for source in self.sources]
        self._places: dict[str, list[tuple[FileScope, int, int]]] = {}
        self._parsed: set[str] = set()
        for scope in self.scopes:
            starts = list(_ITEM.finditer(scope.source.text))
            ends = [match.start() for match in starts[1:]] + [len(scope.source.text)]
            for match, end in zip(starts, ends, strict=True):
                self._places.setdefault(match[1], []).append((scope, match.start(), end))

    @property
    def names(self) -> frozenset[str]:
        """Public names."""
        return frozenset(name for name in self._places if not name.startswith("_"))

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def load(self, name: str) -> None:
        """Makes sure that every definition of the name is in its scope."""
        if name in self._parsed:
            return
        self._parsed.add(name)
        for scope, start, end in self._places.get(name, ()):
            self._parse(scope, start, end)

    def load_all(self) -> None:
        for name in self._places:
            self.load(name)

    def _parse(self, scope: FileScope, start: int, end: int) -> None:
        # Blanks before the item keep its offsets those of the file; the doc comment is `tools.doc`'s affair.
        text = scope.source.text
        blank = re.sub(r"[^\n]", " ", text[:start])
        reporter = Reporter()
        for item in parse(Source(scope.source.name, blank + text[start:end], is_std=True), reporter).items:
            match item:
                case ast.Function():
                    table = scope.functions(is_statement=item.value is None)
                    table.setdefault(item.name.name, []).append(item)
                case ast.Const():
                    scope.constants[item.name.name] = item
                case _:
                    raise AssertionError(f"{scope.source.name}: std holds functions and constants only")
        assert not reporter.has_errors, str(reporter.errors[0])


def _folder() -> Path:
    """The wheel holds std inside the package, the repository beside it."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "std"
    return inside if inside.is_dir() else package.parent / "std"


@lru_cache(maxsize=1)
def library() -> Library:
    """std, read once in a process."""
    files = sorted(_folder().glob("*.ph"))
    return Library([(f"std/{path.name}", path.read_text(encoding="utf-8")) for path in files])
