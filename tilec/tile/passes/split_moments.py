"""Brings sums that are relative to a maximum or a mean into the form in which one sweep can take both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from tilec.tile import ir
from tilec.tile.make import make_constant, make_pointwise, make_reduce
from tilec.tile.moments import MOST_POWER, Reference, is_shift, moment_of, reference_of
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.tile.walk import operands_of
from tilec.types import DType

_MOST_TERMS = 6
_MOST_DEPTH = 24
_INEXACT = {"log", "log2", "log1p"}
"""What is a difference of such and of a distance may be distributed over a sum: both are rounded already."""


def split_moments(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: merge_equal and raise_reductions before. Gives: sums of products in which x - d, d the maximum or mean of
    x, stands in several places or beside values of the row are row values times moments, and one sweep takes them with
    d. Keeps: meaning up to rounding, within sums; no x - n is distributed."""
    return rewrite(kernel, _split)


def _split(rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
    """sum(c1 * w1 * (x - d)^k exp(x - d)^q + ...) -> c1 * sum(w1 * (x - d)^k exp(x - d)^q) + ..."""
    if not isinstance(value, ir.Reduce) or value.op != "sum" or value.type.dtype is not DType.F32:
        return None
    if not (value.keeps_axes or len(value.axes) == value.operand.type.rank):
        return None
    moment = moment_of(value)
    if moment is not None and (moment.term.weight is None or _is_free(moment.term.weight)):
        return None
    for reference in _references(value):
        terms = _Expander(value, reference).expand(value.operand)
        if terms is None or not all(_is_moment(term, reference) for term in terms):
            continue
        made: list[ir.Value] = []
        total = _Maker(value, reference, made.append).total(terms)
        if total is None or total.type != value.type:
            continue
        for each in made:
            rewriter.append(each)
        total.name = value.name
        return total
    return None


def _references(value: ir.Reduce) -> Iterator[Reference]:
    """What parts of the sum's operand are relative to, over the sum's axes."""
    stack, seen, found = [value.operand], set[int](), set[tuple[ir.Value, ir.Value]]()
    while stack and len(seen) < 200:
        each = stack.pop()
        if each.number in seen or isinstance(each, ir.Reduce):
            continue
        seen.add(each.number)
        stack += operands_of(each)
        reference = reference_of(each)
        if reference is None or (reference.x, reference.center) in found:
            continue
        found.add((reference.x, reference.center))
        if sorted(reference.reduction.axes) == sorted(value.axes) and reference.x.type == value.operand.type:
            yield reference


def _is_free(value: ir.Value) -> bool:
    """Whether the value is made of no reduction at all, so that any sweep can compute it."""
    stack, seen = [value], set[int]()
    while stack:
        each = stack.pop()
        if isinstance(each, ir.Reduce | ir.Result | ir.Argument) or len(seen) > 200:
            return False
        if each.number not in seen:
            seen.add(each.number)
            stack += operands_of(each)
    return True


# --- terms ---------------------------------------------------------------------------------------------------

Factor: TypeAlias = "ir.Value | float | Operation"
"""What is one for all lanes that are summed."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A factor that is still to be made."""

    op: str
    operands: tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """factor * the product of weights * (x - d)^power * exp(x - d)^exponent; `masks`: 0 where x - d is -inf."""

    factor: Factor | None = None
    weights: tuple[ir.Value, ...] = ()
    power: int = 0
    exponent: int = 0
    masks: bool = False

    @property
    def is_row_value(self) -> bool:
        return not self.weights and not self.power and not self.exponent

    @property
    def is_weight(self) -> bool:
        return bool(self.weights) and not self.power and not self.exponent


def _is_moment(part: _Part, reference: Reference) -> bool:
    most = MOST_POWER if reference.kind == "max" else 0
    return part.power <= MOST_POWER and part.exponent <= most and not part.is_row_value


def _times(one: Factor | None, other: Factor | None) -> Factor | None:
    return other if one is None else one if other is None else Operation("mul", (one, other))


class _Expander:
    """Writes a wide value as a sum of parts, if it is one."""

    def __init__(self, total: ir.Reduce, reference: Reference) -> None:
        self._axes = total.axes
        self._rank = total.operand.type.rank
        self._reference = reference

    def expand(self, value: ir.Value, depth: int = _MOST_DEPTH) -> list[_Part] | None:
        """The parts, None if the value is no such sum or a long one."""
        if depth == 0:
            return None
        if self._is_narrow(value):
            return [_Part(value)]
        if is_shift(value, self._reference):
            return [_Part(power=1)]
        if _is_free(value):
            return [_Part(weights=(value,))]
        if not isinstance(value, ir.Pointwise):
            return None
        law = _LAWS.get(value.op)
        parts = None if law is None else law(self, value, depth - 1)
        return parts if parts is not None and len(parts) <= _MOST_TERMS else None

    def _is_narrow(self, value: ir.Value) -> bool:
        """Whether the value is one for all lanes that are summed."""
        offset = self._rank - value.type.rank
        own = [axis - offset for axis in self._axes if axis >= offset]
        return all(value.type.shape[axis].is_one and not value.type.active[axis] for axis in own)

    # --- laws ----------------------------------------------------------------------------------------------

    def add(self, value: ir.Pointwise, depth: int) -> list[_Part] | None:
        """Sums and differences, where that distributes over no x - n."""
        left, right = (self.expand(each, depth) for each in value.operands)
        if left is None or right is None:
            return None
        both = left + (_negated(right) if value.op == "sub" else right)
        weights = [each for each in both if each.is_weight]
        if weights and len(weights) < len(both) and not all(_is_inexact(each) for each in weights):
            return None
        return both

    def negate(self, value: ir.Pointwise, depth: int) -> list[_Part] | None:
        parts = self.expand(value.operands[0], depth)
        return None if parts is None else _negated(parts)

    def multiply(self, value: ir.Pointwise, depth: int) -> list[_Part] | None:
        operands = value.operands * 2 if value.op == "square" else value.operands
        left, right = (self.expand(each, depth) for each in operands)
        if left is None or right is None or len(left) * len(right) > _MOST_TERMS:
            return None
        return [
            _Part(
                _times(a.factor, b.factor), a.weights + b.weights, a.power + b.power, a.exponent + b.exponent,
                a.masks or b.masks,
            )
            for a in left
            for b in right
        ]  # fmt: skip

    def divide(self, value: ir.Pointwise, depth: int) -> list[_Part] | None:
        dividend, divisor = value.operands
        parts = self.expand(dividend, depth)
        if parts is None or not self._is_narrow(divisor):
            return None
        return [
            replace(each, factor=Operation("div_f32", (1.0 if each.factor is None else each.factor, divisor)))
            for each in parts
        ]

    def exponential(self, value: ir.Pointwise, depth: int) -> list[_Part] | None:
        """exp((x - d) + n) -> exp(n) exp(x - d), for values n of the row."""
        parts = self.expand(value.operands[0], depth)
        rest = None if parts is None or self._reference.kind != "max" else _beside_one_shift(parts)
        return None if rest is None else [_Part(Operation("exp", (rest[0],)) if rest else None, exponent=1)]

    def choose(self, value: ir.Pointwise, depth: int) -> list[_Part] | None:
        """where(x - d == -inf, 0.0, e), also with the logarithm of a softmax in the place of x - d."""
        match value.operands:
            case (
                ir.Pointwise(op="eq", operands=(tested, ir.Const(value=bound))), ir.Const(value=zero), inner
            ) if bound == float("-inf") and repr(zero) == "0.0":
                pass
            case _:
                return None
        shift = self.expand(tested, depth)
        parts = self.expand(inner, depth)
        if shift is None or parts is None or not self._is_log_softmax(tested):
            return None
        return [replace(each, masks=True) for each in parts] if all(each.exponent for each in parts) else None

    def _is_log_softmax(self, value: ir.Value) -> bool:
        """x - max(x), or that less rest(x), which is finite."""
        match value:
            case ir.Pointwise(op="sub", operands=(inner, ir.Reduce(op="rest", operand=x))) if x is self._reference.x:
                return is_shift(inner, self._reference)
        return is_shift(value, self._reference)


_LAWS: dict[str, Callable[[_Expander, ir.Pointwise, int], list[_Part] | None]] = {
    "add": _Expander.add,
    "sub": _Expander.add,
    "neg": _Expander.negate,
    "mul": _Expander.multiply,
    "square": _Expander.multiply,
    "div_f32": _Expander.divide,
    "exp": _Expander.exponential,
    "where": _Expander.choose,
}


def _negated(parts: list[_Part]) -> list[_Part]:
    return [_negated_part(part) for part in parts]


def _negated_part(part: _Part) -> _Part:
    if part.factor is not None:
        return replace(part, factor=Operation("neg", (part.factor,)))
    return replace(part, factor=-1.0)


def _is_inexact(part: _Part) -> bool:
    return all(isinstance(weight, ir.Pointwise) and weight.op in _INEXACT for weight in part.weights)


def _beside_one_shift(parts: list[_Part]) -> list[Factor] | None:
    """The sum of what stands beside a single x - d: nothing, or one factor. None if there is no single one."""
    shifts = [part for part in parts if part == _Part(power=1)]
    others = [part.factor for part in parts if part.is_row_value and part.factor is not None]
    if len(shifts) != 1 or len(others) != len(parts) - 1:
        return None
    total: list[Factor] = list(others[:1])
    for each in others[1:]:
        total = [Operation("add", (total[0], each))]
    return total


# --- making --------------------------------------------------------------------------------------------------


class _Maker:
    """Makes the instructions of the split sum."""

    def __init__(self, total: ir.Reduce, reference: Reference, append: Callable[[ir.Value], None]) -> None:
        self._total = total
        self._append = append
        self._shift = next(_shifts(total.operand, reference))

    def total(self, parts: list[_Part]) -> ir.Value | None:
        """The sum of all parts; None if a factor is of a shape that does not go with a row's."""
        result: ir.Value | None = None
        for part in parts:
            moment = self._moment(part)
            if moment is None:
                return None
            if part.factor is not None:
                is_minus = isinstance(part.factor, float) and part.factor == -1.0
                moment = self._op("neg", moment) if is_minus else self._op("mul", self._factor(part.factor), moment)
            result = moment if result is None else self._op("add", result, moment)
        return result

    def _op(self, op: str, *operands: ir.Value) -> ir.Value:
        made = make_pointwise(op, operands, self._total.span)
        made.is_derived = self._total.is_derived
        self._append(made)
        return made

    def _factor(self, factor: Factor) -> ir.Value:
        if isinstance(factor, Operation):
            return self._op(factor.op, *(self._factor(each) for each in factor.operands))
        return factor if isinstance(factor, ir.Value) else self._number(factor)

    def _number(self, number: float) -> ir.Value:
        made = make_constant(number, DType.F32, self._total.span)
        self._append(made)
        return made

    def _moment(self, part: _Part) -> ir.Value | None:
        """The sum without its factor; None if it would be over other lanes than the whole sum."""
        factors = [self._shift] * part.power
        factors += [self._op("exp", self._shift)] * part.exponent if part.exponent else []
        weight: ir.Value | None = None
        for each in part.weights:
            weight = each if weight is None else self._op("mul", weight, each)
        product: ir.Value | None = None
        for each in factors:
            product = each if product is None else self._op("mul", product, each)
        if product is None:
            assert weight is not None
            product = weight
        elif weight is not None:
            product = self._op("mul", weight, product)
        if part.masks and (part.power or part.weights):
            is_lowest = self._op("eq", self._shift, self._number(float("-inf")))
            product = self._op("where", is_lowest, self._number(0.0), product)
        if product.type != self._total.operand.type:
            return None
        summed = make_reduce(
            "sum", product, self._total.axes, self._total.span, keeps_axes=self._total.keeps_axes
        )
        summed.is_derived = self._total.is_derived
        self._append(summed)
        return summed


def _shifts(value: ir.Value, reference: Reference) -> Iterator[ir.Value]:
    stack, seen = [value], set[int]()
    while stack:
        each = stack.pop()
        if each.number not in seen:
            seen.add(each.number)
            if is_shift(each, reference):
                yield each
            if not isinstance(each, ir.Reduce):
                stack += operands_of(each)
