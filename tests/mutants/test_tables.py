"""The tables of mutants apply to the code as it is: what they change is there, exactly once."""

from __future__ import annotations

from dataclasses import replace

from tests.mutants.areas import all_mutants
from tests.mutants.table import GRAVE, faults


def test_every_mutant_applies() -> None:
    mutants = all_mutants()
    assert len(mutants) > 200
    assert {one.kind for one in mutants} >= GRAVE
    assert [*faults(mutants, compiles=False)] == []


def test_what_no_longer_applies_is_found() -> None:
    first = all_mutants()[0]
    for change in ({"old": "no such text"}, {"old": "e"}, {"kind": "unknown"}, {"tests": ("tests/none.py",)}):
        assert len([*faults([replace(first, **change)], compiles=False)]) == 1, change
    assert len([*faults([first, first], compiles=False)]) == 1
    assert len([*faults([replace(first, new="(")])]) == 1
    assert len([*faults([replace(first, kind="mask", reason="nobody looks")], compiles=False)]) == 1
