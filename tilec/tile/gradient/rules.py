"""How each instruction sends its adjoint to its operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilec.errors import InternalError
from tilec.ops import POINTWISE
from tilec.tile import ir
from tilec.tile.gradient.columns import column
from tilec.tile.gradient.emit import emit
from tilec.tile.gradient.polynomial import Sum, Term, add, guard, invert_powers, scale
from tilec.tile.gradient.reverse import Reverse
from tilec.tile.gradient.shapes import covers
from tilec.tile.gradient.sums import lanes_of, sum_over
from tilec.tile.make import make_reduce
from tilec.types import SCALAR_BOOL, DType, TileType


def send_adjoint(reverse: Reverse, value: ir.Value, terms: Sum) -> None:
    """Sends the adjoint of a value to what it is made of."""
    match value:
        case ir.Pointwise(op=op):
            _POINTWISE.get(op, _by_column)(reverse, value, terms)
        case ir.Reduce(op=op):
            _REDUCTIONS[op](reverse, value, _with_axes(reverse, value, terms))
        case _:
            rule = _OTHERS.get(type(value))
            if rule is None:
                raise InternalError("differentiate", f"no rule for {type(value).__name__}")
            rule(reverse, value, terms)


# --- elementwise ---------------------------------------------------------------------------------------------


def _by_column(reverse: Reverse, value: ir.Pointwise, terms: Sum) -> None:
    """adjoint * the row's derivative."""
    names = dict(zip("xyz", value.operands, strict=False)) | {"r": value}
    for operand, text in zip(value.operands, POINTWISE[value.op].derivative, strict=True):
        if text is not None and reverse.wants(operand):
            factor = column(reverse.ledger, text, names)
            reverse.send(value, operand, reverse.times(terms, factor))


def _divide(reverse: Reverse, value: ir.Pointwise, terms: Sum) -> None:
    """x / y: q = adjoint / y to x, -q * (x / y) to y: one division."""
    left, right = value.operands
    divisor = reverse.ledger.term(right)
    if divisor.coefficient == 0.0:
        inverse = Term(powers=((reverse.ledger.class_of(right), -1),))
    else:
        inverse = Term(1.0 / divisor.coefficient, invert_powers(divisor.powers))
    quotient = reverse.times(terms, (inverse,))
    reverse.send(value, left, quotient)
    if reverse.wants(right):
        reverse.send(value, right, scale(reverse.times(quotient, (reverse.ledger.term(value),)), -1.0))


def _where(reverse: Reverse, value: ir.Pointwise, terms: Sum) -> None:
    """Each side gets the adjoint under the condition, and exactly nothing elsewhere."""
    condition, chosen, other = value.operands
    if isinstance(condition, ir.Const):
        reverse.send(value, chosen if condition.value else other, terms)
        return
    number = reverse.ledger.class_of(condition)
    reverse.send(value, chosen, guard(terms, number, True))
    reverse.send(value, other, guard(terms, number, False))


def _logsumexp(reverse: Reverse, value: ir.Pointwise, terms: Sum) -> None:
    """The logsumexp of a: adjoint * exp(a - logsumexp(a))."""
    match value.operands:
        case (ir.Reduce(op="max", operand=a) as largest, ir.Reduce(op="rest", operand=other) as rest):
            ledger = reverse.ledger
            is_one = largest.axes == rest.axes and ledger.class_of(a) == ledger.class_of(other)
            if is_one and (largest.keeps_axes or value.type.rank == 0):
                axes = frozenset(axis - a.type.rank for axis in largest.axes)
                exponential = ledger.softmaxes.get((ledger.class_of(a), axes))
                if exponential is None:
                    exponential = ledger.make("exp", ledger.make("sub", a, value))
                reverse.give(other, reverse.times(terms, (ledger.term(exponential),)))
                return
    _by_column(reverse, value, terms)


# --- reductions ----------------------------------------------------------------------------------------------


def _with_axes(reverse: Reverse, value: ir.Reduce, terms: Sum) -> Sum:
    """The adjoint of a reduction that drops its axes, with extent 1 there."""
    if value.keeps_axes or value.type.rank == 0:
        return terms
    kept = [axis for axis in range(value.operand.type.rank) if axis not in value.axes]
    axes = [kept.index(axis) if axis in kept else None for axis in range(value.operand.type.rank)]
    return _viewed(reverse, terms, value.type.rank, axes)


