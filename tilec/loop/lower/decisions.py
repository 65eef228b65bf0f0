"""What branches around the code at hand have decided of the conditions of a row."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from tilec.loop import ir
from tilec.loop.lower.code import ZERO, atom_key
from tilec.tile import ir as tile

Indices: TypeAlias = "tuple[ir.Expr, ...]"
_DEPTH = 8


def aligned(operand: tile.Value, indices: Indices) -> Indices:
    """The operand's indices under an elementwise result at `indices`."""
    offset = len(indices) - operand.type.rank
    return tuple(
        ZERO if extent.is_one else indices[offset + axis] for axis, extent in enumerate(operand.type.shape)
    )


def lane_key(value: tile.Value, indices: Indices) -> Hashable:
    """By what a computed lane is remembered."""
    return (value.number, *map(atom_key, indices))


class Decisions:
    """Conditions at given indices that are known to hold, or not to, in the code at hand."""

    def __init__(self) -> None:
        self._known: dict[Hashable, bool] = {}

    @contextmanager
    def assuming(self, conditions: Sequence[tuple[tile.Value, Indices, bool]]) -> Iterator[None]:
        """Code inside a branch that is taken where all of these are as they say."""
        saved = self._known
        self._known = saved | {lane_key(value, indices): is_true for value, indices, is_true in conditions}
        yield
        self._known = saved

    def of(self, condition: tile.Value, indices: Indices, depth: int = _DEPTH) -> bool | None:
        """Whether the condition holds, None if no branch has decided that."""
        known = self._known.get(lane_key(condition, indices))
        if known is not None or depth == 0:
            return known
        match condition:
            case tile.Pointwise(op="not", operands=(inner,)):
                is_true = self.of(inner, aligned(inner, indices), depth - 1)
                return None if is_true is None else not is_true
            case tile.Pointwise(op="and" | "or" as op, operands=operands):
                parts = [self.of(each, aligned(each, indices), depth - 1) for each in operands]
                decisive = op == "or"
                return decisive if decisive in parts else None if None in parts else not decisive
        return None

    def side(self, where: tile.Pointwise, indices: Indices) -> tile.Value | None:
        """The side of a `where` that is taken, None if that is not decided."""
        if not self._known:
            return None
        condition, chosen, other = where.operands
        is_true = self.of(condition, aligned(condition, indices))
        return None if is_true is None else chosen if is_true else other
