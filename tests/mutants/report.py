"""The summary of a campaign: how many mutants of each kind, how many noticed, and which not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.mutants.table import GRAVE, Mutant


def summary(mutants: Sequence[Mutant], found: Mapping[str, Any]) -> tuple[list[str], bool]:
    """The lines of the report, and whether all is well: no survivor but those with a reason."""
    run = [one for one in mutants if one.name in found]
    survivors = [one for one in run if found[one.name]["state"] in ("survived", "open")]
    lines = ["", "| kind | mutants | killed | survivors |", "|---|---|---|---|"]
    for kind in sorted({one.kind for one in run}, key=lambda kind: (kind not in GRAVE, kind)):
        several = [one for one in run if one.kind == kind]
        left = sum(one in survivors for one in several)
        lines.append(f"| {kind} | {len(several)} | {len(several) - left} | {left} |")
    lines.append(f"| **all** | {len(run)} | {len(run) - len(survivors)} | {len(survivors)} |")
    states = [found[one.name]["state"] for one in run]
    seconds = sum(found[one.name]["seconds"] for one in run)
    lines += [
        "",
        f"{states.count('killed')} by a failing test, {states.count('hung')} by never ending, "
        f"{states.count('crashed')} by a crash; {seconds / 60:.0f} minutes; {len(mutants) - len(run)} not run",
    ]
    for one in survivors:
        lines += ["", f"survived: {one}", f"  {one.reason or 'NO REASON: a hole in the tests'}"]
    idle = [one for one in run if one.reason and one not in survivors]
    lines += [f"killed, though a reason is given why it survives: {one}" for one in idle]
    return lines, not any(not one.reason for one in survivors) and not idle
