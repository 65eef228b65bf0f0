"""`python -m tests.mutants`: plants faults in tilec one by one, and looks which of them the tests notice.

Each mutant of the tables runs in a process of its own, against the tests chosen for it, until one fails. Those that are
quick to try come first, for a few seconds each; what survives then meets all of its tests. Results are appended to a file of JSON lines, and `--resume` goes on where one stopped. The exit code is 1 if a
mutant survived that has no reason to.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from tests.mutants.areas import WIDE, all_mutants
from tests.mutants.fork import Outcome, run_all, warm_up
from tests.mutants.hot import is_hot, run_hot
from tests.mutants.report import summary
from tests.mutants.table import ROOT, Mutant, faults

LONGEST = 300.0
"""Seconds that a test may take on the unchanged program."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", action="append", default=[], help="an area, a file, a kind or a mutant's name")
    parser.add_argument("--part", type=float, default=1.0, help="a part of them, such as 0.3, by chance but always the same")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument(
        "--work", type=float, default=10.0,
        help="seconds of work after which a mutant begins no further test at first; those that survive meet all of their "
        "tests in the end (default %(default)g)",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="leave out that end: they stay open")
    parser.add_argument("--tests", nargs="+", metavar="TEST", help="meet these tests instead of their own")
    parser.add_argument("--wide", action="store_true", help="run what survives its own tests against all others too")
    parser.add_argument("--workers", type=int, default=1, help="mutants at a time (default 1)")
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"), help="where results go (default %(default)s)")
    parser.add_argument("--resume", type=Path, help="go on with this file: what it holds is not run again")
    parser.add_argument("--survivors", action="store_true", help="with --resume: run those that survived again")
    parser.add_argument("--report", type=Path, help="print the table of a file of results and run nothing")
    parser.add_argument("--loud", action="store_true", help="show what pytest prints")
    given = parser.parse_args(arguments)
    mutants = [one for one in all_mutants() if not given.only or any(map(one.matches, given.only))]
    mutants = [one for one in mutants if one.place < given.part]
    if given.tests:
        mutants = [replace(one, tests=tuple(given.tests)) for one in mutants]
    if wrong := [*faults(mutants)]:
        print(*wrong, sep="\n")
        return 2
    if given.list:
        print(*mutants, f"{len(mutants)} mutants", sep="\n")
        return 0
    if given.report:
        return _finish(mutants, _read(given.report))
    out = given.resume or given.out
    found = _read(out) if given.resume else {}
    if not given.resume:
        out.write_text("", "utf-8")
    if given.survivors:
        found = {name: row for name, row in found.items() if row["state"] not in ("survived", "open")}
    warm_up()
    todo = sorted((one for one in mutants if one.name not in found), key=lambda one: one.name)
    try:
        for number, row in enumerate(_run(todo, found, out, given), 1):
            found[row["name"]] = row
            _append(out, row)
            print(f"{number}/{len(todo)} {row['state']:8} {row['seconds']:5.1f} s  {row['mutant']}", flush=True)
            if row["state"] not in ("survived", "open"):
                print(f"      by {row['test']}: {row['words']}", flush=True)
    except RuntimeError as error:
        print(error)
        return 2
    return _finish(mutants, found)


def _finish(mutants: list[Mutant], found: dict[str, Any]) -> int:
    lines, is_well = summary(mutants, found)
    print(*lines, sep="\n")
    return 0 if is_well else 1


def _run(
    mutants: list[Mutant], found: dict[str, Any], out: Path, given: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Each mutant against its own tests, and all others if that is asked for; a row each, and another for those that
    survive at first."""
    tests = {one: [*one.tests, *(_wide_of(one) if given.wide else ())] for one in mutants}
    slowest = _slowest_tests(list(dict.fromkeys(chain(*tests.values()))), found, out, given.workers)
    tests = {one: [test for test in own if test in slowest] for one, own in tests.items()}
    ends = {one: 20.0 + 10.0 * max((slowest[test] for test in own), default=0.0) for one, own in tests.items()}

    def cold(several: list[Mutant], work: float) -> Iterator[tuple[Mutant, Outcome]]:
        jobs = [(one, one, ["-x", *tests[one]], ends[one]) for one in several]
        return run_all(jobs, given.workers, work=work, loud=given.loud)

    hot = [one for one in mutants if is_hot(one)]
    first = run_hot([(one, tests[one], ends[one]) for one in hot], given.workers, given.work)
    left: list[Mutant] = []
    for one, outcome in chain(first, cold([one for one in mutants if one not in hot], given.work)):
        if outcome.state == "cut" or (outcome.state == "passed" and one in hot):
            left.append(one)
        yield _row(one, outcome)
    if not given.quick:
        yield from (_row(one, outcome) for one, outcome in cold(left, math.inf))


def _wide_of(mutant: Mutant) -> list[str]:
    return [test for test in WIDE if test not in mutant.tests]


def _row(mutant: Mutant, outcome: Outcome) -> dict[str, Any]:
    if outcome.state == "error":
        raise RuntimeError(f"{mutant}: {outcome.words}")
    state = {"passed": "survived", "failed": "killed", "cut": "open"}.get(outcome.state, outcome.state)
    return {
        "name": mutant.name, "mutant": str(mutant), "state": state, "seconds": round(outcome.seconds, 1),
        "test": outcome.test, "words": outcome.words, "commit": _commit(),
    }  # fmt: skip


def _slowest_tests(tests: list[str], found: dict[str, Any], out: Path, workers: int) -> dict[str, float]:
    """How long the slowest test of each takes on the unchanged program; without those that fail there, of which
    failing says nothing."""
    missing = [test for test in tests if f"+{test}" not in found]
    failing = set[str]()
    for test, outcome in run_all(((test, None, [test], LONGEST) for test in missing), workers):
        if outcome.state != "passed":
            failing.add(test)
            print(f"left out: {test} fails on the unchanged program: {outcome.test} {outcome.words}")
            continue
        seconds = {"seconds": round(outcome.seconds, 1), "slowest": round(outcome.slowest, 1)}
        row = {"name": f"+{test}", "state": "passed", **seconds, "commit": _commit()}
        found[row["name"]] = row
        _append(out, row)
        print(f"{outcome.seconds:6.1f} s, {outcome.slowest:5.1f} s the slowest, unchanged: {test}", flush=True)
    return {test: found[f"+{test}"]["slowest"] for test in tests if test not in failing}


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def _read(path: Path) -> dict[str, Any]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return {row["name"]: row for row in rows}


def _append(path: Path, row: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**row, "time": round(time.time())}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
