"""What a debug build told, in words: lines that are printed, warnings, and the error of an assert."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tilec.diag.render import render
from tilec.diag.report import Diagnostic
from tilec.errors import DebugError
from tilec.text import printable
from tilec.tile.reports import MOST_PRINTED, Log, Number, Record, Site, show_block

_ELEMENTS_SHOWN = 8
_CAUSES_SHOWN = 4


class DebugWarning(UserWarning):
    """What a debug build noticed that may be meant: NaNs and infinities that were stored, loops that their
    bound ended, elements never written."""


def tell(log: Log, unwritten: Mapping[str, np.ndarray], kernel: str, results: Any, stacklevel: int = 6) -> None:
    """Prints what the kernel printed, warns, and raises DebugError if an assert failed."""
    for line in printed(log):
        print(line, file=sys.stdout)
    for message in (*odd_values(log, kernel), *endless(log, kernel), *never_written(unwritten, kernel)):
        warnings.warn(message, DebugWarning, stacklevel=stacklevel)
    failures = failed(log, kernel)
    if failures:
        raise DebugError("\n\n".join(failures), log, results)


def printed(log: Log) -> list[str]:
    """The lines of the kernel's `print`s, and one for what is left out of each."""
    shown: dict[Site, int] = {}
    lines: list[str] = []
    for record in log.of_kind("print"):
        site = record.site
        shown[site] = shown.get(site, 0) + 1
        lines.append(f"{_shown(site.text)}{_place(log, record)} = {_number(record.values[0])}")
    for site, lanes in log.lanes.items():
        if site.kind != "print":
            continue
        most = max((one.values[1] for one in log.of_kind("print") if one.site == site and site.rank), default=0)
        if lanes > shown.get(site, 0):
            lines.append(f"{_shown(site.text)}: {lanes - shown.get(site, 0):,} more")
        if most > MOST_PRINTED:
            lines.append(f"{_shown(site.text)}: {MOST_PRINTED} at most of each {most:,}")
    return lines


def failed(log: Log, kernel: str) -> list[str]:
    """A text for each assert that failed somewhere."""
    texts = []
    for site, records in _by_site(log, "assert").items():
        lanes = log.lanes[site]
        label = f"does not hold in {_count(lanes, 'element')}" if site.rank else "does not hold"
        if not site.rank and lanes > 1:
            label = f"does not hold {lanes:,} times"
        found = Diagnostic("assert", "error", f"{kernel}: {_shown(site.text)}", label, site.span)
        texts.append("\n".join([render(found), *_elements(log, records, lanes)]))
    return texts


def odd_values(log: Log, kernel: str) -> list[str]:
    """A text for the NaNs and infinities that were stored, with the instructions that made the first ones."""
    kept = log.of_kind("kept")
    if not kept:
        return []
    blocks = {record.block for record in kept}
    makers = [record for record in log.of_kind("made") if record.block in blocks]
    names = list(dict.fromkeys(record.site.text for record in kept))
    counts = ", ".join(
        f"{_count(sum(n for site, n in log.lanes.items() if _stores(site, name)), 'element')} of {name}"
        for name in names
    )
    text = f"{kernel}: NaN or infinity stored in {counts}, the first in {kept[0].site.text}{_place(log, kept[0])}"
    if not makers:
        return [f"{text}; no instruction of those blocks made one of finite numbers: it was in the arguments"]
    parts = [f"{text}; of finite numbers the first was made here:"]
    for site, records in list(_grouped(makers).items())[:_CAUSES_SHOWN]:
        value = _number(records[0].values[0])
        found = Diagnostic("made", "warning", f"{value}, in {_count(log.lanes[site], 'element')}", "", site.span)
        parts.append("\n".join([render(found), *_elements(log, records[:1], 1)]))
    return ["\n".join(parts)]


def _stores(site: Site, name: str) -> bool:
    return site.kind == "kept" and site.text == name


def endless(log: Log, kernel: str) -> list[str]:
    """A text for each `while` that went on until its bound."""
    texts = []
    for site, records in _by_site(log, "bound").items():
        message = f"{kernel}: a `while` was ended by its bound, {site.text} rounds, and its condition still holds"
        found = Diagnostic("bound", "warning", message, "", site.span)
        texts.append("\n".join([render(found), *_elements(log, records, log.lanes[site])]))
    return texts


def never_written(unwritten: Mapping[str, np.ndarray], kernel: str) -> list[str]:
    """A text for each output of which elements were never stored."""
    texts = []
    for name, left in unwritten.items():
        count = int(left.sum())
        if count:
            first = [f"[{', '.join(map(str, index))}]" for index in np.argwhere(left)[:_CAUSES_SHOWN].tolist()]
            more = " ..." if count > len(first) else ""
            texts.append(
                f"{kernel}: {_count(count, 'element')} of {left.size:,} of {name} never written, and 0: "
                f"{', '.join(first)}{more}"
            )
    return texts


# --- parts ---------------------------------------------------------------------------------------------------


def _by_site(log: Log, kind: str) -> dict[Site, list[Record]]:
    found = _grouped(log.of_kind(kind))
    return found | {site: [] for site in log.lanes if site.kind == kind and site not in found}


def _grouped(records: Sequence[Record]) -> dict[Site, list[Record]]:
    found: dict[Site, list[Record]] = {}
    for record in records:
        found.setdefault(record.site, []).append(record)
    return found


def _elements(log: Log, records: Sequence[Record], lanes: int) -> list[str]:
    """A line for each of the first elements, with the values there."""
    lines = []
    for record in records[:_ELEMENTS_SHOWN]:
        place, values = _place(log, record).strip(), _values(record)
        if place or values:
            lines.append(f"    {place}{': ' if place and values else ''}{values}")
    left = lanes - len(lines)
    return [*lines, f"    and {_count(left, 'more', '')}"] if lines and left > 0 else lines


def _place(log: Log, record: Record) -> str:
    """`[3, 0]`, and the block where the kernel has several."""
    lane = f"[{', '.join(map(str, record.index))}]" if record.index else ""
    x, y, z = log.grid
    if x * y * z == 1:
        return lane
    return f"{lane} in block {show_block(record.block, log.grid)}"


def _values(record: Record) -> str:
    pairs = zip(record.site.names, record.values, strict=True)
    return ", ".join(f"{_shown(name)} = {_number(value)}" for name, value in pairs)


def _shown(text: str) -> str:
    """A text of the source on one line, without what a terminal would act on."""
    return printable(" ".join(text.split()))


def _number(value: Number) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _count(number: int, noun: str, ending: str = "s") -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{ending}"
