"""Timing of contenders in turn, and tables.

Contenders are run one after the other, round by round, so that whatever else the machine does meets all of them. Two
clocks are read: the wall's, and the processor time of this process with all its threads, which a software device and
the CPU libraries spend whether or not others use the machine at the same time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Contender:
    """`run` does the work and waits for it; `prepare` stands before each run and is not timed."""

    run: Callable[[], object]
    prepare: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Medians in milliseconds, and the number of runs. `thread` is the processor time of the calling thread alone."""

    wall: float
    processor: float
    thread: float
    runs: int


def in_turn(contenders: Mapping[str, Contender], seconds: float, least: int = 9) -> dict[str, Timing]:
    """Times the contenders for about that long in all, each at least `least` times after one run to warm up."""
    for contender in contenders.values():
        _once(contender)
    samples: dict[str, list[tuple[float, float, float]]] = {name: [] for name in contenders}
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < least or time.perf_counter() < end:
        for name, contender in contenders.items():
            samples[name].append(_once(contender))
        rounds += 1
    return {name: _timing(found) for name, found in samples.items()}


def _once(contender: Contender) -> tuple[float, float, float]:
    if contender.prepare is not None:
        contender.prepare()
    wall, processor, thread = time.perf_counter(), time.process_time(), time.thread_time()
    contender.run()
    return time.perf_counter() - wall, time.process_time() - processor, time.thread_time() - thread


def _timing(samples: Sequence[tuple[float, float, float]]) -> Timing:
    wall, processor, thread = (1e3 * statistics.median(clock) for clock in zip(*samples, strict=True))
    return Timing(wall, processor, thread, len(samples))


Row: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True, slots=True)
class Table:
    """A topic's results. The columns are the keys of the first row; `goals` are (what, reached, text)."""

    title: str
    rows: list[Row]
    goals: list[tuple[str, bool, str]]

    @property
    def is_right(self) -> bool:
        """Whether all results that were checked are right."""
        return all(row.get("check", "ok") == "ok" for row in self.rows)


def print_table(table: Table) -> None:
    """The table as aligned text, which is Markdown too, and how its goals stand."""
    print(f"\n{table.title}\n")
    if table.rows:
        names = list(table.rows[0])
        cells = [names, *([_cell(row.get(name)) for name in names] for row in table.rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
        cells.insert(1, ["-" * (width - 1) + ":" for width in widths])
        for line in cells:
            print("| " + " | ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) + " |")
    print()
    for what, reached, text in table.goals:
        print(f"- Goal {'reached' if reached else 'MISSED'}: {what}: {text}.")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return str(value)
