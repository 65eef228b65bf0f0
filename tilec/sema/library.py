"""The functions of std: indexed without parsing, parsed one by one when they are used."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path

from tilec.diag.report import Reporter
from tilec.errors import InternalError
from tilec.sema.program import FileScope
from tilec.source import Source
from tilec.syntax import ast
from tilec.syntax.index import Entry, index_items
from tilec.syntax.parse import parse_item

LOCK = threading.RLock()
"""Held while what all programs of a process share, std, is completed."""


class Library:
    """std's files. A name's definitions are parsed at its first look-up."""

    def __init__(self, texts: list[tuple[str, str]]) -> None:
        self.sources = tuple(Source(name, text, is_std=True) for name, text in texts)
        self.scopes = [FileScope(source) for source in self.sources]
        self._entries: dict[str, list[tuple[FileScope, Entry]]] = {}
        self._parsed: set[str] = set()
        for scope in self.scopes:
            for name, entries in index_items(scope.source).items():
                self._entries.setdefault(name, []).extend((scope, entry) for entry in entries)

    @property
    def names(self) -> frozenset[str]:
        """Public names."""
        return frozenset(name for name in self._entries if not name.startswith("_"))

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def load(self, name: str) -> None:
        """Makes sure that every definition of the name is in its scope."""
        with LOCK:
            if name in self._parsed:
                return
            for scope, entry in self._entries.get(name, ()):
                self._parse(scope, entry)
            self._parsed.add(name)

    def load_all(self) -> None:
        for name in self._entries:
            self.load(name)

    def _parse(self, scope: FileScope, entry: Entry) -> None:
        reporter = Reporter()
        match parse_item(scope.source, entry.start, entry.end, reporter):
            case ast.Function() as item:
                scope.functions(is_statement=item.value is None).setdefault(entry.name, []).append(item)
            case ast.Const() as item:
                scope.constants[entry.name] = item
        if reporter.has_errors:
            raise InternalError("sema.library", str(reporter.errors[0]))


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
