"""Random programs of the whole language: few programs on many shapes, by every plan and device, and many programs on
one shape each, by both interpreters and a device. At least 2,000 cases of 572 programs.

The programs are the same in every run. `python -m tests.fuzz` looks for new ones.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diff import backends
from tests.diff.harness import CPU, DEVICES, GENERAL_DEVICE, LOOPS, NAIVE_DEVICE, Execution
from tests.fuzz.__main__ import smallest
from tests.fuzz.attempts import Case, Tally, attempt, cases_of
from tests.fuzz.generate import draw_program
from tests.fuzz.parts import DrawnChoices, RandomChoices
from tilec.errors import CompileError

PROGRAMS_A_PART, PARTS, CASES = 6, 10, 26
FIRST_SEED = 1_000_000
MANY_A_PART, MANY_PARTS = 32, 16
FIRST_OF_MANY = 2_000_000
SHRINKING = 60.0

# The same code for all shapes on a device, and every third case one plan after the other on the loop interpreter.
TURN = [execution for loop in LOOPS for execution in (GENERAL_DEVICE, GENERAL_DEVICE, loop)]

# Software drivers compile longer texts for minutes; SwiftShader, which optimises less, for seconds.
SHORT, MEDIUM = 16_000, 32_000
SWIFTSHADER = Execution("dims unknown on SwiftShader", known=False, device=backends.DEVICE_NAMES[-1])


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_on_many_shapes(part: int):
    tally = Tally()
    first = FIRST_SEED + part * PROGRAMS_A_PART
    for seed in range(first, first + PROGRAMS_A_PART):
        cases = cases_of(draw_program(RandomChoices(seed)), seed, CASES)
        found = attempt(cases, TURN, tally, each=1)
        assert not tally.counts["refused"], f"the generator draws what the compiler refuses: seed {seed}"
        if found is None and len(cases[0].subject().compiled(CPU, None).wgsl) < SHORT:
            found = attempt(cases[:1], (*DEVICES, NAIVE_DEVICE), tally)
        if found is not None:
            raise AssertionError(f"seed {seed}: {smallest(found, SHRINKING).words}")
    print(tally)
    assert tally.counts["programs"] >= PROGRAMS_A_PART
    # 10 parts, with the programs below, give 2,000 cases.
    assert tally.counts["cases"] >= 150, tally
    # Nothing is known of what "hardware" rows make of NaN and infinities, which special inputs and means of no element
    # are: too much of it, and the comparison is empty.
    assert tally.silent <= 0.2 * tally.lanes, tally


def is_short(case: Case, most: int) -> bool:
    """Whether the text for a software driver has fewer characters; so that it is counted, what is refused too."""
    try:
        return len(case.subject().compiled(CPU, None).wgsl) < most
    except CompileError:
        return True


@pytest.mark.parametrize("part", range(MANY_PARTS))
def test_many_programs(part: int):
    """One case each, by the specification, the loop interpreter under a plan that takes turns, and a device. Those of
    which nothing can be told, and those that a device compiles for long, are not counted."""
    tally = Tally()
    seed = FIRST_OF_MANY + 1000 * part
    while tally.counts["cases"] < MANY_A_PART:
        cases = cases_of(draw_program(RandomChoices(seed)), seed, 1)
        if is_short(cases[0], MEDIUM):
            found = attempt(cases, (LOOPS[seed % len(LOOPS)], SWIFTSHADER), tally)
            if found is not None:
                raise AssertionError(f"seed {seed}: {smallest(found, SHRINKING).words}")
        seed += 1
    print(tally)
    # An `iota` where the place has no such axis, a loop that leaves no block axis: one program in a hundred.
    assert tally.counts["refused"] <= 2, tally
    assert tally.silent <= 0.2 * tally.lanes, tally


@settings(max_examples=10)
@given(st.data())
def test_drawn_programs(data: st.DataObject):
    """Drawn by hypothesis, which shrinks them; TILEC_HYPOTHESIS=explore draws others."""
    seed = data.draw(st.integers(0, 2**16), label="seed of the data")
    cases = cases_of(draw_program(DrawnChoices(data.draw)), seed, 3)
    found = attempt(cases, (*LOOPS, GENERAL_DEVICE), each=3)
    assert found is None, found.words if found else ""
