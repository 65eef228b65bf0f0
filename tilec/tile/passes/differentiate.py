"""Replaces gradients by the instructions that compute them."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.diag.deadline import check_time
from tilec.diag.report import Reporter
from tilec.tile import ir
from tilec.tile.gradient.control import name_of, open_control
from tilec.tile.gradient.ledger import Ledger
from tilec.tile.gradient.paths import passes
from tilec.tile.gradient.reasons import why_independent
from tilec.tile.gradient.reverse import derivative
from tilec.tile.gradient.sums import note_known
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.tile.walk import walk


def differentiate(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: no Gradient and no Stop. Keeps: nothing; this *is* what they mean. Raises CompileError
    where there is no derivative."""
    kinds = {type(value) for value in walk(kernel.body)}
    if ir.Gradient in kinds:
        reporter = Reporter()
        opened = open_control(kernel, reporter)
        reporter.raise_if_errors()
        kernel = rewrite(opened, _Differentiator(opened, reporter).rule)
        reporter.raise_if_errors()
    if any(isinstance(value, ir.Stop) for value in walk(kernel.body)):  # the user's, and those of derived loops
        kernel = rewrite(kernel, _without_stops)
    return drop_dead(kernel) if kinds & {ir.Gradient, ir.Stop} else kernel


class _Differentiator:
    """Sees the instructions in order, so that a gradient of a gradient finds the inner one's instructions."""

    def __init__(self, kernel: ir.Kernel, reporter: Reporter) -> None:
        self._kernel, self._reporter = kernel, reporter
        self._seen: dict[int, list[ir.Value]] = {}

    def rule(self, rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
        if isinstance(value, ir.Gradient):
            return self._gradient(rewriter, value)
        self._seen.setdefault(rewriter.open_regions[-1], []).append(value)
        return None

    def _gradient(self, rewriter: Rewriter, value: ir.Gradient) -> ir.Value:
        if not passes(value.y, value.x):
            self._report(rewriter.original)
            return value.x
        ledger = Ledger(value.span)
        check_time(value.span)
        for region in rewriter.open_regions:
            for known in self._seen.get(region, ()):
                if isinstance(known, ir.Store | ir.Report | ir.If | ir.For | ir.While):
                    continue
                ledger.note(known)
                note_known(ledger, known)
        result = derivative(ledger, value.y, value.x)

        def append(new: ir.Value) -> None:
            rewriter.append(new)
            self._seen.setdefault(rewriter.open_regions[-1], []).append(new)

        ledger.place(result, append)
        return result

    def _report(self, gradient: ir.Value) -> None:
        assert isinstance(gradient, ir.Gradient)
        reason = why_independent(self._kernel, gradient.y, gradient.x)
        self._reporter.error(
            catalog.GRADIENT_INDEPENDENT, gradient.span, y=name_of(gradient.y), x=name_of(gradient.x), reason=reason
        )


def _without_stops(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    return value.operand if isinstance(value, ir.Stop) else None
