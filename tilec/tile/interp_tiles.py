"""Tile values of the interpreter: arrays with the block as their first axis, and a mask of active lanes per axis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Mask: TypeAlias = "np.ndarray | None"


@dataclass(frozen=True, slots=True)
class Tile:
    """A value in a batch of B blocks: `data` [B or 1, *shape]; per axis a mask [B or 1, extent], None: all active."""

    data: np.ndarray
    masks: tuple[Mask, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape[1:]

    def at_rank(self, rank: int) -> Tile:
        """The same with leading axes of extent 1."""
        missing = rank - len(self.masks)
        if not missing:
            return self
        shape = (self.data.shape[0],) + (1,) * missing + self.shape
        return Tile(self.data.reshape(shape), (None,) * missing + self.masks)

    def rows(self, rows: np.ndarray) -> Tile:
        """The same in some of the blocks."""
        return Tile(_rows(self.data, rows), tuple(None if mask is None else _rows(mask, rows) for mask in self.masks))

    def active(self) -> np.ndarray:
        """One mask over all axes, that broadcasts against `data`."""
        return joint_mask(self.masks)


def _rows(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return array if len(array) == 1 else array[rows]


def joint_mask(masks: tuple[Mask, ...]) -> np.ndarray:
    """Masks of single axes as one, [B or 1, *(extents or 1)]."""
    joint = np.ones((1,) * (len(masks) + 1), np.bool_)
    for axis, mask in enumerate(masks):
        if mask is not None:
            shape = [len(mask)] + [1] * len(masks)
            shape[axis + 1] = mask.shape[1]
            joint = joint & mask.reshape(shape)
    return joint


def intersect(masks: Iterable[Mask]) -> Mask:
    """The lanes active in all (a mask of extent 1 counts for every lane)."""
    result: Mask = None
    for mask in masks:
        if mask is not None:
            result = mask if result is None else result & mask
    return result


def align(tiles: list[Tile], rank: int = 0) -> tuple[list[Tile], tuple[Mask, ...]]:
    """The tiles at one rank (at least `rank`), and the activity of an elementwise result."""
    rank = max([rank, *(len(tile.masks) for tile in tiles)])
    aligned = [tile.at_rank(rank) for tile in tiles]
    masks = [intersect(tile.masks[axis] for tile in aligned) for axis in range(rank)]
    return aligned, tuple(masks)


def stretch(tile: Tile, shape: tuple[int, ...]) -> Tile:
    """The tile broadcast to `shape`, its activity with it."""
    tile = tile.at_rank(len(shape))
    masks = tuple(
        mask if mask is None else np.broadcast_to(mask, (len(mask), extent))
        for mask, extent in zip(tile.masks, shape, strict=True)
    )
    return Tile(np.broadcast_to(tile.data, (tile.data.shape[0], *shape)), masks)


def merge(count: int, parts: list[tuple[np.ndarray, Tile]]) -> Tile:
    """One tile from parts that each hold some of `count` blocks, at the given rows."""
    if len(parts) == 1:
        return parts[0][1]
    first = parts[0][1]
    data = np.empty((count, *first.shape), first.data.dtype)
    for rows, tile in parts:
        data[rows] = tile.data
    masks: list[Mask] = []
    for axis, extent in enumerate(first.shape):
        if all(tile.masks[axis] is None for _, tile in parts):
            masks.append(None)
            continue
        joined = np.ones((count, extent), np.bool_)
        for rows, tile in parts:
            joined[rows] = True if tile.masks[axis] is None else tile.masks[axis]
        masks.append(joined)
    return Tile(data, tuple(masks))
