"""Replaces gradients by the instructions that compute them."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.gradient.ledger import Ledger
from tilec.tile.gradient.reverse import derivative
from tilec.tile.gradient.sums import note_sum
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.tile.walk import walk


def differentiate(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: no Gradient and no Stop. Keeps: nothing; this *is* what they mean. Raises CompileError
    where there is no derivative."""
    kinds = {type(value) for value in walk(kernel.body)}
    if ir.Gradient in kinds:
        kernel = rewrite(kernel, _Differentiator().rule)
    if ir.Stop in kinds:
        kernel = rewrite(kernel, _without_stops)
    return drop_dead(kernel) if kinds & {ir.Gradient, ir.Stop} else kernel


class _Differentiator:
    """Sees the instructions in order, so that a gradient of a gradient finds the inner one's instructions."""

    def __init__(self) -> None:
        self._seen: dict[int, list[ir.Value]] = {}

    def rule(self, rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
        if isinstance(value, ir.Gradient):
            return self._gradient(rewriter, value)
        self._seen.setdefault(rewriter.open_regions[-1], []).append(value)
        return None

    def _gradient(self, rewriter: Rewriter, value: ir.Gradient) -> ir.Value:
        ledger = Ledger(value.span)
        for region in rewriter.open_regions:
            for known in self._seen.get(region, ()):
                if isinstance(known, ir.Store | ir.If | ir.For | ir.While):
                    continue
                ledger.note(known)
                if isinstance(known, ir.Reduce):
                    note_sum(ledger, known)
        result = derivative(ledger, value.y, value.x)

        def append(new: ir.Value) -> None:
            rewriter.append(new)
            self._seen.setdefault(rewriter.open_regions[-1], []).append(new)

        ledger.place(result, append)
        return result


def _without_stops(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    return value.operand if isinstance(value, ir.Stop) else None
