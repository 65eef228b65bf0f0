"""Axes of tile values, counted from the last one (-1), so that values of different rank line up."""

from __future__ import annotations

from tilec.tile import ir
from tilec.types import ONE, Bound, Extent, TileType, stretch


def axes_of(tile: TileType) -> frozenset[int]:
    """The axes along which the tile has more than one lane (or may have)."""
    return frozenset(axis - tile.rank for axis, extent in enumerate(tile.shape) if not extent.is_one)


def extent_at(tile: TileType, axis: int) -> Extent:
    return tile.shape[axis] if -axis <= tile.rank else ONE


def bounds_at(tile: TileType, axis: int) -> frozenset[Bound]:
    """The bounds on an axis; none where the tile has no such axis."""
    return tile.active[axis] if -axis <= tile.rank else frozenset()


def bounds_within(tile: TileType, axis: int, other: TileType) -> frozenset[Bound]:
    """The bounds that the tile puts on an axis of `other`, to whose shape it broadcasts."""
    bounds = bounds_at(tile, axis)
    is_stretched = extent_at(tile, axis).is_one and not extent_at(other, axis).is_one
    return stretch(bounds) if is_stretched else bounds


def covers(tile: TileType, other: TileType) -> bool:
    """Whether the tile is active wherever `other`, to whose shape it broadcasts, is."""
    return all(bounds_within(tile, axis, other) <= bounds_at(other, axis) for axis in range(-tile.rank, 0))


def stretched_axes(operand: TileType, result: TileType) -> frozenset[int]:
    """The axes of the result along which the operand is repeated, or which it does not have and that have bounds."""
    wide = axes_of(result) - axes_of(operand)
    missing = {axis for axis in range(-result.rank, -operand.rank) if bounds_at(result, axis)}
    return frozenset(wide | missing)


def is_narrow(value: ir.Value, axes: frozenset[int]) -> bool:
    """Whether the value is the same all along these axes."""
    return not axes_of(value.type) & axes
