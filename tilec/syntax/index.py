"""A quick table of what a file of std defines, so that only what is used gets parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tilec.source import Source

# Items of std begin in the first column (a test parses each file whole and compares).
_ITEM = re.compile(r"^(fn|const|kernel|import|@)[ \t]*(\w*)", re.MULTILINE)
_PIECE = re.compile(r"//[^\n]*|\"[^\"\n]*\"|[()\[\]{},=]")


@dataclass(frozen=True, slots=True)
class Entry:
    """A `fn` or `const` between `start` and `end` (doc comment included).

    A function takes `least` to `most` arguments; both are 0 for a constant.
    """

    kind: str
    name: str
    start: int
    end: int
    least: int
    most: int


def index_items(source: Source) -> dict[str, list[Entry]]:
    """The functions and constants of a file by name, in source order, found without parsing."""
    text = source.text
    found = list(_ITEM.finditer(text))
    starts = [_with_docs(text, match.start()) for match in found] + [len(text)]
    table: dict[str, list[Entry]] = {}
    for number, match in enumerate(found):
        kind, name = match.groups()
        if kind not in ("fn", "const"):
            continue
        least, most = _arity(text, match.end()) if kind == "fn" else (0, 0)
        entry = Entry(kind, name, starts[number], starts[number + 1], least, most)
        table.setdefault(name, []).append(entry)
    return table


def _with_docs(text: str, start: int) -> int:
    """Where the doc comment above an item begins."""
    line_start = start
    while True:
        previous = text.rfind("\n", 0, max(line_start - 1, 0)) + 1
        if line_start == 0 or not text.startswith("///", previous):
            return line_start
        line_start = previous


def _arity(text: str, position: int) -> tuple[int, int]:
    """The fewest and most arguments of the parameter list that begins at `position`."""
    depth = 0
    least = most = 0
    last = position
    has_default = False
    for match in _PIECE.finditer(text, position):
        piece = match.group()
        if piece in ",)" and depth == 1:
            if _has_name(text[last : match.start()]):
                most += 1
                least += not has_default
            has_default = False
            last = match.end()
        if piece in "([{":
            depth += 1
            last = match.end() if depth == 1 else last
        elif piece in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif piece == "=" and depth == 1:
            has_default = True
    return least, most


def _has_name(text: str) -> bool:
    """Whether anything but comments and blanks is left."""
    return bool(re.sub(r"//[^\n]*", "", text).strip())
