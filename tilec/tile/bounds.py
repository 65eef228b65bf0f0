"""How large an extent can be: bounds over dims and scalar parameters, which a launch can evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tilec.tile import ir
from tilec.tile.affine import extent_of
from tilec.tile.walk import walk
from tilec.types import ONE, ZERO, Apply, Atom, Bound, DType, Extent, Monomial, Opaque, Symbol, apply

_DEEPEST = 16
_OF_BYTES = {DType.I8: (-128, 127), DType.U8: (0, 255)}
_HIGHEST = 2**31 - 1

Range: TypeAlias = "tuple[Extent | None, Extent | None]"
"""What a number is at least and at most, as far as that is known."""
_UNKNOWN: Range = (None, None)


@dataclass(frozen=True, slots=True)
class Room:
    """How many elements hold all active lanes of an axis. `wraps`: they are numbered from anywhere on, so that lane i
    is kept at i modulo `extent`; else lane i at i."""

    extent: Extent
    wraps: bool = False


class Bounds:
    """The bounds of one kernel's extents: blocks are of its grid, indices of its loops."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self._kernel = kernel
        self._found: dict[int, Range] = {}
        self._loops = {value.index.name: value for value in walk(kernel.body) if isinstance(value, ir.For)}

    def room(self, extent: Extent, active: frozenset[Bound]) -> Room | None:
        """Room for the lanes of an axis of `extent` that are active; None if its size has no bound that is known before
        a launch. An axis of dims keeps its extent; of one that a scalar parameter counts, no more is kept than a tensor
        can have there."""
        if _is_of_dims(extent):
            return Room(extent)
        limits = [bound for bound in sorted(active, key=str) if not bound.stretched]
        ends = [self.highest(extent), *(self.highest(bound.limit) for bound in limits)]
        known = [end for end in ends if end is not None]
        if any(map(_is_of_dims, known)):
            return Room(_least(known))
        windows = [self.highest(bound.limit - bound.start) for bound in limits]
        known_windows = [window for window in windows if window is not None]
        if known_windows:
            return Room(_least(known_windows), wraps=True)
        return Room(_least(known)) if known else None

    def highest(self, extent: Extent) -> Extent | None:
        """An extent over dims and scalars that is never less; None if none is known."""
        return self._range(extent, _DEEPEST)[1]

    def _range(self, extent: Extent, depth: int) -> Range:
        """What the extent is at least and at most. Numbers that data makes may be any i32, and sums of them wrap round:
        then neither side is known."""
        if extent.is_for_host:
            return extent, extent
        if depth == 0:
            return _UNKNOWN
        low, high = ZERO, ZERO
        below: list[int] = []
        above: list[int] = []
        for monomial, factor in extent.terms:
            term = Extent(((monomial, factor),))
            least, most = (term, term) if term.is_for_host else self._term(monomial, factor, depth - 1)
            # Of one i32 alone it matters only that the rest does not push it out of its range.
            open_by = factor if len(monomial) == 1 and abs(factor) == 1 else 2
            if least is None:
                below.append(open_by)
            if most is None:
                above.append(open_by)
            low, high = low + (least or ZERO), high + (most or ZERO)
        stays_above = not below or (below in ([1], [-1]) and (low + int(below == [-1])).is_nonnegative)
        stays_below = not above or (above in ([1], [-1]) and (-high - int(above == [-1])).is_nonnegative)
        if not (_is_counted(low) and _is_counted(high) and stays_above and stays_below):
            return _UNKNOWN
        return None if below else low, None if above else high

    def _term(self, monomial: Monomial, factor: int, depth: int) -> Range:
        """The range of one term of an extent: of one atom, or of several that are not negative."""
        ranges = [self._atom(atom, depth) for atom in monomial]
        least, most = ranges[0]
        if len(monomial) > 1:
            if not all(low is not None and low.is_nonnegative and high is not None for low, high in ranges):
                return _UNKNOWN
            least, most = ZERO, ONE
            for _, high in ranges:
                most = most * (high or ZERO)
        sides = [None if side is None else side * factor for side in (least, most)]
        return (sides[0], sides[1]) if factor > 0 else (sides[1], sides[0])

    def _atom(self, atom: Atom, depth: int) -> Range:
        match atom:
            case Symbol(kind="block"):
                return ZERO, self._kernel.grid["xyz".index(atom.name[-1])] - 1
            case Symbol(kind="loop"):
                loop = self._loops.get(atom.name)
                if loop is None:
                    return _UNKNOWN
                last = self._of(loop.stop, depth)[1]
                return self._of(loop.start, depth)[0], None if last is None else last - 1
            case Symbol():
                return Extent.of(atom), Extent.of(atom)
            case Apply():
                return self._applied(atom.function, [self._range(one, depth) for one in atom.arguments], atom)
            case Opaque(value=ir.Value() as value):
                if value.number not in self._found:  # once a value, however many formulas it is part of
                    self._found[value.number] = self._value(value, depth)
                low, high = self._found[value.number]
                return (ZERO if low is None and atom.nonnegative else low), high
        return _UNKNOWN

    def _of(self, value: ir.Value, depth: int) -> Range:
        return self._range(extent_of(value), depth)

    def _applied(self, function: str, ranges: list[Range], atom: Apply) -> Range:
        if Extent.of(atom).is_for_host:
            return Extent.of(atom), Extent.of(atom)
        if function in ("min", "max"):
            return _extreme(function, ranges)
        divisor = atom.arguments[1]
        if function == "mod":
            return self._remainder(ranges[0], divisor)
        if function in ("div", "ceildiv") and divisor.is_for_host and (divisor - 1).is_nonnegative:
            low, high = (None if side is None else apply(function, side, divisor) for side in ranges[0])
            return low, high
        return _UNKNOWN

    def _value(self, value: ir.Value, depth: int) -> Range:
        """The range of a scalar instruction that is no formula by itself."""
        if depth == 0:
            return _UNKNOWN
        formula = extent_of(value)
        if formula != Extent.of(Opaque(value.number, value)):
            return self._range(formula, depth - 1)
        match value:
            case ir.Pointwise(op="rem", operands=(dividend, divisor)):
                return self._remainder(self._of(dividend, depth - 1), extent_of(divisor))
            case ir.Pointwise(op="clamp", operands=operands):
                middle, least, most = (self._of(operand, depth - 1) for operand in operands)
                return _extreme("min", [_extreme("max", [middle, least]), most])
            case ir.Pointwise(op="where", operands=(_, *sides)):
                return self._either(sides, depth - 1)
            case ir.Pointwise(op="i32", operands=(operand,)) if operand.type.dtype is DType.BOOL:
                return ZERO, ONE
            case ir.Result(producer=ir.If() as node):
                return self._either([node.then.yields[value.index], node.otherwise.yields[value.index]], depth - 1)
            case ir.Load(tensor=name) if value.fill is None and self._kernel.tensor(name).dtype in _OF_BYTES:
                low, high = _OF_BYTES[self._kernel.tensor(name).dtype]
                return Extent.of(low), Extent.of(high)
        return _UNKNOWN

    def _either(self, sides: Sequence[ir.Value], depth: int) -> Range:
        """One of two values, it is not known which."""
        ranges = [self._of(side, depth) for side in sides]
        return _extreme("min", ranges)[0], _extreme("max", ranges)[1]

    @staticmethod
    def _remainder(dividend: Range, divisor: Extent) -> Range:
        """A remainder has the sign of what is divided and is less than the divisor; by 0 it is 0."""
        if divisor.constant is not None:
            divisor = Extent.of(abs(divisor.constant))
        if not (divisor.is_for_host and divisor.is_nonnegative):
            return _UNKNOWN
        most = apply("max", divisor - 1, ZERO)
        is_above = dividend[0] is not None and dividend[0].is_nonnegative
        return ZERO if is_above else -most, most


def _extreme(function: str, ranges: Sequence[Range]) -> Range:
    """The least or the greatest of two: one of them bounds it on that side, both on the other."""
    sides: list[Extent | None] = []
    for side, needs_one in enumerate((function == "max", function == "min")):
        known = [each for each in (ranges[0][side], ranges[1][side]) if each is not None]
        is_known = len(known) == 2 or (needs_one and known)
        sides.append(apply(function, known[0], known[-1]) if is_known else None)
    return sides[0], sides[1]


def _is_counted(extent: Extent) -> bool:
    """Whether it is a formula of use, and no literal that an i32 does not hold."""
    return extent.is_small and (extent.constant is None or abs(extent.constant) <= _HIGHEST)


def _is_of_dims(extent: Extent) -> bool:
    """Whether it is made of dims, whose sizes tensors have."""
    return extent.is_for_host and not any(isinstance(atom, Symbol) and atom.kind == "scalar" for atom in extent.atoms)


def _least(extents: list[Extent]) -> Extent:
    least = extents[0]
    for extent in extents[1:]:
        smaller = apply("min", least, extent)
        least = smaller if smaller.is_small else least
    return least
