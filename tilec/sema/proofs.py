"""Proofs that integer formulas are not negative: by signs, ranges of loop counters, laws of min, max and division."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from tilec.types import ZERO, Apply, Atom, Extent

Ranges = Mapping[Atom, tuple[Extent, Extent]]
"""The least and the largest value of loop counters."""

DEPTH = 6
STEPS = 200
"""Formulas that are tried in one proof: a search without a bound is exponential in the atoms."""


class Prover(Protocol):
    """What decides about formulas: a builder, or whatever knows the ranges of counters."""

    @property
    def ranges(self) -> Ranges: ...

    def is_nonnegative(self, extent: Extent) -> bool: ...

    def is_at_most(self, left: Extent, right: Extent) -> bool: ...


def is_nonnegative(extent: Extent, ranges: Ranges) -> bool:
    """Proved `extent >= 0` (False if not proved)."""
    return _prove(extent, ranges, DEPTH, [STEPS])


def is_at_most(left: Extent, right: Extent, ranges: Ranges) -> bool:
    """Proved `left <= right`."""
    return left == right or is_nonnegative(right - left, ranges)


def least(extent: Extent, ranges: Ranges) -> Extent:
    """A lower bound without loop counters, as far as their ranges tell."""
    for _ in range(DEPTH):
        atom = next((a for a in extent.atoms if a in ranges and _factors(extent, a) is not None), None)
        if atom is None:
            return extent
        extent = _replaced(extent, atom, *ranges[atom])
    return extent


def largest(extent: Extent, ranges: Ranges) -> Extent:
    """An upper bound without loop counters, as far as their ranges tell."""
    return -least(-extent, ranges)


def _prove(extent: Extent, ranges: Ranges, depth: int, budget: list[int]) -> bool:
    if extent.is_nonnegative:
        return True
    budget[0] -= 1
    if depth == 0 or budget[0] < 0 or extent.constant is not None:
        return False
    atoms = sorted((atom for monomial, _ in extent.terms for atom in monomial), key=str)
    for atom in dict.fromkeys(atoms):
        for cases in _weakened(extent, atom, ranges):
            if all(_prove(case, ranges, depth - 1, budget) for case in cases):
                return True
    return False


def _weakened(extent: Extent, atom: Atom, ranges: Ranges) -> Iterator[tuple[Extent, ...]]:
    """Ways to get rid of an atom: if all extents of one way are >= 0, then so is `extent`."""
    if _factors(extent, atom) is None:
        return
    if atom in ranges:
        yield (_replaced(extent, atom, *ranges[atom]),)
    if not isinstance(atom, Apply):
        return
    first, second = atom.arguments
    if atom.function in ("min", "max"):
        # Where a bound on one side is enough (-min, +max), either argument will do; else both cases are needed.
        is_positive = _sign(extent, atom) > 0
        with_first, with_second = _replaced(extent, atom, first, first), _replaced(extent, atom, second, second)
        if is_positive == (atom.function == "max"):
            yield (with_first,)
            yield (with_second,)
        else:
            yield with_first, with_second
        return
    divisor = second.constant
    if divisor is None or divisor < 1 or not is_nonnegative(first, ranges):
        return
    if atom.function == "mod":
        yield (_replaced(extent, atom, ZERO, Extent.of(divisor - 1)),)
        return
    yield (_divided(extent, atom, first, divisor),)


def _factors(extent: Extent, atom: Atom) -> list[int] | None:
    """The factors of the terms that hold the atom, if it is linear in them and the others there are nonnegative."""
    factors = []
    for monomial, factor in extent.terms:
        if atom in monomial:
            others = [other for other in monomial if other != atom]
            if len(others) != len(monomial) - 1 or not all(other.nonnegative for other in others):
                return None
            factors.append(factor)
    return factors if factors and (all(f > 0 for f in factors) or all(f < 0 for f in factors)) else None


def _sign(extent: Extent, atom: Atom) -> int:
    factors = _factors(extent, atom)
    return 1 if factors is not None and factors[0] > 0 else -1


def _replaced(extent: Extent, atom: Atom, low: Extent, high: Extent) -> Extent:
    """A lower bound of `extent` for `low <= atom <= high`."""
    total = ZERO
    for monomial, factor in extent.terms:
        if atom not in monomial:
            total = total + Extent(((monomial, factor),))
            continue
        product = Extent.of(factor) * (low if factor > 0 else high)
        for other in monomial:
            if other != atom:
                product = product * Extent.of(other)
        total = total + product
    return total


def _divided(extent: Extent, atom: Apply, dividend: Extent, divisor: int) -> Extent:
    """`a/c - (c-1)/c <= div(a, c) <= a/c <= ceildiv(a, c) <= a/c + (c-1)/c`, in every term that holds the atom."""
    total = ZERO
    for monomial, factor in extent.terms:
        if atom not in monomial:
            total = total + Extent(((monomial, factor),))
            continue
        others = Extent(((tuple(other for other in monomial if other != atom), 1),))
        share, is_exact = abs(factor) // divisor, abs(factor) % divisor == 0
        slack = divisor - 1
        match atom.function, factor > 0:
            case "div", True:
                bound = (dividend - slack) * share if is_exact else ZERO
            case "div", False:
                bound = dividend * -(share if is_exact else share + 1)
            case _, True:
                bound = dividend * share
            case _:
                bound = (dividend + slack) * -share if is_exact else dividend * factor
        total = total + bound * others
    return total
