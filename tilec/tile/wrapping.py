"""Which integer formulas are what their i32 arithmetic gives, whatever their atoms are.

Proofs are about integers, and i32 wraps: `max(n, 0) + 8` is not negative as an integer, and negative as an i32 where n
is near the largest. What is proved of a formula holds for what a kernel computes only if the formula stays in range.
Sums of dims, block indices and constants are taken to do so; a scalar parameter, or what data says, may be any i32.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilec.types import Apply, Atom, Extent, Opaque, Symbol

Ranges = Mapping[Atom, tuple[Extent, Extent]]
"""The least and the largest value of loop counters."""

Sides = tuple[bool, bool]
"""Whether something is bounded below, and above, by sums of dims."""

_BOTH, _NEITHER = (True, True), (False, False)
_DEEPEST = 8


def stays(extent: Extent, ranges: Ranges) -> bool:
    """Whether no step of its i32 arithmetic wraps; False if that is not certain."""
    return _sides(extent, ranges, _DEEPEST) is not None


def _sides(extent: Extent, ranges: Ranges, depth: int) -> Sides | None:
    """How an extent is bounded; None where it may wrap."""
    if depth == 0:
        return None
    wide: list[tuple[Extent, Sides]] = []
    for monomial, factor in extent.terms:
        found = [_atom(atom, ranges, depth - 1) for atom in monomial]
        if None in found:
            return None
        if any(sides != _BOTH for sides in found):
            if len(monomial) > 1 or abs(factor) > 1:
                return None
            (sides,) = (sides for sides in found if sides is not None)
            wide.append((Extent(((monomial, factor),)), sides if factor > 0 else (sides[1], sides[0])))
    if not wide:
        return _BOTH
    if len(wide) > 1:
        return None
    # One i32 alone: the rest must not push it out of its range. The least i32 has no opposite.
    (term, (is_low, is_high)), is_opposite = wide[0], wide[0][0].terms[0][1] < 0
    rest = extent - term
    if not is_high and not (-rest - int(is_opposite and not is_high)).is_nonnegative:
        return None
    if not is_low and not rest.is_nonnegative:
        return None
    return is_low, is_high


def _atom(atom: Atom, ranges: Ranges, depth: int) -> Sides | None:
    if atom in ranges:
        first, last = (_sides(extent, ranges, depth) for extent in ranges[atom])
        return bool(first and first[0]), bool(last and last[1])
    match atom:
        case Symbol(kind="dim" | "block"):
            return _BOTH
        case Apply():
            return _applied(atom, ranges, depth)
        case Symbol() | Opaque():
            return atom.nonnegative, False
    return None


def _applied(atom: Apply, ranges: Ranges, depth: int) -> Sides | None:
    found = [_sides(argument, ranges, depth) for argument in atom.arguments]
    left, right = found
    if left is None or right is None:
        return None
    match atom.function:
        case "min":
            return left[0] and right[0], left[1] or right[1]
        case "max":
            return left[0] or right[0], left[1] and right[1]
        case "mod":
            return _BOTH if _BOTH in (left, right) else _NEITHER
    divisor = atom.arguments[1].constant
    if left == _BOTH or (divisor is not None and divisor > 0):
        return left
    return _NEITHER
