"""Splits a logsumexp that is subtracted, so that losses of logits near 1e8 are right."""

from __future__ import annotations

from dataclasses import replace

from tilec.tile import ir
from tilec.tile.make import make_constant, make_pointwise
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.tile.walk import walk


def split_logsumexp(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: no difference has a logsumexp on a side. Keeps: meaning; this *is* what such a difference
    means, so the pass runs first, also before the interpreter."""
    return rewrite(kernel, _Splitter(kernel).rule)


class _Splitter:
    """Knows the two parts of what branches hand on, where one of them hands on a logsumexp."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self._wanted = _subtracted(kernel.body)
        self._parts: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
        self._places: dict[tuple[ir.Value, int], int] = {}
        """Of a branch's result: the number of the first of its two parts among the results."""

    def rule(self, rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
        match value:
            case ir.If():
                return self._branch(rewriter, value)
            case ir.Result(producer=ir.If() as node, index=index) if (node, index) in self._places:
                first = self._places[node, index]
                largest, rest = (
                    rewriter.append(ir.Result(value.type, value.span, node, first + number)) for number in (0, 1)
                )
                self._parts[value] = (largest, rest)
            case ir.Pointwise(op="sub", operands=(left, right)):
                for law in (self._split_left, self._split_right, _split_update_left, _split_update_right):
                    new = law(rewriter, value, left, right)
                    if new is not None:
                        return new
        return None

    def _branch(self, rewriter: Rewriter, value: ir.If) -> ir.Value | None:
        """if c { m, s of lse_add(m, s) } else { y } hands on (m, s), or (y, 0.0), beside the values themselves."""
        then, otherwise = value.then, value.otherwise
        places: dict[int, int] = {}
        for index in sorted(self._wanted.get(rewriter.original, ())):
            sides = (then.yields[index], otherwise.yields[index])
            if not any(self._direct(side) for side in sides):
                continue
            places[index] = len(then.yields)
            then, otherwise = (self._handing_on(region, index) for region in (then, otherwise))
        if not places:
            return None
        new = rewriter.append(replace(value, then=then, otherwise=otherwise))
        self._places.update({(new, index): first for index, first in places.items()})
        return new

    def _handing_on(self, region: ir.Region, index: int) -> ir.Region:
        side = region.yields[index]
        parts, added = self._direct(side), list[ir.Value]()
        if parts is None:
            zero = make_constant(0.0, side.type.dtype, side.span)
            test = make_pointwise("isnan", (side,), side.span)
            added = [zero, test, make_pointwise("where", (test, zero, zero), side.span)]  # 0 of the side's lanes
            parts = (side, added[-1])
        return ir.Region([*region.body, *added], (*region.yields, *parts))

    def _direct(self, value: ir.Value) -> tuple[ir.Value, ir.Value] | None:
        """The parts of a logsumexp, or of a branch that hands one on, if they have its type."""
        parts = self._parts.get(value)
        match value:
            case ir.Pointwise(op="lse_add", operands=(largest, rest)):
                parts = largest, rest
        return parts if parts is not None and all(part.type == value.type for part in parts) else None

    def _split_left(self, rewriter: Rewriter, value: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value | None:
        """lse_add(m, s) - y -> (m - y) + s."""
        parts = _parts(rewriter, left, self._parts)
        if parts is None:
            return None
        largest, rest = parts
        difference = rewriter.emit(make_pointwise("sub", (largest, right), value.span))
        return rewriter.emit(make_pointwise("add", (difference, rest), value.span, value.name))

    def _split_right(self, rewriter: Rewriter, value: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value | None:
        """y - lse_add(m, s) -> (y - m) - s."""
        parts = _parts(rewriter, right, self._parts)
        if parts is None:
            return None
        largest, rest = parts
        difference = rewriter.emit(make_pointwise("sub", (left, largest), value.span))
        return rewriter.emit(make_pointwise("sub", (difference, rest), value.span, value.name))


def _subtracted(body: ir.Region) -> dict[ir.Value, set[int]]:
    """Of each branch the numbers of the results that a difference is made of, also through other branches."""
    found: dict[ir.Value, set[int]] = {}
    stack = [each for value in walk(body) if isinstance(value, ir.Pointwise) and value.op == "sub"
             for each in value.operands]  # fmt: skip
    while stack:
        match stack.pop():
            case ir.Result(producer=ir.If() as node, index=index):
                if index not in found.setdefault(node, set()):
                    found[node].add(index)
                    stack += [node.then.yields[index], node.otherwise.yields[index]]
            case ir.View(operand=operand) | ir.Broadcast(operand=operand) | ir.Update(new=operand):
                stack.append(operand)
    return found


def _split_update_left(rewriter: Rewriter, value: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value | None:
    """Update(old, new) - y -> Update(old - y, new - y), where new is a logsumexp that leaves lanes of old."""
    if not isinstance(left, ir.Update) or not _is_logsumexp(left.new):
        return None
    old, new = (rewriter.emit(make_pointwise("sub", (side, right), value.span)) for side in (left.old, left.new))
    return rewriter.emit(ir.Update(value.type, value.span, old, new, name=value.name))


def _split_update_right(rewriter: Rewriter, value: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value | None:
    """y - Update(old, new) -> Update(y - old, y - new), where new is a logsumexp that leaves lanes of old."""
    if not isinstance(right, ir.Update) or not _is_logsumexp(right.new):
        return None
    old, new = (rewriter.emit(make_pointwise("sub", (left, side), value.span)) for side in (right.old, right.new))
    return rewriter.emit(ir.Update(value.type, value.span, old, new, name=value.name))


def _is_logsumexp(value: ir.Value) -> bool:
    while isinstance(value, ir.View | ir.Broadcast):
        value = value.operand
    return isinstance(value, ir.Pointwise) and value.op == "lse_add"


def _parts(
    rewriter: Rewriter, value: ir.Value, known: dict[ir.Value, tuple[ir.Value, ir.Value]]
) -> tuple[ir.Value, ir.Value] | None:
    """The maximum and the rest of a logsumexp, also seen through axes inserted or dropped, stretching, and assignment
    to a variable that it covers; or those that are `known` of what a branch hands on."""
    match value:
        case ir.Result() if value in known:
            return known[value]
        case ir.Pointwise(op="lse_add", operands=(largest, rest)):
            return largest, rest
        case ir.Update(old=old, new=new) if new.type == old.type:
            return _parts(rewriter, new, known)
        case ir.View(operand=operand, axes=axes):
            parts = _parts(rewriter, operand, known)
            if parts is not None and all(part.type == operand.type for part in parts):
                first, second = (rewriter.emit(ir.View(value.type, value.span, part, axes)) for part in parts)
                return first, second
        case ir.Broadcast(operand=operand):
            parts = _parts(rewriter, operand, known)
            if parts is not None and all(part.type == operand.type for part in parts):
                first, second = (rewriter.emit(ir.Broadcast(value.type, value.span, part)) for part in parts)
                return first, second
    return None
