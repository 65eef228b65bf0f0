"""Runs pytest on a changed program in a fork, so that what every run imports is imported once.

The fork changes the program by an import hook: the file on disk stays as it is, and what another process imports too. So
the parent must never import tilec itself.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any

from tests.mutants.table import Mutant

# What tests import besides tilec. torch and wgpu start no threads before they are used.
COMMON = (
    "pytest", "hypothesis", "hypothesis.strategies", "hypothesis.extra.numpy", "numpy", "lark", "ml_dtypes", "torch",
    "wgpu", "json", "unittest.mock", "_pytest.assertion.rewrite", "concurrent.futures", "difflib", "argparse",
)  # fmt: skip


_LARGE = 400

# They compare with a stored text, which says that something changed and not that it is wrong.
TEXT_TESTS = ("tests/ops/test_rows.py::test_the_page_is_current",)


@dataclass(frozen=True)
class Outcome:
    """How a run ended: `state` is `passed`, `cut` (no test failed by then), `failed`, `hung`, `crashed` or `error`
    (nothing could be run); `test` is the one that failed, `words` the first line of what it said; `slowest` the seconds of the test that took longest."""

    state: str
    seconds: float
    test: str = ""
    words: str = ""
    slowest: float = 0.0


def warm_up() -> None:
    """Imports what every run needs."""
    for name in COMMON:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert not any(name.split(".")[0] == "tilec" for name in sys.modules), "a fork would not see the change"


@dataclass
class _Running:
    job: Any
    process: int
    pipe: int
    start: float


def run_all(
    jobs: Iterable[tuple[Any, Mutant | None, Sequence[str], float]],
    workers: int = 1,
    *,
    work: float = math.inf,
    loud: bool = False,
) -> Iterator[tuple[Any, Outcome]]:
    """Runs each job (anything, the change, pytest's arguments, the most seconds a test) in a fork of its own, `workers`
    at a time, and gives what came out as it ends. `work`: seconds of its own time after which a fork begins no further
    test."""

    def start(pipe: int, mutant: Mutant | None, arguments: Sequence[str], seconds: float) -> None:
        _child(pipe, mutant, arguments, Watcher(seconds, work), loud)

    yield from run_forks(((job, partial(_called, start, rest)) for job, *rest in jobs), workers)


def _called(start: Callable[..., None], rest: Sequence[Any], pipe: int) -> None:
    start(pipe, *rest)


def run_forks(starts: Iterable[tuple[Any, Callable[[int], None]]], workers: int) -> Iterator[tuple[Any, Outcome]]:
    """Calls each function in a fork of its own, with a pipe for its answer."""
    waiting = iter(starts)
    running: dict[int, _Running] = {}
    try:
        while True:
            while len(running) < workers and (job := next(waiting, None)) is not None:
                started = _start(*job)
                running[started.pipe] = started
            if not running:
                return
            ready, _, _ = select.select([*running], [], [])
            for pipe in ready:
                one = running.pop(pipe)
                yield one.job, _finish(one)
    finally:
        for one in running.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.process, signal.SIGKILL)
            _finish(one)


def _start(job: Any, function: Callable[[int], None]) -> _Running:
    reader, writer = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.close(reader)
            os.setsid()
            function(writer)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    return _Running(job, process, reader, time.monotonic())


def _finish(one: _Running) -> Outcome:
    """Reads the answer, and ends whatever the fork started."""
    text = b""
    while part := os.read(one.pipe, 1 << 16):
        text += part
    os.close(one.pipe)
    _, status = os.waitpid(one.process, 0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(one.process, signal.SIGKILL)
    seconds = time.monotonic() - one.start
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return Outcome("hung", seconds, words="a test did not end")
    if not text:
        return Outcome("crashed", seconds, words=f"the process ended with status {status}")
    answer = json.loads(text)
    return Outcome(answer["state"], seconds, answer["test"], answer["words"], answer["slowest"])


def _spread(items: list[Any]) -> list[Any]:
    """The items, each as far as possible from those before it: the middle one, the quarters, ..., the first."""
    bits = max(1, len(items).bit_length())
    order = [int(f"{number:0{bits}b}"[::-1], 2) for number in range(1, 1 << bits)]
    return [items[place] for place in [*order, 0] if place < len(items)]


def _largest_number(name: str) -> int:
    return max(map(int, re.findall(r"\d+", name.partition("[")[2])), default=0)


class Watcher:
    """A pytest plugin: the order of tests, the first failure, how long the slowest test took, and ends to what takes too
    long: a test after `seconds`, all of them after `work` seconds of this process's time."""

    def __init__(self, seconds: float, work: float) -> None:
        self.test = self.words = ""
        self.slowest = 0.0
        self.is_cut = False
        self._seconds = max(1, round(seconds))
        self._end = time.process_time() + work
        signal.alarm(self._seconds)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """The file named first, then the others, with all test functions of one side by side; of a function's cases
        first those that are far apart, and large ones (by the sizes in their names) in the end: they take long and
        seldom find more."""
        cases: dict[str, list[Any]] = {}
        for item in items:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
        turns = {
            item: turn / len(several) for several in cases.values() for turn, item in enumerate(_spread(several))
        }
        first = items[0].path if items else None
        items.sort(key=lambda item: (_largest_number(item.nodeid) > _LARGE, item.path != first, turns[item]))

    def pytest_runtest_logfinish(self) -> None:
        self.is_cut |= time.process_time() > self._end

    def pytest_runtest_protocol(self, item: Any) -> None:
        if self.is_cut:
            item.session.shouldstop = "enough"

    def pytest_runtest_logstart(self) -> None:
        signal.alarm(self._seconds)  # ends the process, whatever it is in the middle of

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.slowest = max(self.slowest, report.duration)
        if report.failed:
            self._note(report)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._note(report)

    def _note(self, report: Any) -> None:
        if not self.test:
            self.test = report.nodeid
            crash = getattr(report.longrepr, "reprcrash", None)
            words = crash.message if crash is not None else str(report.longrepr).strip().rpartition("\n")[2]
            self.words = words.partition("\n")[0][:200]


def _child(writer: int, mutant: Mutant | None, arguments: Sequence[str], watcher: Watcher, loud: bool) -> None:
    if not loud:
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
    if mutant is not None:
        sys.meta_path.insert(0, _Changed(mutant))
    import pytest

    text_tests = [f"--deselect={test}" for test in TEXT_TESTS]
    code = int(pytest.main(["-p", "no:cacheprovider", "-p", "no:xdist", *text_tests, *arguments], plugins=[watcher]))
    state = {0: "passed", 1: "failed", 2: "failed"}.get(code, "error")
    if watcher.is_cut and not watcher.test:
        state = "cut"
    if not watcher.words and code:
        watcher.words = f"pytest ended with {code}"
    os.write(writer, answer_of(state, watcher))


def answer_of(state: str, watcher: Watcher) -> bytes:
    """What a fork writes in the end."""
    answer = {"state": state, "test": watcher.test, "words": watcher.words, "slowest": watcher.slowest}
    return json.dumps(answer).encode()


class _Changed(MetaPathFinder):
    """Finds one module, and gives it the changed text."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant, self.text = mutant, mutant.changed()

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(fullname, spec.origin, self.text)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.text, self.path, "exec", dont_inherit=True)
