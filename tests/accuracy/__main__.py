"""`python -m tests.accuracy > docs/accuracy.md`: errors of the losses and their gradients against float64.

Prints the page; what is above its bound goes to standard error, and makes the exit code 1. `--on NAMES` chooses the
implementations, which may be other adapters: `--on NVIDIA > docs/accuracy-h200.md` was run on an H200.
"""

from __future__ import annotations

import argparse
import sys

from tests.accuracy.measure import DTYPES, IMPLEMENTATIONS, reports
from tests.accuracy.page import page


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.accuracy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ",".join(IMPLEMENTATIONS)
    parser.add_argument("--on", default=names, metavar="NAMES", help="implementations, or other adapters, by commas")
    parser.add_argument("--match", default="", metavar="TEXT", help="only functions whose name has it")
    parser.add_argument("--dtype", default=",".join(DTYPES), metavar="TYPES", help="storage types, by commas")
    given = parser.parse_args(arguments)
    names = tuple(given.on.split(","))
    found = []
    for loss, dtype, report in reports(names, given.match, tuple(given.dtype.split(","))):
        found.append((loss, dtype, report))
        print(*report.failures, sep="\n", end="\n" if report.failures else "", file=sys.stderr, flush=True)
    print(page(names, found), end="")
    return 1 if any(report.failures for _, _, report in found) else 0


if __name__ == "__main__":
    sys.exit(main())
