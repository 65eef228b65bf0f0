"""Recognises reductions that are spelled out: logsumexp, softmax, and the element at an index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from tilec.tile import ir
from tilec.tile.make import broadcast_shape, make_pick, make_pointwise, make_reduce
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.tile.walk import operands_of
from tilec.types import ONE, DType, TileType


def raise_reductions(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: merge_equal before, since equal operands must be one value. Gives: logsumexp as lse_add, softmax as one
    exponential, sums over one-hot masks as Pick. Keeps: meaning, except that a NaN or an infinity that comes from
    exponentials out of range may become the number that is meant (the laws marked "refines"), and rounding."""
    return rewrite(kernel, _raise)


def _raise(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    for law in _LAWS:
        new = law(rewriter, value)
        if new is not None:
            return new
    return None


# --- logsumexp and softmax -----------------------------------------------------------------------------------


def _shifted_logsumexp(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    """log(sum(exp(x - max(x)))) + max(x) -> lse_add(max(x), rest(x)), in either order. Refines."""
    match value:
        case ir.Pointwise(op="add", operands=(left, right)):
            for log, largest in ((left, right), (right, left)):
                total = _sum_of_exponentials(log)
                known = None if total is None else _maximum_below(total)
                if total is not None and known is not None and known is largest:
                    rest = _rest(rewriter, total, known.operand)
                    return rewriter.append(make_pointwise("lse_add", (largest, rest), value.span, value.name))
    return None


def _log_softmax(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    """(x - max(x)) - log(sum(exp(x - max(x)))) -> (x - max(x)) - rest(x). Refines.

    Not for the logarithm alone: without any active lane it is -inf, and `rest` is 0; here no lane shows that.
    """
    match value:
        case ir.Pointwise(op="sub", operands=(shifted, log)):
            total = _sum_of_exponentials(log)
            if total is None or _exponent(total) is not shifted or value.type != shifted.type:
                return None
            largest = _maximum_below(total)
            if largest is not None:
                rest = _rest(rewriter, total, largest.operand)
                return rewriter.append(make_pointwise("sub", (shifted, rest), value.span, value.name))
    return None


def _plain_logsumexp(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    """log(sum(exp(x))) -> lse_add(max(x), rest(x)), unless x is y - max(y), which other laws know. Refines."""
    total = _sum_of_exponentials(value)
    if total is None or _maximum_below(total) is not None:
        return None
    x = _exponent(total)
    largest = rewriter.append(make_reduce("max", x, total.axes, value.span, keeps_axes=total.keeps_axes))
    rest = _rest(rewriter, total, x)
    return rewriter.append(make_pointwise("lse_add", (largest, rest), value.span, value.name))


def _softmax(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    """exp(x) / sum(exp(x)) -> exp((x - max(x)) - rest(x)). Refines."""
    match value:
        case ir.Pointwise(op="div_f32", operands=(ir.Pointwise(op="exp") as exponential, divisor)):
            return _softmax_of(rewriter, value, exponential, divisor)
    return None


def _softmax_by_factor(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    """exp(x) * (1 / sum(exp(x))) -> exp((x - max(x)) - rest(x)), in either order. Refines."""
    match value:
        case ir.Pointwise(op="mul", operands=(left, right)):
            for exponential, factor in ((left, right), (right, left)):
                match exponential, factor:
                    case (
                        ir.Pointwise(op="exp"),
                        ir.Pointwise(op="div_f32", operands=(ir.Const(value=1.0), divisor)),
                    ):
                        return _softmax_of(rewriter, value, exponential, divisor)
    return None


def _softmax_of(
    rewriter: Rewriter, value: ir.Pointwise, exponential: ir.Pointwise, divisor: ir.Value
) -> ir.Value | None:
    if not _is_sum_over_own_axes(divisor) or divisor.operand is not exponential or value.type != exponential.type:
        return None
    largest = _maximum_below(divisor)
    (shifted,) = exponential.operands
    if largest is not None:
        rest = _rest(rewriter, divisor, largest.operand)
    else:
        x = shifted
        largest = rewriter.append(make_reduce("max", x, divisor.axes, value.span, keeps_axes=divisor.keeps_axes))
        shifted = rewriter.append(make_pointwise("sub", (x, largest), value.span))
        rest = _rest(rewriter, divisor, x)
    exponent = rewriter.append(make_pointwise("sub", (shifted, rest), value.span))
    return rewriter.append(make_pointwise("exp", (exponent,), value.span, value.name))


def _sum_of_exponentials(value: ir.Value) -> ir.Reduce | None:
    """The sum in log(sum(exp(x)))."""
    match value:
        case ir.Pointwise(op="log", operands=(ir.Reduce() as total,)) if _is_sum_over_own_axes(total):
            if isinstance(total.operand, ir.Pointwise) and total.operand.op == "exp":
                return total
    return None


def _exponent(total: ir.Reduce) -> ir.Value:
    """The x in sum(exp(x))."""
    return operands_of(total.operand)[0]


def _is_sum_over_own_axes(value: ir.Value) -> TypeGuard[ir.Reduce]:
    """Whether the value is a sum that broadcasts back against what it is the sum of, each row its own."""
    if not isinstance(value, ir.Reduce) or value.op != "sum":
        return False
    return value.keeps_axes or len(value.axes) == value.operand.type.rank


def _maximum_below(total: ir.Reduce) -> ir.Reduce | None:
    """The max(x) in sum(exp(x - max(x))), where x has the shape and activity of the difference."""
    match _exponent(total):
        case ir.Pointwise(op="sub", operands=(x, ir.Reduce(op="max", operand=operand) as largest)) as difference:
            if operand is x and difference.type == x.type and _axes(largest) == _axes(total):
                return largest
    return None


def _axes(reduction: ir.Reduce) -> tuple[tuple[int, ...], bool]:
    return tuple(sorted(reduction.axes)), reduction.keeps_axes


def _rest(rewriter: Rewriter, total: ir.Reduce, x: ir.Value) -> ir.Value:
    """The rest(x) over the axes of the sum."""
    return rewriter.append(make_reduce("rest", x, total.axes, total.span, keeps_axes=total.keeps_axes))


# --- the element at an index ---------------------------------------------------------------------------------


def _pick(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    """sum(where(iota(last) == t, x, 0)) over the last axis -> pick(x, t); over others too -> their sum of it.

    Likewise where(iota(last) != t, 0, x), and t == iota(last). `t` is one value a row, all of them active.
    where(iota(last) == t && c, x, 0), c one a row too, gives where(c, pick(x, t), 0).
    """
    if not isinstance(value, ir.Reduce) or value.op != "sum":
        return None
    masked = value.operand
    hot = _one_hot(masked)
    last = masked.type.rank - 1
    if hot is None or last not in value.axes:
        return None
    index = hot.index
    if index.type.rank == 0:
        index = rewriter.append(ir.View(TileType(index.type.dtype, (ONE,)), value.span, index, (None,)))
    picked = rewriter.append(make_pick(hot.x, index, value.span, value.name))
    if hot.guard is not None:
        picked = rewriter.append(make_pointwise("where", (hot.guard, picked, hot.zero), value.span, value.name))
    if value.axes != (last,):
        return rewriter.append(make_reduce("sum", picked, value.axes, value.span, keeps_axes=value.keeps_axes))
    if value.keeps_axes:
        return picked
    return rewriter.append(ir.View(value.type, value.span, picked, tuple(range(last)), name=value.name))


@dataclass(frozen=True, slots=True)
class _OneHot:
    """The parts of where(iota(last) == index && guard, x, zero)."""

    x: ir.Value
    index: ir.Value
    guard: ir.Value | None
    zero: ir.Value


def _one_hot(masked: ir.Value) -> _OneHot | None:
    """What a tile is that is 0 but for one column a row, in any of its spellings."""
    match masked:
        case ir.Pointwise(op="where", operands=(ir.Pointwise(op="eq" | "and") as condition, x, zero)):
            pass
        case ir.Pointwise(op="where", operands=(ir.Pointwise(op="ne") as condition, zero, x)):
            pass
        case _:
            return None
    if not isinstance(zero, ir.Const) or zero.value != 0 or x.type.rank == 0:
        return None
    index, guard = _hot_column(condition)
    if index is None or x.type.shape[-1] != masked.type.shape[-1]:
        return None
    narrow = [index.type.shape[:-1]] + ([] if guard is None else [guard.type.shape[:-1]])
    is_whole = broadcast_shape([x.type.shape[:-1], *narrow]) == masked.type.shape[:-1]
    return _OneHot(x, index, guard, zero) if is_whole else None


def _hot_column(condition: ir.Pointwise) -> tuple[ir.Value | None, ir.Value | None]:
    """t and c of iota(last) == t && c, in any order; c may be missing."""
    left, right = condition.operands
    if condition.op == "and":
        for comparison, guard in ((left, right), (right, left)):
            if isinstance(comparison, ir.Pointwise) and comparison.op == "eq" and _is_one_a_row(guard):
                index, _ = _hot_column(comparison)
                if index is not None:
                    return index, guard
        return None, None
    for iota, index in ((left, right), (right, left)):
        if _is_last_iota(iota) and _is_one_a_row(index):
            return index, None
    return None, None


def _is_last_iota(value: ir.Value) -> bool:
    return isinstance(value, ir.Iota) and value.axis == value.type.rank - 1 and value.type.dtype is DType.I32


def _is_one_a_row(value: ir.Value) -> bool:
    """Whether the value is the same along the last axis, and active there."""
    return value.type.rank == 0 or (value.type.shape[-1].is_one and not value.type.active[-1])


_LAWS: list[Callable[[Rewriter, ir.Value], ir.Value | None]] = [
    _shifted_logsumexp,
    _log_softmax,
    _plain_logsumexp,
    _softmax,
    _softmax_by_factor,
    _pick,
]