def _viewed(reverse: Reverse, terms: Sum, rank: int, axes: list[int | None]) -> Sum:
    """Every factor of terms of the rank seen with other axes."""

    def move(number: int) -> int:
        factor = reverse.ledger.value(number)
        missing = rank - factor.type.rank
        if factor.type.rank == 0:
            return number
        own = [None if axis is None or axis < missing else axis - missing for axis in axes]
        return reverse.ledger.class_of(reverse.ledger.view(factor, own))

    return add(
        Term(
            term.coefficient,
            tuple(sorted((move(factor), power) for factor, power in term.powers)),
            frozenset((move(condition), wanted) for condition, wanted in term.guards),
        )
        for term in terms
    )


def _sum(reverse: Reverse, value: ir.Reduce, terms: Sum) -> None:
    """Every lane gets the adjoint."""
    reverse.give(value.operand, terms)


def _shape_of_result(reverse: Reverse, value: ir.Reduce) -> ir.Value:
    """The result with its axes, so that it broadcasts against the operand."""
    if value.keeps_axes or value.type.rank == 0:
        return value
    kept = [axis for axis in range(value.operand.type.rank) if axis not in value.axes]
    axes = [kept.index(axis) if axis in kept else None for axis in range(value.operand.type.rank)]
    return reverse.ledger.view(value, axes)


def _largest(reverse: Reverse, value: ir.Reduce, terms: Sum) -> None:
    """The adjoint is shared evenly by the lanes that tie; in a row with a NaN, where the result is NaN, all get NaN.

    A lane ties if it is not below (above) the result, so that a comparison with NaN leaves it in."""
    reverse.give(value.operand, _shared_evenly(reverse, value, terms))


def _shared_evenly(reverse: Reverse, value: ir.Reduce, terms: Sum) -> Sum:
    ledger, a = reverse.ledger, value.operand
    result = _shape_of_result(reverse, value)
    loses = ledger.class_of(ledger.make("gt" if value.op == "min" else "lt", a, result))
    axes = frozenset(axis - a.type.rank for axis in value.axes)
    ties = (Term(guards=frozenset({(loses, False)})),)
    (count,) = sum_over(ledger, ties, a, axes, keeps_axes=result.type.rank > 0)
    share = ledger.make("div_f32", ledger.constant(1.0), emit(ledger, (count,)))
    share = ledger.make("where", ledger.make("isnan", result), result, share)
    return guard(reverse.times(terms, (Term(powers=((ledger.class_of(share), 1),)),)), loses, False)


def _rest(reverse: Reverse, value: ir.Reduce, terms: Sum) -> None:
    """log(sum(exp(a - max(a)))): adjoint * exp((a - max(a)) - rest), less what the maximum would get."""
    ledger, a = reverse.ledger, value.operand
    largest = ledger.add(make_reduce("max", a, value.axes, ledger.span, keeps_axes=value.keeps_axes))
    assert isinstance(largest, ir.Reduce)
    shifted = ledger.make("sub", a, _shape_of_result(reverse, largest))
    exponential = ledger.make("exp", ledger.make("sub", shifted, _shape_of_result(reverse, value)))
    reverse.give(a, reverse.times(terms, (ledger.term(exponential),)))
    reverse.give(a, scale(_shared_evenly(reverse, largest, terms), -1.0))


def _product(reverse: Reverse, value: ir.Reduce, terms: Sum) -> None:
    """The product of the other lanes: the result over the lane, or, where one lane is 0, the product without it."""
    ledger, a = reverse.ledger, value.operand
    result = _shape_of_result(reverse, value)
    zero, one = ledger.constant(0.0), ledger.constant(1.0)
    is_zero = ledger.make("eq", a, zero)
    axes = frozenset(axis - a.type.rank for axis in value.axes)
    keeps = result.type.rank > 0
    zeros = emit(ledger, sum_over(ledger, (Term(guards=frozenset({(ledger.class_of(is_zero), True)})),), a, axes,
                                  keeps_axes=keeps))  # fmt: skip
    others = ledger.add(
        make_reduce("prod", ledger.make("where", is_zero, one, a), value.axes, ledger.span, keeps_axes=keeps)
    )
    number, single = ledger.class_of(is_zero), ledger.class_of(ledger.make("eq", zeros, one))
    none = ledger.class_of(ledger.make("eq", zeros, zero))
    quotient = ledger.class_of(ledger.make("div_f32", result, a))
    at_zero = Term(powers=((ledger.class_of(others), 1),), guards=frozenset({(number, True), (single, True)}))
    elsewhere = Term(powers=((quotient, 1),), guards=frozenset({(number, False), (none, True)}))
    reverse.give(a, reverse.times(terms, (at_zero, elsewhere)))


