"""`python -m tests.fuzz --minutes 60 --seed 0`: random programs until the time is over; what fails becomes a test file.

Each failure is shrunk, printed and written to `tests/fuzz/found/`. `--devices` adds the WGSL implementations to the
loop interpreter's plans. The exit code is 1 if anything was found.

`--source` damages the repository's own sources instead, in characters, tokens, lines and trees, and looks for what ends
in anything but WGSL or a diagnostic, or takes more than 10 s; `--inputs 5000` runs so many of them.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from dataclasses import replace
from pathlib import Path
from pprint import pformat

from tests.diff.harness import DEVICES, GENERAL_DEVICE, LOOPS, Execution
from tests.fuzz import hostile
from tests.fuzz.attempts import Failure, Tally, attempt, cases_of
from tests.fuzz.generate import draw_program
from tests.fuzz.parts import RandomChoices
from tests.fuzz.shrink import shrink

FOUND = Path(__file__).parent / "found"


def smallest(found: Failure, seconds: float) -> Failure:
    """The failure of the smallest program that fails in the same way on the same shapes."""

    def again(text: str) -> Failure | None:
        failure = attempt([replace(found.case, text=text)], [found.execution])
        return failure if failure is not None and failure.kind == found.kind else None

    return again(shrink(found.case.text, lambda text: again(text) is not None, seconds)) or found


def write_test(failure: Failure, folder: Path) -> Path:
    """A test file that replays the failure."""
    case = failure.case
    name = hashlib.sha256(case.text.encode()).hexdigest()[:10]
    folder.mkdir(exist_ok=True)
    path = folder / f"test_{name}.py"
    first = failure.words.split("\n", 1)[0].replace("\\", "/").replace('"', "'")
    facts = {key: getattr(case, key) for key in ("dtypes", "constants", "roles", "dims", "style", "seed")}
    arguments = "".join(f"        {key}={pformat(value, width=90)},\n" for key, value in facts.items())
    path.write_text(
        f'"""{first[:100]}"""\n\nfrom tests.fuzz.replay import replay\n\nTEXT = """\n{case.text}"""\n\n\n'
        f"def test_{name}():\n    replay(\n        TEXT,\n{arguments}    )\n",
        encoding="utf-8",
    )
    return path


def run(given: argparse.Namespace, executions: tuple[Execution, ...]) -> int:
    """Runs until the time is over and prints a line a failure and the tally; gives the number of failures."""
    end = time.monotonic() + 60 * given.minutes
    tally, kinds, seed = Tally(), dict[tuple[str, str], int](), given.seed
    while time.monotonic() < end:
        program = draw_program(RandomChoices(seed))
        found = attempt(cases_of(program, seed, given.cases), executions, tally, given.each)
        if found is not None:
            tally.counts["failures"] += 1
            key = found.execution.name, found.kind
            kinds[key] = kinds.get(key, 0) + 1
            print(f"seed {seed}: {found.words.splitlines()[0]}", flush=True)
            if kinds[key] <= 2:
                best = smallest(found, given.shrinking)
                print(best.words, f"\nwritten to {write_test(best, given.folder)}\n", flush=True)
        seed += 1
    print(f"next seed {seed}; {tally}")
    return tally.counts["failures"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long (default 1, or until --inputs are done)")
    parser.add_argument("--source", action="store_true", help="damaged sources instead of well-typed programs")
    parser.add_argument("--inputs", type=int, help="how many damaged sources at most")
    parser.add_argument("--seed", type=int, default=0, help="the first program's number; each next one adds 1")
    parser.add_argument("--cases", type=int, default=4, help="shapes and data a program (default 4)")
    parser.add_argument("--shrinking", type=float, default=60.0, help="seconds to shrink one failure (default 60)")
    parser.add_argument("--devices", action="store_true", help="run the WGSL on every device too")
    parser.add_argument("--each", type=int, default=3, help="executions a case, taken in turn (default 3)")
    parser.add_argument("--folder", type=Path, default=FOUND, help="where tests of what is found go")
    given = parser.parse_args(arguments)
    if given.minutes is None and (given.inputs is None or not given.source):
        given.minutes = 1.0
    if given.source:
        tally = hostile.run(given.minutes, given.inputs, given.seed, given.folder, given.shrinking)
        return 1 if tally.faults else 0
    executions: tuple[Execution, ...] = LOOPS
    if given.devices:
        executions += (GENERAL_DEVICE, *DEVICES)
    found = run(given, executions)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
