"""Derivatives under construction: sums of products of values, each under guards.

A *class* is the number of a value in a `Ledger`, equal values having one class. A term is a coefficient times powers
of classes, under conditions (guards): it is exactly nothing where one of them does not hold, whatever its factors are
there. A sum of no term is zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

Powers: TypeAlias = "tuple[tuple[int, int], ...]"
Guard: TypeAlias = "tuple[int, bool]"
"""The class of a condition, and what it must be."""


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient` times the powers of classes (in order of their numbers, none 0), where all `guards` hold."""

    coefficient: float = 1.0
    powers: Powers = ()
    guards: frozenset[Guard] = frozenset()

    @property
    def degree(self) -> int:
        return sum(abs(power) for _, power in self.powers)


Sum: TypeAlias = "tuple[Term, ...]"

ONE: Sum = (Term(),)
ZERO: Sum = ()


def multiply_powers(left: Powers, right: Powers) -> Powers:
    """The product, in which a power and its inverse are gone."""
    if not left or not right:
        return left or right
    powers = dict(left)
    for factor, power in right:
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted((factor, power) for factor, power in powers.items() if power))


def invert_powers(powers: Powers) -> Powers:
    return tuple((factor, -power) for factor, power in powers)


def multiply_terms(left: Term, right: Term) -> Term | None:
    """The product; None where the guards contradict each other, so that it is nothing everywhere."""
    guards = left.guards | right.guards
    if any((condition, not wanted) in guards for condition, wanted in guards):
        return None
    return Term(left.coefficient * right.coefficient, multiply_powers(left.powers, right.powers), guards)


def multiply(left: Sum, right: Sum) -> Sum:
    """The product, written out."""
    products = (multiply_terms(one, other) for one in left for other in right)
    return add(product for product in products if product is not None)


def scale(terms: Sum, factor: float) -> Sum:
    return tuple(replace(term, coefficient=term.coefficient * factor) for term in terms)


def guard(terms: Sum, condition: int, wanted: bool) -> Sum:
    """The terms, nothing where the condition is not as wanted."""
    return multiply(terms, (Term(guards=frozenset({(condition, wanted)})),))


def add(terms: Iterable[Term]) -> Sum:
    """The terms with like ones merged: those that cancel are gone, and a pair under a condition and under its opposite
    is one term without it."""
    pending = list(terms)
    known: dict[tuple[Powers, frozenset[Guard]], float] = {}
    while pending:
        term = pending.pop(0)
        key = (term.powers, term.guards)
        if key in known:
            known[key] += term.coefficient
            if known[key] == 0.0:
                del known[key]
            continue
        opposite = _opposite(known, term)
        if opposite is None:
            known[key] = term.coefficient
        else:
            del known[term.powers, opposite]
            pending.insert(0, Term(term.coefficient, term.powers, term.guards & opposite))
    return tuple(
        Term(coefficient, powers, guards) for (powers, guards), coefficient in known.items() if coefficient != 0.0
    )


def _opposite(known: dict[tuple[Powers, frozenset[Guard]], float], term: Term) -> frozenset[Guard] | None:
    """The guards of a known term that differs from this one in nothing but the sign of one guard."""
    for condition, wanted in term.guards:
        guards = term.guards - {(condition, wanted)} | {(condition, not wanted)}
        if known.get((term.powers, guards)) == term.coefficient:
            return guards
    return None


def common_powers(terms: Sum) -> Powers:
    """The powers that all terms have: their greatest common divisor, inverses included."""
    common = dict(terms[0].powers)
    for term in terms[1:]:
        powers = dict(term.powers)
        for factor, power in list(common.items()):
            shared = _shared(power, powers.get(factor, 0))
            if shared:
                common[factor] = shared
            else:
                del common[factor]
    return tuple(sorted(common.items()))


def _shared(left: int, right: int) -> int:
    if left > 0 and right > 0:
        return min(left, right)
    return max(left, right) if left < 0 and right < 0 else 0


def contains(powers: Powers, product: Powers) -> bool:
    """Whether the product is a factor of the powers."""
    own = dict(powers)
    return all(own.get(factor, 0) * power > 0 and abs(own[factor]) >= abs(power) for factor, power in product)


def divide(term: Term, powers: Powers) -> Term:
    return replace(term, powers=multiply_powers(term.powers, invert_powers(powers)))
