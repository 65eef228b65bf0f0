"""All mutants, area by area, and the tests that a mutant meets which its own did not notice."""

from __future__ import annotations

from tests.mutants.checker import CHECKER
from tests.mutants.emission import EMISSION
from tests.mutants.lowering import LOWERING
from tests.mutants.passes import PASSES
from tests.mutants.plan import PLAN
from tests.mutants.rules import RULES
from tests.mutants.runtime import RUNTIME
from tests.mutants.states import STATES
from tests.mutants.table import Mutant, Table

TABLES: tuple[Table, ...] = (STATES, LOWERING, PLAN, EMISSION, PASSES, RULES, RUNTIME, CHECKER)

# Not among them, nor among the tests of any mutant: tests/golden and tests/house. They say that a text changed, not that
# it is wrong, and would count every mutant of the emitter as noticed.
WIDE = (
    "tests/tile", "tests/ops", "tests/passes", "tests/loop", "tests/wgsl", "tests/plan", "tests/kernels", "tests/gradients",
    "tests/std/test_std.py", "tests/fuzz/test_regressions.py",
)  # fmt: skip


def all_mutants() -> list[Mutant]:
    """Every mutant of every area."""
    return [mutant for table in TABLES for mutant in table.mutants]
