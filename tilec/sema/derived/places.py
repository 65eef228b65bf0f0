"""What is proved of the spans of a tensor: equal, apart, separate between blocks, covering all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilec.sema import proofs
from tilec.sema.blocks import are_separate
from tilec.sema.builder import Access
from tilec.sema.grid import block_factor
from tilec.tile import ir
from tilec.tile.affine import extent_of
from tilec.tile.wrapping import stays
from tilec.types import ONE, ZERO, Atom, Bound, Extent, TileType, apply

Axis = tuple[Extent, "Extent | None"]


@dataclass(slots=True)
class Proofs:
    """The part of a builder that proofs ask for; no loop counter is left in what they are about."""

    ranges: Mapping[Atom, tuple[Extent, Extent]] = field(default_factory=dict)

    def is_nonnegative(self, extent: Extent) -> bool:
        return proofs.is_nonnegative(extent, self.ranges)

    def is_at_most(self, left: Extent, right: Extent) -> bool:
        return proofs.is_at_most(left, right, self.ranges)


_PROOFS = Proofs()


def axes_of(indices: Sequence[ir.AxisIndex]) -> tuple[Axis, ...]:
    """A start and a count (None: a point) for each axis of the tensor."""
    return tuple(
        (extent_of(index.index), None) if isinstance(index, ir.PointIndex) else (extent_of(index.start), index.count)
        for index in indices
    )


def span_type(tensor: ir.TensorParameter, indices: Sequence[ir.AxisIndex]) -> TileType:
    """The type of the spans: which lanes lie inside the tensor."""
    shape: list[Extent] = []
    active: list[frozenset[Bound]] = []
    points: frozenset[Bound] = frozenset()
    for (start, count), dim in zip(axes_of(indices), tensor.dims, strict=True):
        length = ONE if count is None else count
        is_above = stays(start, {}) and _PROOFS.is_nonnegative(start)
        is_below = stays(start, {}) and stays(length, {}) and _PROOFS.is_at_most(start + length, dim)
        bounds: frozenset[Bound] = frozenset()
        if not (is_above and is_below):
            low, high = ZERO if is_above else -start, length if is_below else dim - start
            bounds = frozenset({Bound(low, high, count is None)})
        if count is None:
            points |= bounds
        else:
            shape.append(count)
            active.append(bounds)
    if active and points:
        active[0] |= points
    return TileType(tensor.dtype.compute, tuple(shape), tuple(active))


def are_apart(first: Sequence[Axis], second: Sequence[Axis]) -> bool:
    """Proved: two spans of one block have no element in common."""
    return any(_ends_before(one, other) or _ends_before(other, one) for one, other in zip(first, second, strict=True))


def _ends_before(first: Axis, second: Axis) -> bool:
    return _PROOFS.is_at_most(_end(first), second[0])


def _end(axis: Axis) -> Extent:
    start, count = axis
    return start + (ONE if count is None else count)


def shared_axis(kernel: ir.Kernel, tensor: str, spans: Sequence[tuple[Axis, ...]]) -> int | None:
    """An axis of the grid whose blocks may touch the same elements by these spans, or None."""
    origin = kernel.tensor(tensor).span
    accesses = [Access(tensor, True, axes, origin, {}, False, (), True) for axes in spans]
    for axis in range(3):
        if kernel.grid[axis].constant not in (0, 1) and not are_separate(_PROOFS, accesses, axis):
            return axis
    return None


def covers(kernel: ir.Kernel, tensor: str, spans: Sequence[tuple[Axis, ...]]) -> bool:
    """Proved: the spans of all blocks together touch every element of the tensor."""
    dims = kernel.tensor(tensor).dims
    joined = _joined(list(spans))
    return any(_covers(kernel, axes, dims) for axes in joined)


def _joined(spans: list[tuple[Axis, ...]]) -> list[tuple[Axis, ...]]:
    """Spans that continue each other on one axis, joined until none does."""
    for first in spans:
        for second in spans:
            union = None if first is second else _union(first, second)
            if union is not None:
                rest = [one for one in spans if one is not first and one is not second]
                return _joined([*rest, union])
    return spans


def _union(first: tuple[Axis, ...], second: tuple[Axis, ...]) -> tuple[Axis, ...] | None:
    """`second` behind `first`: they meet on one axis and are equal on the others."""
    differing = [axis for axis in range(len(first)) if first[axis] != second[axis]]
    if len(differing) != 1:
        return None
    axis = differing[0]
    if _end(first[axis]) != second[axis][0]:
        return None
    both = (first[axis][0], _end(second[axis]) - first[axis][0])
    return (*first[:axis], both, *first[axis + 1 :])


def _covers(kernel: ir.Kernel, axes: Sequence[Axis], dims: Sequence[Extent]) -> bool:
    used: set[int] = set()
    for axis, dim in zip(axes, dims, strict=True):
        start, _ = axis
        if start == ZERO and _PROOFS.is_at_most(dim, _end(axis)):
            continue
        block = _covering_block(kernel, axis, dim)
        if block is None or block in used:
            return False
        used.add(block)
    return True


def _covering_block(kernel: ir.Kernel, axis: Axis, dim: Extent) -> int | None:
    """The axis of the grid whose blocks take the tensor's axis one piece after another."""
    start, _ = axis
    for block in range(3):
        parts = block_factor(start, block)
        if parts is None:
            continue
        step, offset = parts
        length = _end(axis) - start
        is_gapless = offset == ZERO and _PROOFS.is_at_most(step, length)
        if is_gapless and (kernel.grid[block] == apply("ceildiv", dim, step)):
            return block
    return None
