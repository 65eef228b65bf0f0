"""Branches and loops between a gradient's `x` and `y`: written out as straight lines before differentiation.

A branch becomes both of its sides and a `where` for each of its results. A loop becomes its rounds, one after another,
unless it only adds to sums (see `accumulation`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.diag.row import Row
from tilec.tile import ir
from tilec.tile.affine import extent_of
from tilec.tile.gradient.accumulation import is_accumulation
from tilec.tile.gradient.copy import Copier
from tilec.tile.gradient.depend import Dependence
from tilec.tile.gradient.guard import guard_reports
from tilec.tile.make import make_constant, make_pointwise
from tilec.tile.rewrite import DROPPED, Dropped, Rewriter, rewrite
from tilec.tile.walk import regions_of, stored_tensors, walk
from tilec.types import DType

MOST_ROUNDS = 256
MOST_INSTRUCTIONS = 20_000


def open_control(kernel: ir.Kernel, reporter: Reporter) -> ir.Kernel:
    """The kernel with every branch and loop between the `x` and the `y` of a gradient written out. What cannot be is
    reported, and stays."""
    while True:
        opener = _Opener(_between(kernel, reporter))
        if not opener.chosen or reporter.has_errors:
            return kernel
        kernel = rewrite(kernel, opener.rule)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A branch or loop to write out, and the gradient that asks for it."""

    control: ir.Value
    gradient: ir.Gradient


def _between(kernel: ir.Kernel, reporter: Reporter) -> dict[int, _Chosen]:
    chosen: dict[int, _Chosen] = {}
    stored: set[str] = set()
    for value in walk(kernel.body):
        if isinstance(value, ir.Store):
            stored.add(value.tensor)
        if not isinstance(value, ir.Gradient):
            continue
        dependence = Dependence(kernel.body, value.x)
        for control in _innermost(dependence.controls(value.y), dependence):
            if is_accumulation(control, dependence, frozenset(stored)):
                continue
            fault = _fault(control, value)
            if fault is None:
                chosen.setdefault(control.number, _Chosen(control, value))
            else:
                row, fields = fault
                reporter.error(row, value.span, y=name_of(value.y), x=name_of(value.x), **fields)
    return chosen


def _innermost(controls: list[ir.Value], dependence: Dependence) -> list[ir.Value]:
    """The branches and loops, or, where some stand inside them that what is carried depends on, those first."""
    found: list[ir.Value] = []
    for control in controls:
        inner = [
            value.producer
            for region in regions_of(control)
            for value in walk(region)
            if isinstance(value, ir.Result) and value in dependence
        ]
        found += inner if isinstance(control, ir.For) and inner else [control]
    return list({control.number: control for control in found}.values())


def name_of(value: ir.Value) -> str:
    """How the source calls the value."""
    return value.name or value.span.text


def _fault(control: ir.Value, gradient: ir.Gradient) -> tuple[Row, dict[str, Any]] | None:
    line = control.span.source.line_column(control.span.start)[0]
    blocked = catalog.GRADIENT_BLOCKED
    match control:
        case ir.While():
            reason = f"it goes through the `while` of line {line}, whose number of rounds is not constant"
            return blocked, {"reason": reason, "fix": "use a `for` with constant bounds"}
        case ir.For(until=until) if until is not None:
            reason = f"it goes through the `for` of line {line}, which a `break` or `return` may end"
            return blocked, {"reason": reason, "fix": "run all rounds, and choose with `where` what each of them adds"}
        case ir.For():
            return _fault_of_loop(control, line)
        case ir.If() if _reads_back(control):
            reason = f"the `if` of line {line} reads a tensor that it stored to"
            return blocked, {"reason": reason, "fix": "keep the value in a `let` and use that"}
    return None


