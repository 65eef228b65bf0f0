"""Splits a logsumexp that is subtracted, so that losses of logits near 1e8 are right."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.make import make_pointwise
from tilec.tile.rewrite import Rewriter, rewrite


def split_logsumexp(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: no difference has a logsumexp on a side. Keeps: meaning; this *is* what such a difference
    means, so the pass runs first, also before the interpreter."""
    return rewrite(kernel, _split)


def _split(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    match value:
        case ir.Pointwise(op="sub", operands=(left, right)):
            for law in (_split_left, _split_right, _split_update_left, _split_update_right):
                new = law(rewriter, value, left, right)
                if new is not None:
                    return new
    return None


def _split_left(rewriter: Rewriter, value: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value | None:
    """lse_add(m, s) - y -> (m - y) + s."""
    parts = _parts(rewriter, left)
    if parts is None:
        return None
    largest, rest = parts
    difference = rewriter.emit(make_pointwise("sub", (largest, right), value.span))
    return rewriter.emit(make_pointwise("add", (difference, rest), value.span, value.name))


def _split_right(rewriter: Rewriter, value: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value | None:
    """y - lse_add(m, s) -> (y - m) - s."""
    parts = _parts(rewriter, right)
    if parts is None:
        return None
    largest, rest = parts
    difference = rewriter.emit(make_pointwise("sub", (left, largest), value.span))
    return rewriter.emit(make_pointwise("sub", (difference, rest), value.span, value.name))


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


def _parts(rewriter: Rewriter, value: ir.Value) -> tuple[ir.Value, ir.Value] | None:
    """The maximum and the rest of a logsumexp, also seen through axes inserted or dropped, stretching, and assignment
    to a variable that it covers."""
    match value:
        case ir.Pointwise(op="lse_add", operands=(largest, rest)):
            return largest, rest
        case ir.Update(old=old, new=new) if new.type == old.type:
            return _parts(rewriter, new)
        case ir.View(operand=operand, axes=axes):
            parts = _parts(rewriter, operand)
            if parts is not None and all(part.type == operand.type for part in parts):
                first, second = (rewriter.emit(ir.View(value.type, value.span, part, axes)) for part in parts)
                return first, second
        case ir.Broadcast(operand=operand):
            parts = _parts(rewriter, operand)
            if parts is not None and all(part.type == operand.type for part in parts):
                first, second = (rewriter.emit(ir.Broadcast(value.type, value.span, part)) for part in parts)
                return first, second
    return None
