"""Sums of derivatives along axes, without a reduction where the result is known."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from tilec.tile import ir
from tilec.tile.gradient.emit import emit
from tilec.tile.gradient.ledger import KnownSum, Ledger
from tilec.tile.gradient.polynomial import (
    ONE,
    ZERO,
    Powers,
    Sum,
    Term,
    add,
    contains,
    invert_powers,
    multiply,
    multiply_powers,
)
from tilec.tile.gradient.shapes import axes_of, bounds_at, bounds_within, covers, extent_at, is_narrow
from tilec.tile.make import broadcast_shape, make_reduce
from tilec.types import ONE as ONE_LANE
from tilec.types import DType, TileType, broadcast_activity

Axes = frozenset[int]


def sum_over(ledger: Ledger, terms: Sum, donor: ir.Value, axes: Axes, *, keeps_axes: bool = True) -> Sum:
    """The sum over the axes (counted from the last), over the active lanes of `donor`, which has the terms' shape.

    What is one value along the axes stays outside of the sum. `keeps_axes`: the axes stay with extent 1.
    """
    done: list[Term] = []
    inside: dict[tuple[Powers, frozenset], list[Term]] = {}
    for term in terms:
        outer, inner = _split(ledger, term, axes)
        inner = _without_idle_guard(ledger, inner)
        known = _known_sum(ledger, outer, inner, donor, axes, keeps_axes)
        if known is not None:
            done += multiply((outer,), known)
        else:
            outer, inner = _absorbed(ledger, outer, inner)
            inside.setdefault((outer.powers, outer.guards), []).append(replace(inner, coefficient=outer.coefficient))
    for (powers, guards), parts in inside.items():
        factor = parts[0].coefficient
        terms = tuple(replace(part, coefficient=part.coefficient / factor) for part in parts)
        total = _reduced(ledger, terms, donor, axes, keeps_axes)
        done += multiply((Term(factor, powers, guards),), (total,))
    return add(done)


def _absorbed(ledger: Ledger, outer: Term, inner: Term) -> tuple[Term, Term]:
    """Narrow divisors that make a quotient that the kernel has already (a softmax) stay in the sum with it."""
    for product, _ in ledger.products_in(outer, inner):
        wide = tuple((factor, power) for factor, power in product.powers if contains(inner.powers, ((factor, power),)))
        narrow = tuple((factor, power) for factor, power in product.powers if (factor, power) not in wide)
        if wide and narrow and all(power < 0 for _, power in narrow) and contains(outer.powers, narrow):
            return (
                replace(outer, powers=multiply_powers(outer.powers, invert_powers(narrow))),
                replace(inner, powers=multiply_powers(inner.powers, narrow)),
            )
    return outer, inner


def _split(ledger: Ledger, term: Term, axes: Axes) -> tuple[Term, Term]:
    """What is one value along the axes, and the rest. The coefficient goes outside."""
    narrow, wide = [], []
    for factor, power in term.powers:
        (narrow if is_narrow(ledger.value(factor), axes) else wide).append((factor, power))
    guards = frozenset(own for own in term.guards if is_narrow(ledger.value(own[0]), axes))
    return Term(term.coefficient, tuple(narrow), guards), Term(1.0, tuple(wide), term.guards - guards)


def _without_idle_guard(ledger: Ledger, term: Term) -> Term:
    """f alone under f != 0 is f, also where f is NaN."""
    if len(term.powers) != 1 or term.powers[0][1] != 1 or len(term.guards) != 1:
        return term
    ((condition, wanted),) = term.guards
    match ledger.value(condition):
        case ir.Pointwise(op="ne", operands=(f, ir.Const(value=0.0))) if wanted:
            is_idle = ledger.class_of(f) == term.powers[0][0]
            return replace(term, guards=frozenset()) if is_idle else term
    return term


# --- sums that are known -------------------------------------------------------------------------------------


def _known_sum(ledger: Ledger, outer: Term, term: Term, donor: ir.Value, axes: Axes, keeps_axes: bool) -> Sum | None:
    """The sum of the term, where it is known. It is going to be multiplied by `outer`."""
    if not term.powers and not term.guards:
        return (ledger.count(donor, axes, keeps_axes=keeps_axes),)
    if axes == {-1}:
        picked = _picked(ledger, term, donor)
        if picked is not None:
            return picked
    known = ledger.sums.get(key_of(term.powers, term.guards, donor.type, axes))
    # A divisor that is 0 would give NaN for a sum that is a number: it has to be divided by again.
    divides_back = known is not None and contains(outer.powers, invert_powers(known.divisors))
    if known is not None and divides_back and covers(ledger.value(known.number).type, donor.type):
        if term.guards:
            ledger.masked.add(known.number)
        return (known.total,)
    if len(term.powers) == 1 and term.powers[0][1] == 1 and not term.guards:
        value = ledger.value(term.powers[0][0])
        if axes_of(value.type) >= axes and _has_bounds_of(value.type, donor.type, axes):
            if _is_softmax(ledger, value, axes):
                return ONE
            if _is_centred(ledger, value, axes):
                return ZERO
    return None


def _picked(ledger: Ledger, term: Term, donor: ir.Value) -> Sum | None:
    """The sum over the last axis of what is masked by iota == index: the lane at the index, if there is one."""
    if len(term.guards) != 1 or donor.type.active[-1]:
        return None
    ((condition, wanted),) = term.guards
    index = _index_of(ledger.value(condition))
    if index is None or not wanted:
        return None
    zero = ledger.add(ir.Const(TileType(DType.I32), ledger.span, 0))
    count = ledger.add(ir.Dim(TileType(DType.I32), ledger.span, donor.type.shape[-1]))
    inside = frozenset(
        (ledger.class_of(ledger.make(op, index, bound)), True) for op, bound in (("ge", zero), ("lt", count))
    )
    ledger.implications[condition, True] = inside
    if not term.powers:
        return (Term(guards=inside),)
    known = ledger.sums.get(key_of(term.powers, term.guards, donor.type, frozenset({-1})))
    if known is None:
        value = emit(ledger, (Term(powers=term.powers),))
        if value.type.rank == 0 or value.type.shape[-1].is_one or value.type.active[-1]:
            return None
        known = KnownSum(ledger.class_of(pick(ledger, value, index)))
    return (replace(known.total, guards=inside),)


def _index_of(condition: ir.Value) -> ir.Value | None:
    """The index in iota(last) == index, with one index a row."""
    match condition:
        case ir.Pointwise(op="eq", operands=(ir.Iota() as lanes, index)):
            pass
        case ir.Pointwise(op="eq", operands=(index, ir.Iota() as lanes)):
            pass
        case _:
            return None
    is_last = lanes.axis == lanes.type.rank - 1 and lanes.type.dtype is DType.I32
    return index if is_last and -1 not in axes_of(index.type) else None


def pick(ledger: Ledger, value: ir.Value, index: ir.Value) -> ir.Value:
    """The lane of the last axis at the index."""
    if index.type.rank == 0:
        index = ledger.view(index, (None,))
    shape = broadcast_shape([value.type.shape[:-1], index.type.shape[:-1]])
    leading = [TileType(each.type.dtype, each.type.shape[:-1], each.type.active[:-1]) for each in (value, index)]
    active = (*broadcast_activity(shape, leading), index.type.active[-1])
    return ledger.add(ir.Pick(TileType(value.type.dtype, (*shape, ONE_LANE), active), ledger.span, value, index))


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
        case ir.Pointwise(op="sub", operands=(a, ir.Pointwise(op="div_f32", operands=mean))) if value.type == a.type:
            pass
        case _:
            return False
    match mean:
        case (ir.Reduce(op="sum") as total, ir.ActiveCount() as count):
            own = frozenset(axis - count.operand.type.rank for axis in count.axes)
            same = count.operand.type.shape == a.type.shape and count.operand.type.active == a.type.active
            return own == axes and same and _is_over(ledger, total, a, axes)
    return False


# --- sums by what they are of --------------------------------------------------------------------------------


def key_of(powers: Powers, guards: frozenset, tile: TileType, axes: Axes) -> Hashable:
    """What tells two sums apart: the terms, and the lanes that are summed."""
    lanes = tuple((axis, extent_at(tile, axis), bounds_at(tile, axis)) for axis in sorted(axes))
    return (powers, guards, lanes)


def note_known(ledger: Ledger, value: ir.Value) -> None:
    """Takes up what a value of the kernel tells about sums."""
    match value:
        case ir.Reduce(op="sum"):
            note_sum(ledger, value)
        case ir.Pick():
            note_pick(ledger, value)
        case ir.Pointwise(op="div_f32"):
            ledger.term(value)
            note_softmax(ledger, value)
        case ir.Pointwise(op="mul" | "square"):
            ledger.term(value)


def note_sum(ledger: Ledger, value: ir.Reduce) -> None:
    """Takes up a sum of the kernel: of n * w, with n a narrow divisor, it also tells the sum of w."""
    if value.op != "sum" or not (value.keeps_axes or value.type.rank == 0) or not value.type.dtype.is_float:
        return
    operand = value.operand
    axes = frozenset(axis - operand.type.rank for axis in value.axes)
    outer, inner = _split(ledger, _operand_term(ledger, operand), axes)
    if any(power > 0 for _, power in outer.powers) or outer.coefficient == 0.0:
        return  # dividing by what may be 0 would not tell the sum
    if not outer.guards:
        known = KnownSum(ledger.class_of(value), 1.0 / outer.coefficient, invert_powers(outer.powers))
        ledger.sums.setdefault(key_of(inner.powers, inner.guards, operand.type, axes), known)


def note_pick(ledger: Ledger, value: ir.Pick) -> None:
    """Takes up a pick of the kernel, which is the sum of what is masked by iota == index."""
    operand = value.operand
    if not value.type.dtype.is_float or operand.type.active[-1]:
        return
    is_picked = ledger.make("eq", lanes_of(ledger, operand), value.index)
    term = ledger.term(operand)
    if term.coefficient != 0.0:
        key = key_of(term.powers, frozenset({(ledger.class_of(is_picked), True)}), operand.type, frozenset({-1}))
        ledger.sums.setdefault(key, KnownSum(ledger.class_of(value), 1.0 / term.coefficient))


def lanes_of(ledger: Ledger, value: ir.Value) -> ir.Value:
    """The index of each lane along the last axis."""
    shape = (*(ONE_LANE,) * (value.type.rank - 1), value.type.shape[-1])
    return ledger.add(ir.Iota(TileType(DType.I32, shape), ledger.span, value.type.rank - 1))


def note_softmax(ledger: Ledger, value: ir.Pointwise) -> None:
    """Takes up exp(a - max(a)) / sum(exp(a - max(a))), which is what the gradient of logsumexp(a) is."""
    match value.operands:
        case (ir.Pointwise(op="exp", operands=(ir.Pointwise(op="sub") as shifted,)) as e, ir.Reduce(op="sum") as total):
            if value.type != e.type or ledger.class_of(total.operand) != ledger.class_of(e):
                return
        case _:
            return
    match shifted.operands:
        case (a, ir.Reduce(op="max") as largest) if a.type == e.type:
            axes = frozenset(axis - a.type.rank for axis in total.axes)
            if _is_over(ledger, largest, a, axes):
                ledger.softmaxes.setdefault((ledger.class_of(a), axes), value)


def _operand_term(ledger: Ledger, operand: ir.Value) -> Term:
    """A masked product is a guarded term."""
    match operand:
        case ir.Pointwise(op="where", operands=(condition, inner, ir.Const(value=zero))) if zero == 0:
            term = ledger.term(inner)
            return replace(term, guards=frozenset({(ledger.class_of(condition), True)}))
    return ledger.term(operand)


# --- reductions ----------------------------------------------------------------------------------------------


def _reduced(ledger: Ledger, terms: Sum, donor: ir.Value, axes: Axes, keeps_axes: bool) -> Term:
    """A new reduction of the terms, as a factor."""
    value = emit(ledger, terms)
    varies = axes_of(value.type) >= axes
    if not varies or any(bounds_at(value.type, axis) != bounds_at(donor.type, axis) for axis in axes):
        value = restrict(ledger, value, donor)
    positions = tuple(sorted(axis + value.type.rank for axis in axes))
    keeps_axes = keeps_axes or len(positions) < value.type.rank
    total = ledger.add(make_reduce("sum", value, positions, ledger.span, keeps_axes=keeps_axes))
    number = ledger.class_of(total)
    if any(term.guards for term in terms):
        ledger.masked.add(number)
    if len(terms) == 1:
        outer, inner = _split(ledger, terms[0], axes)
        if all(power < 0 for _, power in outer.powers):
            known = KnownSum(number, 1.0 / outer.coefficient, invert_powers(outer.powers))
            ledger.sums.setdefault(key_of(inner.powers, inner.guards, donor.type, axes), known)
    return Term(powers=((number, 1),))


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
