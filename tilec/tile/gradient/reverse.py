"""The derivative of one value with respect to another: adjoints are sent from each value to its operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilec.diag.deadline import check_time
from tilec.tile import ir
from tilec.tile.gradient.emit import emit
from tilec.tile.gradient.ledger import Ledger
from tilec.tile.gradient.paths import order_between
from tilec.tile.gradient.polynomial import ONE, Sum, Term, add, common_powers, divide, multiply
from tilec.tile.gradient.shapes import axes_of, bounds_at, bounds_within, stretched_axes
from tilec.tile.gradient.sums import restrict, sum_over
from tilec.tile.make import make_reduce
from tilec.types import TileType

_MOST_TERMS = 6
_MOST_FACTORS = 8
_MOST_GUARDS = 4


def derivative(ledger: Ledger, y: ir.Value, x: ir.Value) -> ir.Value:
    """The derivative of the sum of `y`'s active elements with respect to `x`, of `x`'s type, as a value of the ledger.

    `y` and `x` are floats; `y` depends on `x` through instructions outside of loops and branches, and through loops
    that only add to sums.
    """
    reverse = Reverse(ledger, order_between([y], [x]), [x])
    reverse.give(y, ONE)
    (terms,) = reverse.run()
    return restrict(ledger, emit(ledger, terms), x)


class Reverse:
    """One backward sweep. The adjoint of a value has a shape that broadcasts to its, and is right on its active lanes;
    what it is elsewhere does not matter."""

    def __init__(self, ledger: Ledger, order: Sequence[ir.Value], starts: Sequence[ir.Value]) -> None:
        """`order` as `order_between` gives it for these starts."""
        self.ledger = ledger
        self._starts = starts
        self._order = order[len(starts) :]
        self._dependent = {value.number for value in order}
        ledger.moving |= {ledger.class_of(value) for value in order if not isinstance(value, ir.For)}
        self._adjoints: dict[int, list[Term]] = {}
        self._results: dict[int, dict[int, Sum]] = {}

    def run(self) -> list[Sum]:
        """The adjoints of the starts."""
        from tilec.tile.gradient.accumulation import send_through_loop
        from tilec.tile.gradient.rules import send_adjoint

        for value in reversed(self._order):
            check_time(value.span)
            terms = add(self._adjoints.pop(value.number, ()))
            match value:
                case ir.For():
                    send_through_loop(self, value, self._results.pop(value.number, {}))
                case ir.Result(producer=producer, index=index) if terms:
                    self._results.setdefault(producer.number, {})[index] = terms
                case _ if terms:
                    send_adjoint(self, value, terms)
        return [add(self._adjoints.get(start.number, ())) for start in self._starts]

    def wants(self, operand: ir.Value) -> bool:
        """Whether the operand depends on `x`."""
        return operand.number in self._dependent

    def give(self, operand: ir.Value, terms: Sum) -> None:
        """Adds terms of the operand's own shape to its adjoint."""
        if self.wants(operand):
            self._adjoints.setdefault(operand.number, []).extend(terms)

    def send(self, value: ir.Value, operand: ir.Value, terms: Sum) -> None:
        """Adds terms of the shape of `value` to the adjoint of an operand that broadcasts to it."""
        if not self.wants(operand) or not terms:
            return
        axes = stretched_axes(operand.type, value.type)
        if self._is_partial(value, operand, axes):
            terms = self._padded(value, axes, terms)
        elif axes:
            terms = sum_over(self.ledger, terms, value, axes, keeps_axes=operand.type.rank > 0)
        self.give(operand, terms)

    def _is_partial(self, value: ir.Value, operand: ir.Value, axes: frozenset[int]) -> bool:
        """Whether the operand has active lanes that the value does not have."""
        return any(
            not bounds_at(value.type, axis) <= bounds_within(operand.type, axis, value.type)
            for axis in range(-operand.type.rank, 0)
            if axis not in axes
        )

    def _padded(self, value: ir.Value, axes: frozenset[int], terms: Sum) -> Sum:
        """The terms with exactly 0 where `value` is not active, summed over the axes."""
        ledger = self.ledger
        tile = restrict(ledger, emit(ledger, terms), value)
        if axes:
            positions = tuple(sorted(axis + value.type.rank for axis in axes))
            tile = ledger.add(make_reduce("sum", tile, positions, ledger.span))
        whole = TileType(tile.type.dtype, tile.type.shape)
        padded = ledger.add(ir.Pad(whole, ledger.span, tile, ledger.constant(0.0)))
        number = ledger.class_of(padded)
        ledger.masked.add(number)
        return (Term(powers=((number, 1),)),)

    # --- products ------------------------------------------------------------------------------------------------

    def times(self, terms: Sum, factor: Sum) -> Sum:
        """An adjoint times a derivative. An adjoint of several terms becomes one value before it is multiplied by what
        varies as it does, lest a difference in it be multiplied out; a product with an exponential stays open, since
        its sum may be known."""
        ledger = self.ledger
        axes = frozenset().union(*(ledger.axes(term) for term in terms))
        is_open = all(self._keeps_open(term, axes) for term in factor)
        degree = max((term.degree for term in terms), default=0)
        if len(terms) > _MOST_TERMS or degree > _MOST_FACTORS or (len(terms) > 1 and not is_open):
            terms = self.frozen(terms)
        return multiply(terms, factor)

    def _keeps_open(self, term: Term, axes: frozenset[int]) -> bool:
        for factor, _ in term.powers:
            value = self.ledger.value(factor)
            is_exponential = isinstance(value, ir.Pointwise) and value.op == "exp"
            if not is_exponential and axes_of(value.type) >= axes and axes:
                return False
        return True

    def frozen(self, terms: Sum) -> Sum:
        """The terms under the same guards as one value each, their common narrow factors left outside."""
        ledger = self.ledger
        groups: dict[frozenset, list[Term]] = {}
        for term in terms:
            groups.setdefault(term.guards, []).append(Term(term.coefficient, term.powers))
        if len(groups) > _MOST_GUARDS:
            return self._masked(terms)
        done: list[Term] = []
        for guards, group in groups.items():
            axes = frozenset().union(*(ledger.axes(term) for term in group))
            common = tuple(
                (factor, power)
                for factor, power in common_powers(tuple(group))
                if axes_of(ledger.value(factor).type) < axes
            )
            value = emit(ledger, add(divide(term, common) for term in group))
            done += multiply((Term(1.0, common, guards),), (ledger.term(value),))
        return add(done)

    def _masked(self, terms: Sum) -> Sum:
        """One value for terms under many different guards: exactly 0 where none of them holds, and guarded as such."""
        shared = frozenset.intersection(*(term.guards for term in terms))
        value = emit(self.ledger, tuple(replace(term, guards=term.guards - shared) for term in terms))
        number = self.ledger.class_of(value)
        self.ledger.masked.add(number)
        return (Term(1.0, ((number, 1),), shared),)
