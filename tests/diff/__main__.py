"""`python -m tests.diff`: a table of kernels and executions, with the worst error of each, or how it failed.

Every execution gets the same data and must answer within the ranges that the specification interpreter carries along
(`ranges`). `lavapipe` and `swiftshader` are naga on those drivers, `dawn:lavapipe` is Tint on the first, `chromium` a
page of the browser that follows the shipped manifest, `dawn:swiftshader` and others can be asked for, `loops` is the
loop interpreter with its race checker. An error is the largest difference from the specification's value, relative to
the largest number of the tensor. With `--repeat N` each kernel is launched N times on one execution instead, and all
results must have the same bits. The exit code is 1 if anything was wrong or failed.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from tests.diff.catalog import GROUPS, Entry, Sizes, entries
from tests.diff.harness import LOOPS, PAGE, Data, Execution, Subject, first_difference, wide
from tests.diff.ranges import Undecided
from tests.diff.repeats import different_results
from tests.diff.triples import Triple
from tilec.options import Options

COLUMNS = "loops,lavapipe,swiftshader,dawn:lavapipe,chromium"

# Lavapipe compiles longer texts for minutes, SwiftShader those of four times as many characters.
LONGEST = 40_000


def execution(name: str) -> Execution:
    """The execution of a column: text for all sizes, as it is made for the device, or as the shipped files have it."""
    if name == "loops":
        return LOOPS[2]
    return PAGE if name == "chromium" else Execution(name, known=False, device=name)


def worst_error(expected: Triple, got: np.ndarray) -> float:
    """The largest difference from the value, relative to the largest number of the tensor, where one is known."""
    value, there = wide(expected.value).astype(np.float64), wide(got).astype(np.float64)
    known = np.isfinite(value) & np.isfinite(there) & ~expected.says_nothing
    if not known.any():
        return 0.0
    largest = np.abs(value[known]).max()
    return float(np.abs(there - value)[known].max() / (largest or 1.0))


def run_cell(subject: Subject, data: Data, expected: dict[str, Triple], column: str) -> tuple[str, str]:
    """A verdict (ok, WRONG, refused) and its details."""
    try:
        got = subject.run(execution(column), data)
    except Exception as error:
        return "refused", f"{type(error).__name__}: {error}"
    worst = 0.0
    for name, triple in expected.items():
        wrong = first_difference(triple, got[name])
        if wrong:
            return "WRONG", f"{name}: {wrong}"
        worst = max(worst, worst_error(triple, got[name]))
    return "ok", f"{worst:.1e}"


def is_long(subject: Subject, column: str, longest: int) -> bool:
    """Whether a driver would take minutes to compile it."""
    most = longest if "lavapipe" in column else 4 * longest
    return column != "loops" and len(subject.compiled(Options(), None).wgsl) > most


def chosen(given: argparse.Namespace) -> Iterator[Entry]:
    for group in given.group.split(","):
        for entry in entries(group, given.programs, Sizes(given.rows, given.columns)):
            if re.search(given.match, entry.name):
                yield entry


def compare(given: argparse.Namespace) -> int:
    columns = given.on.split(",")
    tally: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    worst: dict[tuple[str, str], float] = {}
    width = 44
    print(f"{'kernel':{width}}" + "".join(f"{column:>16}" for column in columns), flush=True)
    for entry in chosen(given):
        subject, data = entry.make()
        try:
            expected = subject.expected(data)
        except Undecided:
            print(f"{entry.name:{width}}  control flow depends on a rounding: nothing to compare")
            tally["undecided", entry.group] += 1
            continue
        cells = []
        for column in columns:
            if is_long(subject, column, given.longest):
                cells.append("long")
                continue
            verdict, details = run_cell(subject, data, expected, column)
            tally[verdict, column] += 1
            if verdict == "ok":
                key = entry.group, column
                worst[key] = max(worst.get(key, 0.0), float(details))
            else:
                failures.append(f"{entry.name} on {column}: {verdict}: {details}")
            cells.append(details if verdict == "ok" else verdict)
        tally["kernels", entry.group] += 1
        print(f"{entry.name[: width - 1]:{width}}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    print()
    for (what, where), count in sorted(tally.items()):
        print(f"{count:6,} {what:10} {where}")
    for (group, column), error in sorted(worst.items()):
        print(f"worst error of {group} on {column}: {error:.1e}")
    print(*failures, sep="\n\n")
    return 1 if failures else 0


def repeat(given: argparse.Namespace) -> int:
    count = kernels = 0
    failures = []
    for entry in chosen(given):
        subject, data = entry.make()
        device = given.on.split(",")[0]
        if is_long(subject, device, given.longest):
            continue
        found = different_results(subject, data, device, given.repeat)
        kernels, count = kernels + 1, count + given.repeat
        if found > 1:
            failures.append(f"{entry.name}: {found} different results of {given.repeat}")
    print(f"{kernels:,} kernels, {count:,} launches on {given.on}: {len(failures)} with results of different bits")
    print(*failures, sep="\n")
    return 1 if failures else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.diff", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--group", default=",".join(GROUPS), help=f"which kernels (default: {','.join(GROUPS)})")
    parser.add_argument("--match", default="", metavar="REGEX", help="only kernels whose name it finds")
    parser.add_argument("--on", default=COLUMNS, metavar="NAMES", help=f"executions (default: {COLUMNS})")
    parser.add_argument("--programs", type=int, default=100, help="how many programs are generated (default 100)")
    parser.add_argument("--longest", type=int, default=LONGEST, help="characters on lavapipe (default 40000)")
    parser.add_argument("--rows", type=int, default=19, help="of the drawn data (default 19)")
    parser.add_argument("--columns", type=int, default=130, help="of the drawn data (default 130)")
    parser.add_argument("--repeat", type=int, default=0, metavar="N", help="launch each N times on the first of --on")
    given = parser.parse_args(arguments)
    start = time.monotonic()
    status = repeat(given) if given.repeat else compare(given)
    print(f"{time.monotonic() - start:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
