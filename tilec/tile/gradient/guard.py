"""Reports in a branch that is written out: they tell only what they told in the branch."""

from __future__ import annotations

from dataclasses import replace

from tilec.tile import ir
from tilec.tile.make import make_pointwise
from tilec.tile.reports import reports_in
from tilec.tile.rewrite import DROPPED, Dropped, Rewriter


def guard_reports(branch: ir.If) -> ir.If:
    """The branch with its condition put into every report inside; the same one if there is none."""
    if next(reports_in(branch.then), None) is None and next(reports_in(branch.otherwise), None) is None:
        return branch
    missing = make_pointwise("not", (branch.condition,), branch.span)
    otherwise = _guarded(branch.otherwise, missing)
    if otherwise is not branch.otherwise:
        otherwise = ir.Region([missing, *otherwise.body], otherwise.yields)
    return replace(branch, then=_guarded(branch.then, branch.condition), otherwise=otherwise)


def _guarded(region: ir.Region, condition: ir.Value) -> ir.Region:
    def rule(rewriter: Rewriter, value: ir.Value) -> Dropped | None:
        if not isinstance(value, ir.Report):
            return None
        where = rewriter.append(make_pointwise("and", (condition, value.where), value.span))
        rewriter.append(replace(value, where=where))
        return DROPPED

    return Rewriter(rule).region(region)
