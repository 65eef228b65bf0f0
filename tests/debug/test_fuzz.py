"""Random programs with asserts and prints: debug builds compute the same and tell the same, other builds drop them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.debug.harness import Case
from tests.diff.harness import Subject, first_difference
from tests.diff.ranges import Undecided
from tests.fuzz.attempts import cases_of
from tests.fuzz.generate import draw_program
from tests.fuzz.parts import RandomChoices
from tests.plan.harness import from_words, to_words
from tilec import driver
from tilec.errors import CompileError
from tilec.loop import interp as loop_interp
from tilec.options import Limits, Options
from tilec.runtime.log import empty_log, read_log
from tilec.source import Source
from tilec.tile.reports import LOG, Log

PLANS = (Options(verify=True), Options(verify=True, limits=Limits(is_cpu=True)), Options(verify=True, threads=32))
REPORT = re.compile(r"^ *(print|assert)\b.*\n", re.MULTILINE)


def drawn(seed: int):
    """A program, and the subject of a case of it; None where it is refused."""
    program = draw_program(RandomChoices(seed), reports=True)
    [case] = cases_of(program, seed, 1)
    try:
        return case, case.subject()
    except CompileError:
        return case, None


def run_debug(subject: Subject, case, data, options: Options):
    """What a debug build writes on the loop interpreter, and its log."""
    program = driver.parse_file(Source("case.ph", case.text)).program
    dtypes = {t.name: t.dtype for t in subject.kernel.tensors}
    variables = {t.type_variable: t.dtype for t in subject.kernel.tensors if t.type_variable}
    chosen = {n: d for n, d in dtypes.items() if subject.kernel.tensor(n).type_variable is None} | variables
    kernel = driver.build_kernel(program, "run", chosen, case.constants, verify=True, debug=True).kernel
    compiled = driver.compile_built(kernel, data.dims, options).program
    given = Case(kernel, data.tensors, **data.dims, **data.scalars)
    words = {t.name: to_words(data.tensors[t.name], t.dtype) for t in kernel.tensors}
    words["scratch"] = loop_interp.make_scratch(compiled, given.dims, given.scalars)
    log = Log()
    if compiled.log is not None:
        words[LOG] = empty_log(compiled.log, 1 << 20)
    loop_interp.run(compiled, words, loop_interp.evaluate_uniforms(compiled, given.dims, given.scalars))
    if compiled.log is not None:
        log = read_log(compiled.log, words[LOG], given.grid)
    arrays = {t.name: from_words(words[t.name], data.tensors[t.name]) for t in kernel.tensors if t.access != "in"}
    return arrays, log, given.interpreted()


def places(log: Log) -> list[tuple[str, int, tuple[int, ...]]]:
    """The order of what is printed; values may differ by rounding, and with them what is asserted."""
    return [(r.site.text, r.block, r.index) for r in log.of_kind("print")]


@pytest.mark.parametrize("seed", range(40))
def test_debug_builds_of_random_programs(seed):
    case, subject = drawn(seed)
    if subject is None:
        return
    data = case.data(subject)
    if len(subject.kernel.tensors) > 6:
        return  # with scratch memory and the log there may be too many storage buffers
    arrays, log, expected_log = run_debug(subject, case, data, PLANS[seed % len(PLANS)])
    assert places(log) == places(expected_log), case.text
    counts = [{s.text: n for s, n in one.lanes.items() if s.kind == "print"} for one in (log, expected_log)]
    assert counts[0] == counts[1], case.text
    try:
        expected = subject.expected(data)
    except Undecided:
        return
    for name, triple in expected.items():
        assert not first_difference(triple, arrays[name]), f"{name}\n{case.text}"


def test_programs_do_tell():
    """Of the programs above most are accepted and print something."""
    texts = [draw_program(RandomChoices(seed), reports=True).text for seed in range(40)]
    assert sum("print(" in text for text in texts) > 16
    assert sum("assert " in text for text in texts) > 12


@pytest.mark.parametrize("seed", range(25))
def test_other_builds_are_those_of_the_program_without(seed):
    case, subject = drawn(seed)
    if subject is None:
        return
    plain = replace(case, text=REPORT.sub("", case.text))
    try:
        without = plain.subject()
    except CompileError:
        return  # what only a report used has no type now
    if [t.access for t in subject.kernel.tensors] != [t.access for t in without.kernel.tensors]:
        return  # a report reads a tensor that is otherwise only written
    first, second = (driver.compile_built(one.kernel).wgsl for one in (subject, without))
    assert first == second, case.text


