"""The rules between blocks: no two write one element, none reads what another may write."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.diag import catalog
from tilec.sema import proofs
from tilec.sema.attributes import Attributes
from tilec.sema.builder import Access, Builder
from tilec.sema.grid import Grid, block_factor
from tilec.tile.affine import BLOCK_SYMBOLS
from tilec.types import ONE, Apply, Extent, Opaque, Symbol


def check_blocks(builder: Builder, grid: Grid, attributes: Attributes) -> None:
    """Reports tensors on which blocks may collide."""
    axes = [axis for axis in range(3) if grid[axis].constant not in (0, 1)]
    written = dict.fromkeys(access.tensor for access in builder.accesses if access.is_store)
    for tensor in written:
        if tensor in attributes.disjoint:
            continue
        accesses = [access for access in builder.accesses if access.tensor == tensor]
        for axis in axes:
            if not _check(builder, tensor, accesses, axis):
                break


def _check(builder: Builder, tensor: str, accesses: Sequence[Access], axis: int) -> bool:
    """Whether all is well on one axis of the grid; reported otherwise."""
    if are_separate(builder, accesses, axis):
        return True
    stores = [access for access in accesses if access.is_store]
    loads = [access for access in accesses if not access.is_store]
    for store in stores:
        found = _overlap(builder, store, axis)
        if found is not None:
            detail, fix = found
            hint = None
            if detail.startswith("this does not"):
                hint = (
                    f"begin the span at `{fix}`; one result of all blocks needs a kernel of its own, which reads whole "
                    "tensors and names no block"
                )
            builder.faults.error(catalog.BLOCKS_OVERLAP, store.span, hint=hint, name=tensor, detail=detail, fix=fix)
            return False
    if not loads:
        builder.faults.warning(catalog.WRITES_MAY_OVERLAP, stores[0].span, name=tensor)
        return True
    _report_load(builder, tensor, stores, loads, axis)
    return False


def _report_load(
    builder: Builder, tensor: str, stores: Sequence[Access], loads: Sequence[Access], axis: int
) -> None:
    load = next((load for load in loads if not are_separate(builder, [*stores, load], axis)), loads[0])
    notes = [(stores[0].span, "written here")]
    is_proved = are_separate(builder, stores, axis) and not load.is_conditional and not _is_vague(builder, load)
    row = catalog.BLOCK_READS_FOREIGN if is_proved else catalog.ACCESS_NOT_PROVED
    builder.faults.error(row, load.span, notes=notes, name=tensor)


def are_separate(builder: proofs.Prover, accesses: Sequence[Access], axis: int) -> bool:
    """Proved: blocks that differ on this axis of the grid touch different elements."""
    pins = {access.pinned.get(axis) for access in accesses}
    if len(pins) == 1 and None not in pins:
        return True  # only one block gets there
    rank = len(accesses[0].axes)
    return any(_in_cells(builder, [access.axes[position] for access in accesses], axis) for position in range(rank))


def _in_cells(builder: proofs.Prover, spans: Sequence[tuple[Extent, Extent | None]], axis: int) -> bool:
    """Whether all spans of block b lie within one cell `a * b + base .. a * b + base + a` of a tensor axis."""
    windows: list[tuple[Extent, Extent]] = []
    steps: set[Extent] = set()
    for start, count in spans:
        parts = block_factor(start, axis)
        if parts is None:
            return False
        step, offset = parts
        steps.add(step)
        end = offset + (ONE if count is None else count)
        window = proofs.least(offset, builder.ranges), proofs.largest(end, builder.ranges)
        if not all(_is_common(bound) for bound in window):
            return False
        windows.append(window)
    if len(steps) != 1:
        return False
    (step,) = steps
    if not builder.is_nonnegative(step - ONE):
        return False
    base = windows[0][0]
    for low, _ in windows:
        if builder.is_at_most(low, base):
            base = low
    return all(builder.is_at_most(base, low) and builder.is_at_most(high, base + step) for low, high in windows)


def _is_common(extent: Extent) -> bool:
    """Whether a formula has the same value in all blocks."""
    return all(
        isinstance(atom, Apply) or (isinstance(atom, Symbol) and atom.kind in ("dim", "scalar"))
        for atom in extent.atoms
    )


def _depends(builder: Builder, extent: Extent, axis: int) -> bool | None:
    """Whether a formula depends on the block's index: None where data decides."""
    if BLOCK_SYMBOLS[axis] in extent.atoms:
        return True
    low = proofs.least(extent, builder.ranges)
    return None if any(isinstance(atom, Opaque) for atom in low.atoms) else False


def _overlap(builder: Builder, store: Access, axis: int) -> tuple[str, str] | None:
    """How blocks surely overlap in a store, and the fix, or None."""
    if store.is_conditional:
        return None
    name = f"ctx.block.{'xyz'[axis]}"
    dependent: list[tuple[Extent, Extent | None]] = []
    for start, count in store.axes:
        answers = [_depends(builder, start, axis), _depends(builder, count, axis) if count is not None else False]
        if None in answers:
            return None
        if any(answers):
            dependent.append((start, count))
    if not dependent:
        count = next((count for _, count in store.axes if count is not None), None)
        return f"this does not depend on `{name}`", f"{name} * {count}" if count is not None else name
    if len(dependent) > 1:
        return None
    start, count = dependent[0]
    parts = block_factor(start, axis)
    if parts is None or count is None or count.constant is None or parts[0].constant is None:
        return None
    step = abs(parts[0].constant)
    if count.constant > step:
        return f"spans of {count} that start {step} apart", f"{name} * {count}"
    return None


def _is_vague(builder: Builder, load: Access) -> bool:
    """Whether what a load touches depends on more than dims, blocks and loop counters."""
    for start, count in load.axes:
        for extent in (start, count):
            if extent is None:
                continue
            low = proofs.least(extent, builder.ranges)
            if any(isinstance(a, Opaque) or (isinstance(a, Symbol) and a.kind == "scalar") for a in low.atoms):
                return True
    return False
