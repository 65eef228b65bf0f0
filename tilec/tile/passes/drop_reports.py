"""Drops what only debug builds have."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.reports import reports_in
from tilec.tile.rewrite import DROPPED, Dropped, Rewriter, rewrite


def drop_reports(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: no report, and nothing that only reports needed. Keeps: what is stored, exactly."""
    if next(reports_in(kernel.body), None) is None:
        return kernel
    return drop_dead(rewrite(kernel, _without))


def _without(rewriter: Rewriter, value: ir.Value) -> Dropped | None:
    return DROPPED if isinstance(value, ir.Report) else None
