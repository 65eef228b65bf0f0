"""Which tensors a kernel surely overwrites whole: what they held before a launch does not matter."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.affine import BLOCK_SYMBOLS, extent_of
from tilec.types import ONE, ZERO, Bound, Extent, TileType, apply


def fully_written(kernel: ir.Kernel) -> frozenset[str]:
    """The names of the tensors of which every element is proved stored by a store that always runs.

    Proved are stores that cover each axis at once, or cell by cell along an axis of the grid.
    """
    tensors = {tensor.name: tensor for tensor in kernel.tensors}
    return frozenset(
        value.tensor
        for value in kernel.body.body
        if isinstance(value, ir.Store) and _covers(kernel, value, tensors[value.tensor].dims)
    )


def _covers(kernel: ir.Kernel, store: ir.Store, dims: tuple[Extent, ...]) -> bool:
    used: set[int] = set()
    spans: list[tuple[Extent, Extent, Extent]] = []
    for index, dim in zip(store.indices, dims, strict=True):
        is_span = isinstance(index, ir.SpanIndex)
        start = extent_of(index.start if is_span else index.index)
        count = index.count if is_span else ONE
        if is_span:
            spans.append((start, count, dim))
        if start == ZERO:
            if not dim.at_most(count):
                return False
            continue
        axis = _grid_axis(kernel, start, count, dim)
        if axis is None or axis in used:
            return False
        used.add(axis)
    # An axis of the grid that the store does not use may have no block at all.
    for axis, blocks in enumerate(kernel.grid):
        if axis not in used and not ONE.at_most(blocks):
            return False
    return _is_active(store.operand.type, spans)


def _grid_axis(kernel: ir.Kernel, start: Extent, count: Extent, dim: Extent) -> int | None:
    """The axis of the grid whose blocks cover a tensor's axis without a gap, starting at `a * block`."""
    for axis, symbol in enumerate(BLOCK_SYMBOLS):
        if symbol not in start.atoms:
            continue
        step = start.substitute(lambda atom, wanted=symbol: ONE if atom == wanted else None)
        if step.constant is None or step * Extent.of(symbol) != start or not step.at_most(count):
            return None
        return axis if kernel.grid[axis] == apply("ceildiv", dim, step) else None
    return None


def _is_active(operand: TileType, spans: list[tuple[Extent, Extent, Extent]]) -> bool:
    """Whether a stored value is active wherever its spans (start, count, extent of the axis) are in the tensor."""
    missing = len(spans) - operand.rank
    if missing < 0:
        return operand.is_fully_active
    for axis, bounds in enumerate(operand.active):
        start, count, dim = spans[axis + missing]
        is_stretched = operand.shape[axis].is_one and not count.is_one
        if not all(_allows(bound, start, dim, is_stretched or bound.stretched) for bound in bounds):
            return False
    return True


def _allows(bound: Bound, start: Extent, dim: Extent, is_stretched: bool) -> bool:
    """Whether lanes from `-start` and 0 up to `dim - start` are within the bound; of a stretched one, lane 0."""
    if is_stretched:
        return bound.start.at_most(ZERO) and ONE.at_most(bound.limit)
    return (bound.start.at_most(ZERO) or bound.start.at_most(-start)) and (dim - start).at_most(bound.limit)
