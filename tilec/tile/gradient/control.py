"""Branches and loops between a gradient's `x` and `y`: written out as straight lines before differentiation.

A branch becomes both of its sides and a `where` for each of its results. A loop becomes its rounds, one after another,
unless it only adds to sums (see `accumulation`).
"""

from __future__ import annotations

from collections.abc import Iterator
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
from tilec.tile.walk import opaque_of, operands_of, regions_of, stored_tensors, used_inside, walk
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
    for value, stored, loops in _gradients(kernel.body, set(), ()):
        dependence = Dependence(kernel.body, value.x)
        for control in _innermost(dependence.controls(value.y), dependence):
            later = (stored_tensors(loop) for loop in loops if not _is_inside(control, loop))
            if is_accumulation(control, dependence, stored.union(*later)):
                continue
            fault = _fault(control, dependence)
            if fault is None:
                chosen.setdefault(control.number, _Chosen(control, value))
            else:
                row, fields = fault
                reporter.error(row, value.span, y=name_of(value.y), x=name_of(value.x), **fields)
    return chosen


def _gradients(
    region: ir.Region, stored: set[str], loops: tuple[ir.Value, ...]
) -> Iterator[tuple[ir.Gradient, frozenset[str], tuple[ir.Value, ...]]]:
    """Each gradient in order, with the tensors that are stored to before it and the loops around it: what those store
    behind it, an earlier round has stored."""
    for value in region.body:
        match value:
            case ir.Store():
                stored.add(value.tensor)
            case ir.Gradient():
                yield value, frozenset(stored), loops
            case ir.For() | ir.While():
                for inner in regions_of(value):
                    yield from _gradients(inner, stored, (*loops, value))
            case _:
                for inner in regions_of(value):
                    yield from _gradients(inner, stored, loops)


def _is_inside(value: ir.Value, control: ir.Value) -> bool:
    return any(inner is value for region in regions_of(control) for inner in walk(region))


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


def _fault(control: ir.Value, dependence: Dependence) -> tuple[Row, dict[str, Any]] | None:
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
            return _fault_of_loop(control, line, dependence)
        case ir.If() if _reads_back(control):
            reason = f"the `if` of line {line} reads a tensor that it stored to"
            return blocked, {"reason": reason, "fix": "keep the value in a `let` and use that"}
        case ir.If(then=then, otherwise=otherwise):
            stay = _stay(then) | _stay(otherwise)
            if any(value.number in stay and value in dependence for value in (*then.yields, *otherwise.yields)):
                reason = f"the `if` of line {line} takes a value from a loop or branch that stores"
                return blocked, {"reason": reason, "fix": "store in a loop or branch of its own"}
    return None


def _fault_of_loop(loop: ir.For, line: int, dependence: Dependence) -> tuple[Row, dict[str, Any]] | None:
    rounds = _rounds(loop)
    if rounds is None and is_accumulation(loop, dependence, frozenset()):
        reason = f"the `for` of line {line} reads a tensor that is stored to before the gradient reads it again"
        return catalog.GRADIENT_BLOCKED, {"reason": reason, "fix": "take the gradient before the store, in a `let`"}
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
    """Both sides, except for what stores and what needs it, which stay under the condition; and the results as choices,
    those of what stays as results."""
    branch = guard_reports(branch)
    kept: list[list[ir.Value]] = []
    stay = _stay(branch.then) | _stay(branch.otherwise)
    for region in (branch.then, branch.otherwise):
        kept.append([value for value in region.body if value.number in stay])
        for value in region.body:
            if value.number not in stay:
                rewriter.append(value)
    pairs = list(zip(branch.then.yields, branch.otherwise.yields, strict=True))
    inner = [pair for pair in pairs if any(side.number in stay for side in pair)]
    if any(kept):
        yields = [tuple(sides) for sides in zip(*inner, strict=True)] if inner else [(), ()]
        then, otherwise = (ir.Region(body, out) for body, out in zip(kept, yields, strict=True))
        branch = replace(branch, then=then, otherwise=otherwise)
        rewriter.append(branch)
    results = []
    for chosen, other in pairs:
        if (chosen, other) in inner:
            result = ir.Result(chosen.type, branch.span, branch, inner.index((chosen, other)))
            results.append(rewriter.append(result))
        elif chosen is other:
            results.append(chosen)
        else:
            results.append(rewriter.append(make_pointwise("where", (branch.condition, chosen, other), branch.span)))
    return tuple(results)


def _stay(region: ir.Region) -> set[int]:
    """The numbers of the instructions that store, and of those that need the results of loops and branches that do."""
    found: set[int] = set()
    for value in region.body:
        used = (*operands_of(value), *used_inside(value), *opaque_of(value))
        if stored_tensors(value) or any(each.number in found for each in used):
            found.add(value.number)
    return found


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
