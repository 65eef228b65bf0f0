"""Values by number, equal values having one number: what there is already, and what derivatives make of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import isfinite

from tilec.ops import POINTWISE
from tilec.source import Span
from tilec.tile import ir
from tilec.tile.gradient.polynomial import Guard, Powers, Term, invert_powers, multiply_powers
from tilec.tile.gradient.shapes import axes_of, bounds_at, extent_at
from tilec.tile.make import make_constant, make_pointwise, reduced_type
from tilec.tile.walk import operands_of, used_inside
from tilec.types import ONE, DType, TileType, broadcast_activity

_LARGEST_DEGREE = 8


@dataclass(frozen=True, slots=True)
class KnownSum:
    """A sum that is a value there is, times a number and divisors that the value was divided by."""

    number: int
    coefficient: float = 1.0
    divisors: Powers = ()

    @property
    def total(self) -> Term:
        return Term(self.coefficient, multiply_powers(((self.number, 1),), self.divisors))


class Ledger:
    """The values that may be used at one place of a kernel, and new ones, which `place` puts there.

    `span` is the place in the source that new values stand for.
    """

    def __init__(self, span: Span) -> None:
        self.span = span
        self._classes: dict[int, int] = {}
        self._known: dict[Hashable, int] = {}
        self._values: list[ir.Value] = []
        self._terms: dict[int, Term] = {}
        self._placed: set[int] = set()
        self._own: set[int] = set()
        self.masked: set[int] = set()
        """Classes that are exactly 0 where nothing comes through a mask, also where their other factors are NaN."""
        self._products: dict[int, list[tuple[Term, int]]] = {}
        self.moving: set[int] = set()
        """Classes that depend on what is differentiated by: what does not is multiplied first."""
        self.softmaxes: dict[Hashable, ir.Value] = {}
        """By the class of a and axes: the kernel's exp(a - max(a)) / sum(exp(a - max(a)))."""
        self.implications: dict[Guard, frozenset[Guard]] = {}
        """What holds wherever a guard does, beside what its condition itself says."""
        self.sums: dict[Hashable, KnownSum] = {}
        """Sums by what they are the sum of (see `sums.key_of`)."""

    def nested(self) -> Ledger:
        """A ledger for a place in a region at this one's place: it knows what may be used here."""
        inner = Ledger(self.span)
        for value in self._values:
            if value.number in self._placed:
                inner.note(value)
        return inner

    # --- values and classes ------------------------------------------------------------------------------------

    def note(self, value: ir.Value) -> int:
        """Takes up a value of the kernel that may be used at the place."""
        self._placed.add(value.number)
        return self._enter(value)

    def value(self, number: int) -> ir.Value:
        return self._values[number]

    def class_of(self, value: ir.Value) -> int:
        found = self._classes.get(value.number)
        return self._enter(value) if found is None else found

    def _enter(self, value: ir.Value) -> int:
        key = self._key(value)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self._values)
            self._values.append(value)
        self._classes[value.number] = known
        return known

    def _key(self, value: ir.Value) -> Hashable:
        match value:
            case ir.Const(value=number):
                return (ir.Const, value.type, repr(number))
            case ir.Scalar(parameter=name):
                return (ir.Scalar, name)
            case ir.Dim(extent=extent):
                return (ir.Dim, extent)
            case ir.BlockIndex(axis=axis) | ir.Iota(axis=axis):
                return (type(value), value.type, axis)
            case ir.ActiveCount(operand=operand, axes=axes):
                counted = tuple((operand.type.shape[axis], operand.type.active[axis]) for axis in axes)
                return (ir.ActiveCount, value.type, axes, counted)
            case ir.Pointwise(op=op):
                classes = [self.class_of(operand) for operand in value.operands]
                return (ir.Pointwise, op, value.type, *(sorted(classes) if POINTWISE[op].commutes else classes))
            case ir.Reduce(op=op, axes=axes):
                return (ir.Reduce, op, value.type, axes, self.class_of(value.operand))
            case ir.View(axes=axes):
                return (ir.View, value.type, axes, self.class_of(value.operand))
            case ir.Pick() | ir.Broadcast() | ir.Pad() | ir.Update():
                return (type(value), value.type, *(self.class_of(operand) for operand in operands_of(value)))
        return (type(value), value.number)  # a load, an argument, a result: nothing else is equal to it

    # --- making values -----------------------------------------------------------------------------------------

    def add(self, value: ir.Value) -> ir.Value:
        """A new value, or the one there is already that equals it."""
        value.is_derived = True
        self._own.add(value.number)
        return self._values[self._enter(value)]

    def constant(self, number: float) -> ir.Value:
        return self.add(make_constant(float(number), DType.F32, self.span))

    def make(self, op: str, *operands: ir.Value) -> ir.Value:
        """A row applied to operands that have the dtypes that it wants."""
        return self.add(make_pointwise(op, operands, self.span))

    def view(self, operand: ir.Value, axes: Sequence[int | None]) -> ir.Value:
        """Axes inserted and dropped; a view of a view, and one that changes nothing, is simpler."""
        if tuple(axes) == tuple(range(operand.type.rank)):
            return operand
        if isinstance(operand, ir.View):
            inner = operand.operand
            joined = tuple(None if axis is None else operand.axes[axis] for axis in axes)
            if not any(bounds for axis, bounds in enumerate(inner.type.active) if axis not in joined):
                return self.view(inner, joined)
        shape = tuple(ONE if axis is None else operand.type.shape[axis] for axis in axes)
        active = tuple(frozenset() if axis is None else operand.type.active[axis] for axis in axes)
        tile = TileType(operand.type.dtype, shape, active)
        return self.add(ir.View(tile, self.span, operand, tuple(axes)))

    def broadcast(self, operand: ir.Value, shape: tuple) -> ir.Value:
        if operand.type.shape == shape:
            return operand
        tile = TileType(operand.type.dtype, shape, broadcast_activity(shape, [operand.type]))
        return self.add(ir.Broadcast(tile, self.span, operand))

    def count(self, operand: ir.Value, axes: frozenset[int], *, keeps_axes: bool = True) -> Term:
        """How many lanes of the operand are active along the axes (counted from the last)."""
        term = Term()
        open_axes = []
        for axis in sorted(axes):
            extent = extent_at(operand.type, axis).constant
            if extent is not None and not bounds_at(operand.type, axis):
                term = Term(term.coefficient * extent, term.powers)
            else:
                open_axes.append(axis + operand.type.rank)
        if not open_axes:
            return term
        keeps_axes = keeps_axes or len(open_axes) < operand.type.rank
        tile = reduced_type(operand.type, tuple(open_axes), keeps_axes=keeps_axes).with_dtype(DType.F32)
        value = self.add(ir.ActiveCount(tile, self.span, operand, tuple(open_axes), keeps_axes))
        return Term(term.coefficient, ((self.class_of(value), 1),))

    # --- values as products ------------------------------------------------------------------------------------

    def term(self, value: ir.Value) -> Term:
        """The value as a product: multiplications, divisions and signs taken apart."""
        return self.term_of(self.class_of(value))

    def term_of(self, number: int) -> Term:
        if number not in self._terms:
            term = self._taken_apart(self._values[number])
            if term is None or term.degree > _LARGEST_DEGREE:
                term = Term(powers=((number, 1),))
            elif term.degree > 1 and term.coefficient != 0.0 and self._values[number].number in self._placed:
                self._products.setdefault(term.powers[-1][0], []).append((term, number))
            self._terms[number] = term
        return self._terms[number]

    def _taken_apart(self, value: ir.Value) -> Term | None:
        if value.type.dtype is not DType.F32:
            return None
        match value:
            case ir.Const(value=number) if isfinite(number):
                return Term(float(number))
            case ir.Pointwise(op="neg", operands=(operand,)):
                term = self.term(operand)
                return Term(-term.coefficient, term.powers)
            case ir.Pointwise(op="mul", operands=(left, right)):
                return self._product(self.term(left), self.term(right))
            case ir.Pointwise(op="square", operands=(operand,)):
                return self._product(self.term(operand), self.term(operand))
            case ir.Pointwise(op="div_f32", operands=(left, right)):
                divisor = self.term(right)
                if divisor.coefficient != 0.0:
                    inverse = Term(1.0 / divisor.coefficient, invert_powers(divisor.powers))
                    return self._product(self.term(left), inverse)
        return None

    def products_in(self, *terms: Term) -> list[tuple[Term, int]]:
        """Products of two and more factors that the kernel holds already, with their classes: those that may be in the
        product of the terms, those of many factors first."""
        factors = {factor for term in terms for factor, _ in term.powers}
        found = [known for factor in factors for known in self._products.get(factor, ())]
        return sorted(found, key=lambda known: (-len(known[0].powers), known[1]))

    @staticmethod
    def _product(left: Term, right: Term) -> Term:
        return Term(left.coefficient * right.coefficient, multiply_powers(left.powers, right.powers))

    def axes(self, term: Term) -> frozenset[int]:
        """The axes along which the term varies."""
        numbers = [factor for factor, _ in term.powers] + [condition for condition, _ in term.guards]
        return frozenset().union(*(axes_of(self._values[number].type) for number in numbers))

    # --- guards ------------------------------------------------------------------------------------------------

    def implied(self, guards: frozenset[Guard]) -> frozenset[Guard]:
        """The further guards that hold wherever all of these do."""
        found: set[Guard] = set()
        pending = list(guards)
        while pending:
            condition, wanted = pending.pop()
            value = self._values[condition]
            further = set(self.implications.get((condition, wanted), ()))
            match value:
                case ir.Pointwise(op="and" | "or" as op, operands=operands) if wanted == (op == "and"):
                    further |= {(self.class_of(operand), wanted) for operand in operands}
                case ir.Pointwise(op="not", operands=(operand,)):
                    further.add((self.class_of(operand), not wanted))
            pending += further - found
            found |= further
        return frozenset(found)

    def without_implied(self, guards: frozenset[Guard]) -> frozenset[Guard]:
        """The guards that the others do not imply."""
        kept = guards
        for guard in sorted(guards):
            if guard in self.implied(kept - {guard}):
                kept = kept - {guard}
        return kept

    # --- placing -----------------------------------------------------------------------------------------------

    def place(self, value: ir.Value, append: Callable[[ir.Value], object]) -> None:
        """Appends the value and what it needs, as far as they are new, operands first."""
        stack: list[tuple[ir.Value, bool]] = [(value, False)]
        while stack:
            top, is_ready = stack.pop()
            if top.number in self._placed or top.number not in self._own:
                continue
            if is_ready:
                self._placed.add(top.number)
                append(top)
            else:
                stack.append((top, True))
                stack += [(operand, False) for operand in reversed((*operands_of(top), *used_inside(top)))]
