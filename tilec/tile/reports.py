"""What a debug build tells the host: asserts that failed, values printed, where a NaN or infinity came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from tilec.source import Span
from tilec.tile import ir
from tilec.tile.walk import walk
from tilec.types import DType

Number: TypeAlias = "bool | int | float"

LOG = "(log)"
"""The name of the buffer that holds a log; no tensor is called so."""

MOST_PRINTED = 512
"""Lanes that a print tells of each time, in a block: the first active ones. The rest it only counts."""

KINDS: dict[str, int] = {"assert": 64, "print": MOST_PRINTED, "made": 16, "kept": 16, "bound": 16}
"""By kind of report, how many lanes a log has of it: the first ones."""

MOST_VALUES = 6
"""Values that one report has."""

ROUND = -1
"""In a report's path: here stands the next of its rounds."""


@dataclass(frozen=True, slots=True)
class Site:
    """A Report of a kernel as the host knows it: its fields, the values' dtypes for the values. Copies that a pass made
    of one statement are one site."""

    kind: str
    text: str
    span: Span
    names: tuple[str, ...]
    dtypes: tuple[DType, ...]
    rank: int


@dataclass(frozen=True, slots=True)
class Record:
    """One lane that a site told of: the number of the block (x fastest), the lane's indices, and the values there."""

    site: Site
    block: int
    index: tuple[int, ...]
    values: tuple[Number, ...]


@dataclass(slots=True, eq=False)
class Log:
    """The reports of one launch: `records` by block, in a block as the statements ran, in a statement by rows; of each
    kind the first ones (`KINDS`). `lanes` is how many lanes each site had to tell of, `grid` the blocks along x, y, z.
    """

    records: list[Record] = field(default_factory=list)
    lanes: dict[Site, int] = field(default_factory=dict)
    grid: tuple[int, int, int] = (1, 1, 1)

    def count(self, site: Site, lanes: int) -> None:
        self.lanes[site] = self.lanes.get(site, 0) + lanes

    def of_kind(self, kind: str) -> list[Record]:
        return [record for record in self.records if record.site.kind == kind]

    def trim(self) -> None:
        """Keeps the first records of each kind; they are in order already."""
        left = dict(KINDS)
        kept: list[Record] = []
        for record in self.records:
            left[record.site.kind] -= 1
            if left[record.site.kind] >= 0:
                kept.append(record)
        self.records = kept


def show_block(number: int, grid: tuple[int, int, int]) -> str:
    """A block as messages call it: `3`, or `(3, 1)` in a grid of two axes."""
    x, y, _ = grid
    block = [number % x, number // x % y, number // (x * y)]
    while len(block) > 1 and grid[len(block) - 1] == 1:
        block.pop()
    return str(block[0]) if len(block) == 1 else f"({', '.join(map(str, block))})"


def reports_in(region: ir.Region) -> Iterator[ir.Report]:
    """The reports in a region and those inside it, in order."""
    return (value for value in walk(region) if isinstance(value, ir.Report))


def site_of(report: ir.Report) -> Site:
    """What the host knows of the report."""
    dtypes = tuple(value.type.dtype for value in report.values)
    return Site(report.kind, report.text, report.span, report.names, dtypes, report.where.type.rank)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a log lies in memory, in words of 32 bits.

    Word 0 is the last block that tells, set by the host. For each of `kinds` follow how many lanes were told and the
    first block that told one (set to the highest number by the host), then for each of `sites` how many lanes it had.
    Behind the head the space is split evenly among the kinds. A record is the site, the block, `rounds` rounds of the
    loops around it, `rank` indices, and `values` words of values. `paths` say where in the kernel the sites stand: the
    positions of their instruction and of those around it, `ROUND` for each loop.
    """

    kinds: tuple[str, ...]
    sites: tuple[Site, ...]
    paths: tuple[tuple[int, ...], ...]
    rounds: int
    rank: int
    values: int

    @property
    def head(self) -> int:
        return 1 + 2 * len(self.kinds) + len(self.sites)

    @property
    def record(self) -> int:
        return 2 + self.rounds + self.rank + self.values

    def kind_word(self, kind: str) -> int:
        """The word that counts the lanes of the kind; the one behind it has the first block."""
        return 1 + 2 * self.kinds.index(kind)

    def site_word(self, number: int) -> int:
        """The word that counts the lanes of the site."""
        return 1 + 2 * len(self.kinds) + number

    def room(self, words: int) -> int:
        """How many records of each kind a log of that many words has."""
        return max(0, words - self.head) // (len(self.kinds) * self.record)


def layout_of(kernel: ir.Kernel) -> Layout | None:
    """The layout for the reports of a kernel after `place_reports`; None if it has none."""
    reports = list(reports_in(kernel.body))
    if not reports:
        return None
    sites = tuple(map(site_of, reports))
    kinds = tuple(kind for kind in KINDS if any(site.kind == kind for site in sites))
    rounds = max(len(report.rounds) for report in reports)
    rank, values = max(site.rank for site in sites), max(len(site.names) for site in sites)
    return Layout(kinds, sites, tuple(report.path for report in reports), rounds, rank, values)
