"""Mutants that get their code in a fork are really there."""

from __future__ import annotations

import subprocess
import sys

from tests.mutants.table import ROOT

RUN = """
from tests.mutants.areas import all_mutants
from tests.mutants.fork import warm_up
from tests.mutants.hot import run_hot

warm_up()
(mutant,) = [one for one in all_mutants() if "guard(terms, is_active, False)" in one.old and "old," in one.old]
((_, outcome),) = run_hot([(mutant, ["tests/gradients/test_masks.py"], 60.0)], 1, 60.0)
print(outcome.state, outcome.test)
"""


def test_a_module_that_is_imported_by_a_test_only_while_it_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=ROOT, capture_output=True, text=True, timeout=100, check=True
    )
    state, _, test = done.stdout.strip().partition(" ")
    assert (state, test.rpartition("::")[2]) == (
        "failed",
        "test_what_an_assignment_keeps_gets_the_gradient_of_the_lanes_kept",
    ), done.stderr
