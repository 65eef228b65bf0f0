"""Runs mutants that change function bodies only: pytest collects once, and each fork gets new code for its functions.

What tests compute while they are collected is the unchanged program's. So a mutant may seem to survive here that does
not, never the other way round.
"""

from __future__ import annotations

import ast
import gc
import importlib
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from tests.mutants.fork import TEXT_TESTS, Outcome, Watcher, answer_of, run_forks
from tests.mutants.table import ROOT, Mutant

Job = tuple[Mutant, Sequence[str], float]
"""A mutant, its tests, and the most seconds of one of them."""


def is_hot(mutant: Mutant) -> bool:
    """Whether the mutant changes nothing but what stands in function bodies."""
    before, after = (ROOT / mutant.file).read_text("utf-8"), mutant.changed()
    return _outside_functions(before) == _outside_functions(after)


def _outside_functions(text: str) -> str:
    return ast.dump(_Hollow().visit(ast.parse(text)))


class _Hollow(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = []
        return node


def run_hot(jobs: Sequence[Job], workers: int, work: float) -> Iterator[tuple[Mutant, Outcome]]:
    """Each mutant and what came out, as it ends."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        try:
            os.close(reader)
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            _serve(writer, jobs, workers, work)
        finally:
            os._exit(0)
    os.close(writer)
    names = {mutant.name: mutant for mutant, _, _ in jobs}
    with os.fdopen(reader) as lines:
        for line in lines:
            name, *rest = json.loads(line)
            yield names[name], Outcome(*rest)
    os.waitpid(process, 0)


def _serve(writer: int, jobs: Sequence[Job], workers: int, work: float) -> None:
    import pytest

    files = dict.fromkeys(test.partition("::")[0] for _, tests, _ in jobs for test in tests)
    pytest.main(
        ["-p", "no:cacheprovider", "-p", "no:xdist", "--capture=no", *(f"--deselect={test}" for test in TEXT_TESTS), *files],
        plugins=[_Server(writer, jobs, workers, work)],
    )  # fmt: skip


class _Server:
    """A pytest plugin that runs mutants where pytest would run its tests."""

    def __init__(self, writer: int, jobs: Sequence[Job], workers: int, work: float) -> None:
        self._writer, self._jobs, self._workers, self._work = writer, jobs, workers, work
        self.watcher = Watcher(1e6, work)

    def pytest_runtestloop(self, session: Any) -> bool:
        for mutant, _, _ in self._jobs:  # what no test has imported yet would be imported unchanged later
            importlib.import_module(mutant.module)
        gc.freeze()
        starts = (
            (mutant, lambda pipe, job=(mutant, tests, seconds): self._child(session, pipe, job))
            for mutant, tests, seconds in self._jobs
        )
        for mutant, outcome in run_forks(starts, self._workers):
            line = json.dumps([mutant.name, *vars(outcome).values()]) + "\n"
            os.write(self._writer, line.encode())
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.watcher.pytest_runtest_logreport(report)

    def _child(self, session: Any, pipe: int, job: Job) -> None:
        mutant, tests, seconds = job
        self.watcher = Watcher(seconds, self._work)
        items = [item for item in session.items if any(_is_of(item.nodeid, test) for test in tests)]
        order = {test: number for number, test in enumerate(tests)}
        items.sort(key=lambda item: min(order[test] for test in tests if _is_of(item.nodeid, test)))
        self.watcher.pytest_collection_modifyitems(items)
        patch(mutant)
        if mutant.area != "emission" and self._work < math.inf:
            from tests.diff import tint

            tint.validate = lambda text: ()  # what the text means is asked at first; the rest asks Tint too
        for item, following in zip(items, [*items[1:], None], strict=True):
            self.watcher.pytest_runtest_logstart()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self.watcher.pytest_runtest_logfinish()
            if self.watcher.test or self.watcher.is_cut:
                break
        state = "failed" if self.watcher.test else "cut" if self.watcher.is_cut else "passed" if items else "error"
        os.write(pipe, answer_of(state, self.watcher))


def _is_of(name: str, test: str) -> bool:
    return name == test or name.startswith((f"{test}::", f"{test}[", f"{test}/"))


def patch(mutant: Mutant) -> None:
    """Gives every function of the module, wherever it is held, the changed code."""
    path = str(ROOT / mutant.file)
    old: dict[str, list[FunctionType]] = {}
    for found in _all_functions():
        if isinstance(found, FunctionType) and found.__code__.co_filename == path:
            old.setdefault(found.__code__.co_qualname, []).append(found)
    new: dict[str, list[CodeType]] = {}
    for code in _codes(compile(mutant.changed(), path, "exec", dont_inherit=True)):
        new.setdefault(code.co_qualname, []).append(code)
    for name, functions in old.items():
        codes = sorted(new.get(name, ()), key=lambda code: code.co_firstlineno)
        lines = sorted({function.__code__.co_firstlineno for function in functions})
        if len(codes) != len(lines):
            continue  # made inside a function: it comes with that one's code
        for function in functions:
            function.__code__ = codes[lines.index(function.__code__.co_firstlineno)]


def _all_functions() -> Iterable[Any]:
    gc.unfreeze()
    return gc.get_objects()


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
