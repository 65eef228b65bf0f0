"""What compiling costs: in a process, as a process, and what `import tilec` costs."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.measure import Contender, Row, Table, in_turn
from tilec import driver

_EXAMPLE = Path(__file__).parents[2] / "examples" / "token_loss.ph"
_PROCESSES = 7
GOALS_MS = {"compile token_loss, grammar loaded": 40.0, "process `tilec compile`": 500.0, "import tilec": 100.0}


def _compile() -> None:
    program = driver.parse_file(_EXAMPLE).program
    assert "fn token_loss" in driver.compile_kernel(program, "token_loss", dims={"M": 8192}).wgsl


# As a user's Python does, keep compiled modules, whatever this process was told.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _process(code: str, *arguments: str) -> tuple[float, float]:
    """Milliseconds of the wall and of the processor that a Python process takes for `code`."""
    start, before = time.perf_counter(), _children()
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, env=_ENVIRONMENT)
    return 1e3 * (time.perf_counter() - start), 1e3 * (_children() - before)


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _import() -> tuple[float, float]:
    """Milliseconds of `import tilec` in a fresh process, without Python's own start."""
    code = (
        "import time; w, p = time.perf_counter(), time.process_time(); import tilec; "
        "print(time.perf_counter() - w, time.process_time() - p)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=_ENVIRONMENT
    )
    wall, processor = map(float, done.stdout.split())
    return 1e3 * wall, 1e3 * processor


def compiling(seconds: float) -> Table:
    """Medians in milliseconds; the bare interpreter is there for comparison.

    All of it is one thread's work, so the processor's time is what the wall shows on an idle machine: goals are of it.
    """
    command = "from tilec.cli.main import main; raise SystemExit(main())"
    processes = {
        "process `tilec compile`": lambda: _process(command, "compile", str(_EXAMPLE), "-o", "-"),
        "the same with `--sandbox`": lambda: _process(command, "compile", str(_EXAMPLE), "-o", "-", "--sandbox"),
        "import tilec": _import,
        "process `python -c pass`": lambda: _process("pass"),
    }
    samples: dict[str, list[tuple[float, float]]] = {what: [] for what in processes}
    for run in processes.values():  # the first writes the compiled modules
        run()
    for _ in range(_PROCESSES):
        for what, run in processes.items():
            samples[what].append(run())
    inside = in_turn({"compile": Contender(_compile)}, seconds)["compile"]
    rows: list[Row] = [_row("compile token_loss, grammar loaded", inside.wall, inside.processor, inside.runs)]
    for what, found in samples.items():
        wall, processor = (statistics.median(clock) for clock in zip(*found, strict=True))
        rows.append(_row(what, wall, processor, len(found)))
    goals = [
        (f"{row['what']} at most {row['goal']:g} ms", row["cpu ms"] <= row["goal"], f"{row['cpu ms']:.0f} ms")
        for row in rows
        if row["goal"] is not None
    ]
    return Table("compiling examples/token_loss.ph", rows, goals)


def _row(what: str, wall: float, processor: float, runs: int) -> Row:
    return {"what": what, "ms": wall, "cpu ms": processor, "goal": GOALS_MS.get(what), "runs": runs}