# --- rearrangements ------------------------------------------------------------------------------------------


def _pick(reverse: Reverse, value: ir.Pick, terms: Sum) -> None:
    """The picked lane gets the adjoint."""
    ledger, x, index = reverse.ledger, value.operand, value.index
    is_picked = ledger.make("eq", lanes_of(ledger, x), index)
    # A pick is the sum of this along the last axis.
    masked = ledger.make("where", is_picked, x, ledger.constant(0.0))
    reverse.send(masked, x, guard(terms, ledger.class_of(is_picked), True))


def _view(reverse: Reverse, value: ir.View, terms: Sum) -> None:
    operand = value.operand
    axes = [value.axes.index(axis) if axis in value.axes else None for axis in range(operand.type.rank)]
    reverse.give(operand, _viewed(reverse, terms, value.type.rank, axes))


def _broadcast(reverse: Reverse, value: ir.Broadcast, terms: Sum) -> None:
    reverse.send(value, value.operand, terms)


def _pad(reverse: Reverse, value: ir.Pad, terms: Sum) -> None:
    """The operand's active lanes get the adjoint, the fill gets that of the others."""
    reverse.send(value, value.operand, terms)
    if reverse.wants(value.fill):
        is_active = reverse.ledger.class_of(_mask(reverse, value.operand))
        reverse.send(value, value.fill, guard(terms, is_active, False))


def _update(reverse: Reverse, value: ir.Update, terms: Sum) -> None:
    """The new value's active lanes get the adjoint, the old value that of the others.

    `old + f` assigned to what holds `old` sends all of it to `old`, without a mask."""
    old, new = value.old, value.new
    is_in_place = isinstance(new, ir.Pointwise) and new.type.shape == old.type.shape
    match new:
        case ir.Pointwise(op="add" | "sub", operands=(left, right)) if left is old and is_in_place:
            reverse.give(old, terms)
            reverse.send(new, right, terms if new.op == "add" else scale(terms, -1.0))
            return
        case ir.Pointwise(op="add", operands=(left, right)) if right is old and is_in_place:
            reverse.give(old, terms)
            reverse.send(new, left, terms)
            return
    reverse.send(value, new, terms)
    if reverse.wants(old) and not _is_whole(value):
        is_active = reverse.ledger.class_of(_mask(reverse, new))
        reverse.give(old, guard(terms, is_active, False))


def _is_whole(value: ir.Update) -> bool:
    return covers(value.new.type, value.type)


def _mask(reverse: Reverse, value: ir.Value) -> ir.Value:
    """Whether a lane of the value is active, as a value all of whose lanes are."""
    ledger = reverse.ledger
    true = ledger.add(ir.Const(SCALAR_BOOL, ledger.span, True))
    false = ledger.add(ir.Const(SCALAR_BOOL, ledger.span, False))
    active = ledger.make("or", ledger.make("isnan", value), true)
    return ledger.add(ir.Pad(TileType(DType.BOOL, value.type.shape), ledger.span, active, false))


_POINTWISE: dict[str, Callable[[Reverse, ir.Pointwise, Sum], None]] = {
    "div_f32": _divide,
    "where": _where,
    "lse_add": _logsumexp,
}
_REDUCTIONS: dict[str, Callable[[Reverse, ir.Reduce, Sum], None]] = {
    "sum": _sum,
    "max": _largest,
    "min": _largest,
    "rest": _rest,
    "prod": _product,
}
_OTHERS: dict[type, Callable[[Reverse, Any, Sum], None]] = {
    ir.Pick: _pick,
    ir.View: _view,
    ir.Broadcast: _broadcast,
    ir.Pad: _pad,
    ir.Update: _update,
}