def _fault_of_loop(loop: ir.For, line: int) -> tuple[Row, dict[str, Any]] | None:
    rounds = _rounds(loop)
    if rounds is None:
        reason = (
            f"the `for` of line {line} has rounds that build on each other, and their number is not constant"
        )
        fix = "give it constant bounds, or let it only add to a sum: `acc += f(...)`"
        return catalog.GRADIENT_BLOCKED, {"reason": reason, "fix": fix}
    size = sum(1 for _ in walk(loop.body))
    if len(rounds) > MOST_ROUNDS or len(rounds) * size > MOST_INSTRUCTIONS:
        limit = min(MOST_ROUNDS, MOST_INSTRUCTIONS // max(1, size))
        return catalog.GRADIENT_TOO_LONG, {"rounds": len(rounds), "limit": limit}
    if _has_varying_shapes(loop):
        reason = f"the `for` of line {line} reads spans whose lengths depend on its counter"
        return catalog.GRADIENT_BLOCKED, {"reason": reason, "fix": "read spans of one length, `a[i * 4 :+ 4]`"}
    return None


def _rounds(loop: ir.For) -> range | None:
    """The values of the counter, if they are constant."""
    start, stop = extent_of(loop.start).constant, extent_of(loop.stop).constant
    return None if start is None or stop is None else range(start, stop, loop.step)


def _has_varying_shapes(loop: ir.For) -> bool:
    """Whether a shape in the loop mentions its counter: with a literal 1 for it, other axes would stretch."""
    return any(
        getattr(atom, "value", None) is loop.index
        for value in walk(loop.body)
        if value.type is not None
        for extent in value.type.shape
        for atom in extent.atoms
    )


def _reads_back(branch: ir.If) -> bool:
    """Whether a side loads from a tensor after it stored to it."""
    for region in (branch.then, branch.otherwise):
        stored: set[str] = set()
        for value in walk(region):
            if isinstance(value, ir.Load) and value.tensor in stored:
                return True
            stored |= stored_tensors(value)
    return False


# --- writing out ---------------------------------------------------------------------------------------------


class _Opener:
    """A rule for `rewrite` that writes out the chosen branches and loops."""

    def __init__(self, chosen: dict[int, _Chosen]) -> None:
        self.chosen = chosen
        self._results: dict[int, tuple[ir.Value, ...]] = {}

    def rule(self, rewriter: Rewriter, value: ir.Value) -> ir.Value | Dropped | None:
        original = rewriter.original
        if isinstance(value, ir.Result) and value.producer.number in self._results:
            return self._results[value.producer.number][value.index]
        if original is None or original.number not in self.chosen:
            return None
        match value:
            case ir.If():
                self._results[original.number] = _open_branch(rewriter, value)
            case ir.For():
                self._results[original.number] = _unroll(rewriter, value)
        return DROPPED


def _open_branch(rewriter: Rewriter, branch: ir.If) -> tuple[ir.Value, ...]:
    """Both sides, except for stores, which stay under the condition; and the results as choices."""
    branch = guard_reports(branch)
    kept: list[list[ir.Value]] = []
    for region in (branch.then, branch.otherwise):
        kept.append([value for value in region.body if stored_tensors(value)])
        for value in region.body:
            if not stored_tensors(value):
                rewriter.append(value)
    if any(kept):
        sides = {"then": ir.Region(kept[0]), "otherwise": ir.Region(kept[1])}
        rewriter.append(replace(branch, **sides))
    results = []
    for chosen, other in zip(branch.then.yields, branch.otherwise.yields, strict=True):
        if chosen is other:
            results.append(chosen)
        else:
            results.append(rewriter.append(make_pointwise("where", (branch.condition, chosen, other), branch.span)))
    return tuple(results)


def _unroll(rewriter: Rewriter, loop: ir.For) -> tuple[ir.Value, ...]:
    """The rounds, one after another."""
    carried = loop.initial
    rounds = _rounds(loop)
    assert rounds is not None
    for index in rounds:
        copier = Copier()
        counter = rewriter.append(make_constant(index, DType.I32, loop.span))
        copier.replace(loop.index, counter)
        for argument, value in zip(loop.carried, carried, strict=True):
            copier.replace(argument, value)
        copy = copier.copied(loop.body)
        for value in copy.body:
            rewriter.append(value)
        carried = copy.yields
    return carried
