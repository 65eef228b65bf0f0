"""One drawn program on drawn data by many executions: what the tests and the long runs share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.diff.harness import Data, Disagreement, Execution, Subject
from tests.diff.ranges import Undecided
from tests.fuzz.inputs import STYLES, draw_constants, draw_data, draw_dims, draw_dtypes
from tests.fuzz.parts import Program
from tilec.errors import CompileError


@dataclass
class Tally:
    """What ran: programs, cases (program, shape, data) by verdict, elements, elements of which nothing was known."""

    counts: Counter[str] = field(default_factory=Counter)
    lanes: int = 0
    silent: int = 0

    def __str__(self) -> str:
        return f"{dict(self.counts)}; {self.lanes:,} elements compared, nothing known of {self.silent:,}"


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that decides a run but the execution."""

    text: str
    dtypes: dict[str, str]
    constants: dict[str, bool | int | float]
    roles: dict[str, str]
    dims: dict[str, int]
    style: str
    seed: int

    def subject(self) -> Subject:
        return Subject(self.text, "run", self.dtypes, self.constants)

    def data(self, subject: Subject) -> Data:
        return draw_data(subject, self.roles, self.dims, self.style, self.seed)


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that an execution gets wrong, and in what words."""

    case: Case
    execution: Execution
    words: str

    @property
    def kind(self) -> str:
        """The same for failures that are likely one fault."""
        first = self.words.split("\n", 1)[0]
        if "elements are wrong" in first:
            return "wrong numbers"
        return re.sub(r"[\d%.\[\]]+", "#", first.partition(": ")[2])[:90]


def cases_of(program: Program, seed: int, count: int) -> list[Case]:
    """Cases of one program: dtypes and constants by the seed, then several shapes and styles of data."""
    rng = np.random.default_rng(seed)
    dtypes, constants = draw_dtypes(program, seed), draw_constants(program, seed)
    roles = {tensor.name: tensor.role for tensor in program.tensors}
    return [
        Case(program.text, dtypes, constants, roles, draw_dims(program, rng), STYLES[(seed + number) % len(STYLES)],
             seed * 1000 + number)
        for number in range(count)
    ]  # fmt: skip


def attempt(
    cases: Sequence[Case], executions: Iterable[Execution], tally: Tally | None = None, each: int | None = None
) -> Failure | None:
    """Runs the cases (of one program) and gives the first failure. A program that is refused counts as such.

    `each`: a case takes that many of the executions, in turn.
    """
    tally = tally or Tally()
    executions = list(executions)
    try:
        subject = cases[0].subject()
    except CompileError as error:
        tally.counts["refused"] += 1
        tally.counts["refused " + ", ".join(sorted(set(re.findall(r"E\d{4}", str(error)))))] += 1
        return None
    except Exception as error:
        words = f"building: {type(error).__name__}: {error}\n{cases[0].text}"
        return Failure(cases[0], executions[0], words)
    tally.counts["programs"] += 1
    for number, case in enumerate(cases):
        data = case.data(subject)
        try:
            outcome = subject.check(data, _turn(executions, each, case.seed // 1000 + number))
        except Undecided:
            tally.counts["undecided"] += 1
        except Disagreement as error:
            name = str(error).partition(": ")[0]
            failed = next((one for one in executions if one.name == name), executions[0])
            return Failure(case, failed, str(error))
        except Exception as error:
            words = f"the specification: {type(error).__name__}: {error}\n{data}\n{case.text}"
            return Failure(case, executions[0], words)
        else:
            tally.counts["cases"] += 1
            tally.lanes += outcome.lanes
            tally.silent += outcome.silent
    return None


def _turn(executions: list[Execution], each: int | None, turn: int) -> list[Execution]:
    """`each` of the executions, others every turn."""
    if each is None:
        return executions
    return [executions[(turn * each + place) % len(executions)] for place in range(min(each, len(executions)))]
