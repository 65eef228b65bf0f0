"""Sums of derivatives along axes, without a reduction where the result is known."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from tilec.tile import ir
from tilec.tile.gradient.emit import emit
from tilec.tile.gradient.ledger import Ledger
from tilec.tile.gradient.polynomial import ONE, ZERO, Powers, Sum, Term, add, invert_powers, multiply
from tilec.tile.gradient.shapes import axes_of, bounds_at, bounds_within, covers, extent_at, is_narrow
from tilec.tile.make import make_reduce
from tilec.types import TileType

Axes = frozenset[int]


def sum_over(ledger: Ledger, terms: Sum, donor: ir.Value, axes: Axes, *, keeps_axes: bool = True) -> Sum:
    """The sum over the axes (counted from the last), over the active lanes of `donor`, which has the terms' shape.

    What is one value along the axes stays outside of the sum. `keeps_axes`: the axes stay with extent 1.
    """
    done: list[Term] = []
    inside: dict[tuple[Powers, frozenset], list[Term]] = {}
    for term in terms:
        outer, inner = _split(ledger, term, axes)
        known = _known_sum(ledger, inner, donor, axes, keeps_axes)
        if known is not None:
            done += multiply((outer,), known)
        else:
            inside.setdefault((outer.powers, outer.guards), []).append(
                replace(inner, coefficient=inner.coefficient * outer.coefficient)
            )
    for (powers, guards), parts in inside.items():
        total = _reduced(ledger, tuple(parts), donor, axes, keeps_axes)
        done += multiply((Term(1.0, powers, guards),), (total,))
    return add(done)


def _split(ledger: Ledger, term: Term, axes: Axes) -> tuple[Term, Term]:
    """What is one value along the axes, and the rest. The coefficient goes outside."""
    narrow, wide = [], []
    for factor, power in term.powers:
        (narrow if is_narrow(ledger.value(factor), axes) else wide).append((factor, power))
    guards = frozenset(own for own in term.guards if is_narrow(ledger.value(own[0]), axes))
    return Term(term.coefficient, tuple(narrow), guards), Term(1.0, tuple(wide), term.guards - guards)


# --- sums that are known -------------------------------------------------------------------------------------


def _known_sum(ledger: Ledger, term: Term, donor: ir.Value, axes: Axes, keeps_axes: bool) -> Sum | None:
    if not term.powers and not term.guards:
        return (ledger.count(donor, axes, keeps_axes=keeps_axes),)
    known = ledger.sums.get(key_of(term.powers, term.guards, donor.type, axes))
    if known is not None and all(_is_usable(ledger.value(factor), donor) for factor, _ in known.powers):
        if term.guards:
            ledger.masked.update(factor for factor, _ in known.powers)
        return (known,)
    if len(term.powers) == 1 and term.powers[0][1] == 1 and not term.guards:
        value = ledger.value(term.powers[0][0])
        if axes_of(value.type) >= axes and _has_bounds_of(value.type, donor.type, axes):
            if _is_softmax(ledger, value, axes):
                return ONE
            if _is_centred(ledger, value, axes):
                return ZERO
    return None


def _is_usable(value: ir.Value, donor: ir.Value) -> bool:
    return covers(value.type, donor.type)


def _has_bounds_of(tile: TileType, donor: TileType, axes: Axes) -> bool:
    return all(bounds_within(tile, axis, donor) == bounds_at(donor, axis) for axis in axes)


def _is_softmax(ledger: Ledger, value: ir.Value, axes: Axes) -> bool:
    """Whether the value is exp(a - logsumexp(a)) over just these axes: its sum is 1."""
    match value:
        case ir.Pointwise(op="exp", operands=(ir.Pointwise(op="sub", operands=(a, subtrahend)) as difference,)):
            pass
        case _:
            return False
    match subtrahend:
        case ir.Pointwise(op="lse_add", operands=(ir.Reduce() as largest, ir.Reduce() as rest)):
            pass
        case ir.Reduce(op="rest") as rest:
            match a:
                case ir.Pointwise(op="sub", operands=(a, ir.Reduce() as largest)):
                    pass
                case _:
                    return False
        case _:
            return False
    parts = (largest.op, rest.op) == ("max", "rest")
    return parts and difference.type == a.type and all(_is_over(ledger, part, a, axes) for part in (largest, rest))


def _is_over(ledger: Ledger, reduction: ir.Reduce, a: ir.Value, axes: Axes) -> bool:
    own = frozenset(axis - reduction.operand.type.rank for axis in reduction.axes)
    return own == axes and ledger.class_of(reduction.operand) == ledger.class_of(a)


def _is_centred(ledger: Ledger, value: ir.Value, axes: Axes) -> bool:
    """Whether the value is a - mean(a) over just these axes: its sum is 0."""
    match value:
        case ir.Pointwise(
            op="sub",
            operands=(a, ir.Pointwise(op="div_f32", operands=(ir.Reduce(op="sum") as total, ir.ActiveCount() as count))),
        ) if value.type == a.type:
            own = frozenset(axis - count.operand.type.rank for axis in count.axes)
            same = count.operand.type.shape == a.type.shape and count.operand.type.active == a.type.active
            return own == axes and same and _is_over(ledger, total, a, axes)
    return False


# --- sums by what they are of --------------------------------------------------------------------------------


def key_of(powers: Powers, guards: frozenset, tile: TileType, axes: Axes) -> Hashable:
    """What tells two sums apart: the terms, and the lanes that are summed."""
    lanes = tuple((axis, extent_at(tile, axis), bounds_at(tile, axis)) for axis in sorted(axes))
    return (powers, guards, lanes)


def note_sum(ledger: Ledger, value: ir.Reduce) -> None:
    """Takes up a sum of the kernel: of n * w, with n a narrow divisor, it also tells the sum of w."""
    if value.op != "sum" or not (value.keeps_axes or value.type.rank == 0) or not value.type.dtype.is_float:
        return
    operand = value.operand
    axes = frozenset(axis - operand.type.rank for axis in value.axes)
    outer, inner = _split(ledger, _operand_term(ledger, operand), axes)
    if any(power > 0 for _, power in outer.powers) or outer.coefficient == 0.0:
        return  # dividing by what may be 0 would not tell the sum
    number = ledger.class_of(value)
    inverse = Term(1.0 / outer.coefficient, invert_powers(outer.powers), outer.guards)
    total = multiply((inverse,), (Term(powers=((number, 1),)),))
    if not outer.guards:
        ledger.sums.setdefault(key_of(inner.powers, inner.guards, operand.type, axes), total[0])


def _operand_term(ledger: Ledger, operand: ir.Value) -> Term:
    """A masked product is a guarded term."""
    match operand:
        case ir.Pointwise(op="where", operands=(condition, inner, ir.Const(value=zero))) if zero == 0:
            term = ledger.term(inner)
            return replace(term, guards=frozenset({(ledger.class_of(condition), True)}))
    return ledger.term(operand)


# --- reductions ----------------------------------------------------------------------------------------------


def _reduced(ledger: Ledger, terms: Sum, donor: ir.Value, axes: Axes, keeps_axes: bool) -> Term:
    """A new reduction of the terms, as a factor; axes along which they do not vary are counted."""
    value = emit(ledger, terms)
    if any(bounds_at(value.type, axis) != bounds_at(donor.type, axis) for axis in axes & axes_of(value.type)):
        value = restrict(ledger, value, donor)
    inner = axes & axes_of(value.type)
    counted = axes - inner
    if counted and (value.type.shape == donor.type.shape or not inner):
        inner, counted = frozenset(axis for axis in axes if -axis <= value.type.rank), frozenset()
    positions = tuple(sorted(axis + value.type.rank for axis in inner))
    keeps_axes = keeps_axes or len(positions) < value.type.rank
    total = ledger.add(make_reduce("sum", value, positions, ledger.span, keeps_axes=keeps_axes))
    number = ledger.class_of(total)
    if any(term.guards for term in terms):
        ledger.masked.add(number)
    if len(terms) == 1 and not counted:
        inverse = Term(1.0 / terms[0].coefficient, ((number, 1),))
        ledger.sums.setdefault(key_of(terms[0].powers, terms[0].guards, donor.type, axes), inverse)
    if not counted:
        return Term(powers=((number, 1),))
    count = ledger.count(donor, counted)
    return multiply((Term(powers=((number, 1),)),), (count,))[0]


def restrict(ledger: Ledger, value: ir.Value, donor: ir.Value) -> ir.Value:
    """The value in the shape and with the activity of `donor`, which it covers."""
    shape, active = donor.type.shape, donor.type.active
    if value.type.shape == shape and value.type.active == active:
        return value
    if value.type.rank > donor.type.rank:
        extra = value.type.rank - donor.type.rank
        value = ledger.view(value, tuple(range(extra, value.type.rank)))
    value = ledger.broadcast(value, shape)
    if value.type.active == active:
        return value
    return ledger.add(ir.Update(donor.type, ledger.span, donor, value))
