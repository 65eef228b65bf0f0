"""What a mutant is: one fault that a maintainer could make, as a change of one snippet, and the tests that ought to notice."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Kinds of which none may survive: a wrong one of these is a wrong number or a race that shows rarely.
GRAVE = frozenset({"identity", "mask", "barrier", "bound"})
KINDS = GRAVE | {
    "combine",  # how two states, values or parts become one
    "condition",  # when a rule, a rewrite or a plan applies
    "constant",
    "derivative",
    "index",  # which element, axis, slot, binding or uniform
    "operator",  # one operation for another
    "order",  # of statements, operands, sinks, dispatches
    "precedence",
    "rounding",
    "safety",  # what keeps races, stale values and foreign bytes out
    "state",  # what an online state carries
}


@dataclass(frozen=True)
class Mutant:
    """`old`, which occurs exactly once in `file`, becomes `new`. `tests` are pytest's arguments, those first that ought
    to notice. `reason` says why a mutant that survives is no hole: set only where one was looked into."""

    area: str
    file: str
    old: str
    new: str
    kind: str
    tests: tuple[str, ...]
    reason: str = ""

    @property
    def name(self) -> str:
        """Short, and the same as long as the change is."""
        text = "\0".join((self.file, self.old, self.new))
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def place(self) -> float:
        """A number of 0 to 1 that says nothing about the mutant: those below 0.3 are a fair third of them."""
        return int(self.name, 16) / 16**8

    @property
    def module(self) -> str:
        """The dotted name under which the file is imported."""
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def changed(self) -> str:
        """The file's text with the change. Raises `ValueError` where the snippet is not there exactly once."""
        text = _text(self.file)
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"the snippet occurs {found} times, not once: {self.old!r}")
        return text.replace(self.old, self.new)

    def matches(self, words: str) -> bool:
        """Whether it is of that area or kind, in a file of that name, or has that name itself."""
        return words in (self.area, self.kind, self.name) or self.file.endswith(words)

    def __str__(self) -> str:
        return f"{self.name} {self.kind:10} {self.file}: {_short(self.old)} -> {_short(self.new)}"


class Table:
    """The mutants of an area, collected file by file."""

    def __init__(self, area: str, tests: tuple[str, ...]) -> None:
        self.area, self.tests = area, tests
        self.mutants: list[Mutant] = []

    def file(self, file: str, *first: str) -> _File:
        """Begins the mutants of one file; the tests of `first` run before the area's."""
        return _File(self, file, (*first, *(test for test in self.tests if test not in first)))


@dataclass(frozen=True)
class _File:
    table: Table
    file: str
    tests: tuple[str, ...]

    def __call__(self, kind: str, old: str, new: str, reason: str = "") -> _File:
        """Adds a mutant; gives itself, so that calls can be chained."""
        self.table.mutants.append(Mutant(self.table.area, self.file, old, new, kind, self.tests, reason))
        return self


def faults(mutants: Iterable[Mutant], *, compiles: bool = True) -> Iterator[str]:
    """What is wrong with the tables themselves: snippets that are gone, twins, tests that are gone; and, if that is
    asked for, changes that do not compile."""
    names: set[str] = set()
    for one in mutants:
        if one.name in names:
            yield f"twice: {one}"
        names.add(one.name)
        if one.kind not in KINDS:
            yield f"no such kind: {one}"
        if one.kind in GRAVE and one.reason and not one.reason.startswith("the same program"):
            yield f"a grave kind survives only as the same program: {one}"
        try:
            changed = one.changed()
            if compiles:
                compile(changed, one.file, "exec", dont_inherit=True)
        except (ValueError, SyntaxError) as error:
            yield f"{one}: {error}"
        yield from (f"no such test: {test}" for test in one.tests if not _is_there(test.partition("::")[0]))


@functools.cache
def _text(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


@functools.cache
def _is_there(test: str) -> bool:
    return (ROOT / test).exists()


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 60 else words[:57] + "..."
