"""From sums of guarded products to values, in the form that an expert would write: common factors once, what is one
value a row computed once a row, no division per element where one per row does, one `where` a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilec.tile import ir
from tilec.tile.gradient.ledger import Ledger
from tilec.tile.gradient.polynomial import (
    Guard,
    Powers,
    Sum,
    Term,
    add,
    common_powers,
    contains,
    divide,
    multiply_powers,
)
from tilec.tile.gradient.shapes import axes_of

Signed = tuple[bool, ir.Value]
"""Whether the value is to be negated, and the value."""


def emit(ledger: Ledger, terms: Sum) -> ir.Value:
    """The value of the sum; its shape broadcasts to the shape of what it is the derivative for."""
    negative, value = _guarded(ledger, _simplest(ledger, [_guard_masked(ledger, term) for term in terms]))
    return ledger.make("neg", value) if negative else value


# --- guards --------------------------------------------------------------------------------------------------


def _guard_masked(ledger: Ledger, term: Term) -> Term:
    """A factor that is exactly 0 where a mask lets nothing through stays so when the others are NaN there."""
    others = [factor for factor, _ in term.powers if factor not in ledger.masked]
    if all(isinstance(ledger.value(factor), ir.ActiveCount) for factor in others):
        return term
    zero = ledger.constant(0.0)
    guards = {
        (ledger.class_of(ledger.make("ne", ledger.value(factor), zero)), True)
        for factor, _ in term.powers
        if factor in ledger.masked
    }
    return replace(term, guards=term.guards | guards)


def _simplest(ledger: Ledger, terms: Sequence[Term]) -> Sum:
    """The terms without guards that others imply, but with those that all others of the terms have anyway."""
    bare = [
        _with_quotients(ledger, replace(term, guards=ledger.without_implied(term.guards))) for term in terms
    ]
    for guard in {guard for term in bare for guard in term.guards}:
        if all(guard in term.guards or guard in ledger.implied(term.guards) for term in bare):
            bare = [replace(term, guards=term.guards | {guard}) for term in bare]
    return add(bare)


def _guarded(ledger: Ledger, terms: Sum) -> Signed:
    if not terms:
        return False, ledger.constant(0.0)
    conditions = {condition for term in terms for condition, _ in term.guards}
    if not conditions:
        return _factored(ledger, terms)
    chosen = min(conditions, key=lambda condition: _rank(ledger, condition, terms))
    together = _together(ledger, terms, chosen)
    if len(together) > 1:
        chosen = ledger.class_of(_conjunction(ledger, together))
        terms = tuple(
            replace(term, guards=term.guards - together | {(chosen, True)}) if together <= term.guards else term
            for term in terms
        )
    sides: dict[bool, list[Term]] = {True: [], False: []}
    rest: list[Term] = []
    for term in terms:
        for wanted, side in sides.items():
            if (chosen, wanted) in term.guards:
                side.append(replace(term, guards=term.guards - {(chosen, wanted)}))
                break
        else:
            rest.append(term)
    (then_negative, then), (else_negative, otherwise) = (_guarded(ledger, tuple(side)) for side in sides.values())
    negative = then_negative if sides[True] else else_negative
    if sides[True] and sides[False] and then_negative != else_negative:
        negative = False
        then = ledger.make("neg", then) if then_negative else then
        otherwise = ledger.make("neg", otherwise) if else_negative else otherwise
    masked = ledger.make("where", ledger.value(chosen), then, otherwise)
    if not rest:
        return negative, masked
    return _sum(ledger, [_guarded(ledger, tuple(rest)), (negative, masked)])


def _together(ledger: Ledger, terms: Sum, chosen: int) -> frozenset[Guard]:
    """The guards of the same shape as the chosen one that occur only together with it."""
    alike = [guard for term in terms for guard in term.guards if guard[0] == chosen]
    holders = [term for term in terms if alike[0] in term.guards]
    axes = axes_of(ledger.value(chosen).type)
    shared = frozenset.intersection(*(term.guards for term in holders))
    conditions = {condition for term in terms if term not in holders for condition, _ in term.guards}
    return frozenset(
        (condition, wanted)
        for condition, wanted in shared
        if condition not in conditions and axes_of(ledger.value(condition).type) == axes
    )


def _conjunction(ledger: Ledger, guards: frozenset[Guard]) -> ir.Value:
    result: ir.Value | None = None
    for condition, wanted in sorted(guards):
        value = ledger.value(condition)
        value = value if wanted else ledger.make("not", value)
        result = value if result is None else ledger.make("and", result, value)
    assert result is not None
    return result


def _rank(ledger: Ledger, condition: int, terms: Sum) -> tuple[int, int, int]:
    """The condition that most terms have comes first, then what is one value a row."""
    count = sum(any(own == condition for own, _ in term.guards) for term in terms)
    return -count, len(axes_of(ledger.value(condition).type)), condition


# --- sums ----------------------------------------------------------------------------------------------------


def _factored(ledger: Ledger, terms: Sum) -> Signed:
    """The sum of unguarded terms: what several have in common is multiplied once."""
    groups: list[Signed] = []
    if len(terms) > 1 and _is_alike(ledger, terms):
        return _multiplied(ledger, terms, ())
    while len(terms) > 1:
        chosen = _best_factor(ledger, terms)
        if chosen is None:
            break
        factor, sign = chosen
        shared = tuple(term for term in terms if dict(term.powers).get(factor, 0) * sign > 0)
        terms = tuple(term for term in terms if term not in shared)
        groups.append(_multiplied(ledger, shared, _shared(ledger, shared, factor)))
    groups += [_product(ledger, term) for term in terms]
    return _sum(ledger, groups)


def _is_alike(ledger: Ledger, terms: Sum) -> bool:
    """Whether all terms have one and the same number in front of them, which is worth to be multiplied once."""
    size = abs(terms[0].coefficient)
    if size == 1.0 or any(abs(term.coefficient) != size for term in terms):
        return False
    return _saves(ledger, terms, [replace(term, coefficient=1.0) for term in terms], frozenset())


def _saves(ledger: Ledger, terms: Sequence[Term], left: Sequence[Term], axes: frozenset[int]) -> bool:
    """Whether a factor that varies along `axes`, without which `left` is left of the terms, is worth to be multiplied
    once: it costs a product as wide as the sum, and saves one for each wide term that it leaves without a factor. Where
    it saves just one it is worth it too: what cancels then cancels before it is rounded."""
    widest = frozenset().union(*map(ledger.axes, terms))
    if axes == widest or all(ledger.axes(term) == axes for term in left):
        return True
    return any(ledger.axes(term) == widest and _is_bare(ledger, term, axes) for term in left)


def _is_bare(ledger: Ledger, term: Term, axes: frozenset[int]) -> bool:
    """Whether the term has no factor that is as narrow as the axes, with which another such one could be merged."""
    is_wide = (not axes_of(ledger.value(factor).type) <= axes for factor, _ in term.powers)
    return abs(term.coefficient) == 1.0 and all(is_wide)


def _best_factor(ledger: Ledger, terms: Sum) -> tuple[int, int] | None:
    counts: dict[tuple[int, int], int] = {}
    for term in terms:
        for factor, power in term.powers:
            key = (factor, 1 if power > 0 else -1)
            counts[key] = counts.get(key, 0) + 1
    several = [key for key, count in counts.items() if count > 1 and _is_worth_factoring(ledger, terms, key)]
    if not several:
        return None
    return min(several, key=lambda key: (-counts[key], -len(axes_of(ledger.value(key[0]).type)), key))


def _is_worth_factoring(ledger: Ledger, terms: Sum, key: tuple[int, int]) -> bool:
    factor, sign = key
    holders = [term for term in terms if dict(term.powers).get(factor, 0) * sign > 0]
    left = [divide(term, ((factor, sign),)) for term in holders]
    return _saves(ledger, holders, left, axes_of(ledger.value(factor).type))


def _shared(ledger: Ledger, terms: Sum, chosen: int) -> Powers:
    """The common factors that are as wide as the chosen one."""
    axes = axes_of(ledger.value(chosen).type)
    common = common_powers(terms)
    return tuple((factor, power) for factor, power in common if axes_of(ledger.value(factor).type) == axes)


def _multiplied(ledger: Ledger, terms: Sum, common: Powers) -> Signed:
    """Terms with common factors: those, times the sum of what is left of them."""
    left = [divide(term, common) for term in terms]
    size = min(abs(term.coefficient) for term in left)
    if all(abs(term.coefficient) == size for term in left) and (not common or _is_alike(ledger, tuple(left))):
        left = [replace(term, coefficient=term.coefficient / size) for term in left]
    else:
        size = 1.0
    negative, inner = _factored(ledger, tuple(left))
    factor = ledger.class_of(inner)
    if isinstance(inner, ir.Const):
        return _product(ledger, Term(-size * inner.value if negative else size * inner.value, common))
    powers = multiply_powers(common, ((factor, 1),))
    return _product(ledger, Term(-size if negative else size, powers))


def _sum(ledger: Ledger, parts: Sequence[Signed]) -> Signed:
    """The sum of the parts, narrow ones first; a difference has the wide value on its left."""
    by_axes: dict[frozenset[int], list[Signed]] = {}
    for part in parts:
        by_axes.setdefault(axes_of(part[1].type), []).append(part)
    result: Signed | None = None
    for axes in sorted(by_axes, key=lambda axes: (len(axes), sorted(axes))):
        group = sorted(by_axes[axes], key=lambda part: part[0])  # what is added, then what is subtracted
        total = group[0]
        for part in group[1:]:
            total = _pair(ledger, total, part)
        result = total if result is None else _pair(ledger, total, result)
    assert result is not None
    return result


def _pair(ledger: Ledger, left: Signed, right: Signed) -> Signed:
    op = "add" if left[0] == right[0] else "sub"
    return left[0], ledger.make(op, left[1], right[1])


# --- products ------------------------------------------------------------------------------------------------


def _product(ledger: Ledger, term: Term) -> Signed:
    """The product: factors that are alike in shape first, narrow before wide, narrow divisions before wide products."""
    term = _recomposed(ledger, term)
    negative = term.coefficient < 0
    coefficient = abs(term.coefficient)
    if not term.powers:
        return negative, ledger.constant(coefficient)
    above: dict[str, list[ir.Value]] = {"row": [], "lane": [], "full": []}
    below: dict[str, list[ir.Value]] = {"row": [], "lane": [], "full": []}
    full = ledger.axes(term)
    for factor, power in sorted(term.powers, key=lambda own: (own[0] in ledger.moving, own[0])):
        value = ledger.value(factor)
        axes = axes_of(value.type)
        kind = "full" if axes == full else "lane" if -1 in axes else "row"
        (above if power > 0 else below)[kind].extend([value] * abs(power))
    number = None if coefficient == 1.0 else ledger.constant(coefficient)
    row = _quotient(ledger, number, _by_width(above["row"]), _by_width(below["row"]))
    lane = _quotient(ledger, None, _by_width(above["lane"]), _by_width(below["lane"]))
    # What differs from lane to lane goes to the first wide factor, since that product is likely to be used again.
    first = [lane] if lane is not None else []
    wide = [*above["full"][:1], *first, *above["full"][1:]]
    if wide or not below["full"]:
        result = _quotient(ledger, None, wide, below["full"])
        return negative, _times(ledger, result, row)
    result = _quotient(ledger, row, [], below["full"])
    assert result is not None
    return negative, result


def _by_width(values: list[ir.Value]) -> list[ir.Value]:
    return sorted(values, key=lambda value: len(axes_of(value.type)))


def _times(ledger: Ledger, left: ir.Value | None, right: ir.Value | None) -> ir.Value:
    if left is not None and right is not None:
        return ledger.make("mul", left, right)
    result = right if left is None else left
    assert result is not None
    return result


def _quotient(
    ledger: Ledger, start: ir.Value | None, above: Sequence[ir.Value], below: Sequence[ir.Value]
) -> ir.Value | None:
    """The product of `start` and the values above the line, over those below; None if there are none at all."""
    result = start
    if above:
        product = _all(ledger, above)
        result = product if result is None else ledger.make("mul", product, result)
    if below:
        divisor = _all(ledger, below)
        result = ledger.make("div_f32", ledger.constant(1.0) if result is None else result, divisor)
    return result


def _all(ledger: Ledger, values: Sequence[ir.Value]) -> ir.Value:
    result = values[0]
    for value in values[1:]:
        result = ledger.make("square", value) if value is result else ledger.make("mul", result, value)
    return result


def _with_quotients(ledger: Ledger, term: Term) -> Term:
    """The term with quotients that the kernel has already, such as a softmax, put back together."""
    for product, number in ledger.products_in(term):
        while any(power < 0 for _, power in product.powers) and contains(term.powers, product.powers):
            term = _put_together(term, product, number)
    return term


def _recomposed(ledger: Ledger, term: Term) -> Term:
    """The term with products that the kernel computes anyway put back together."""
    axes = ledger.axes(term)
    for product, number in ledger.products_in(term):
        while contains(term.powers, product.powers) and _is_worth_it(ledger, product.powers, axes):
            term = _put_together(term, product, number)
    return term


def _put_together(term: Term, product: Term, number: int) -> Term:
    """The term with a product in it replaced by the value that is that product."""
    powers = multiply_powers(divide(term, product.powers).powers, ((number, 1),))
    return replace(term, coefficient=term.coefficient / product.coefficient, powers=powers)


def _is_worth_it(ledger: Ledger, product: Powers, axes: frozenset[int]) -> bool:
    """Not a wide value times a narrow one: the narrow one is better multiplied by what else is narrow."""
    widths = {axes_of(ledger.value(factor).type) for factor, _ in product}
    is_wide = axes in widths
    return not is_wide or len(widths) == 1 or any(power < 0 for _, power in product)
