"""Warns of elements of a stored tensor that no block writes: a grid with too few blocks, gaps between blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from tilec.diag import catalog
from tilec.sema.attributes import Attributes
from tilec.sema.builder import Access, Builder
from tilec.sema.constants import Constant, apply_constant, constant_of
from tilec.sema.grid import Grid, amount, block_factor
from tilec.tile import ir
from tilec.types import ONE, DType, Extent, Opaque, Symbol, apply

_SIZES = (64, 10, 1000, 1, 7)
"""What the dims of an example may be: one in which blocks are missing proves that they can be."""
_MOST_DIMS = 4


@dataclass(frozen=True, slots=True)
class _Cells:
    """Along an axis (`position`) of a tensor, what blocks store: from `step` times the index of the grid's `axis`."""

    tensor: str
    position: int
    axis: int
    step: Extent
    offsets: tuple[tuple[Extent, Extent], ...]
    """Where the stores of a block begin and end, from there on."""
    store: Access


def check_coverage(builder: Builder, grid: Grid, attributes: Attributes, access: Mapping[str, str]) -> None:
    """Reports, once a tensor, that blocks leave elements out: for some sizes, of which the message gives one.

    Gaps between blocks are reported of outputs only: to update every second row is a thing to do.
    """
    stores: dict[str, list[Access]] = {}
    for one in builder.accesses:
        if one.is_store:
            stores.setdefault(one.tensor, []).append(one)
    found = [cells for tensor, own in stores.items() for cells in _cells(tensor, own)]
    reported: set[str] = set()
    for cells in found:
        if cells.tensor in reported:
            continue
        is_short = attributes.grid is not None and _check_blocks(builder, cells, grid, attributes, found)
        if is_short or (access[cells.tensor] == "out" and _check_gaps(builder, cells)):
            reported.add(cells.tensor)


def _cells(tensor: str, stores: Sequence[Access]) -> list[_Cells]:
    """The axes along which all stores of a tensor follow the blocks in the same steps."""
    found = []
    for position, axis in product(range(len(stores[0].axes)), range(3)):
        steps, offsets = set[Extent](), list[tuple[Extent, Extent]]()
        for store in stores:
            start, count = store.axes[position]
            parts = block_factor(start, axis)
            if parts is None or not all(_is_of_dims(extent) for extent in (*parts, count or ONE)):
                break
            steps.add(parts[0])
            offsets.append((parts[1], parts[1] + (count or ONE)))
        if len(offsets) == len(stores) and len(steps) == 1:
            found.append(_Cells(tensor, position, axis, steps.pop(), tuple(offsets), stores[0]))
    return found


def _is_of_dims(extent: Extent) -> bool:
    """Whether dims alone decide, so that an example can be computed."""
    return not any(
        isinstance(atom, Opaque) or (isinstance(atom, Symbol) and atom.kind != "dim") for atom in extent.atoms
    )


# --- too few blocks


def _check_blocks(
    builder: Builder, cells: _Cells, grid: Grid, attributes: Attributes, found: Sequence[_Cells]
) -> bool:
    """Whether `@grid` has too few blocks for an axis of a tensor, for some sizes; reported."""
    dim, blocks = builder.tensors[cells.tensor].dims[cells.position], grid[cells.axis]
    sizes = _example(builder, cells, blocks, dim)
    if sizes is None:
        return False
    needed = apply("ceildiv", dim, cells.step)
    node = attributes.grid_node
    assert node is not None
    given = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    had = blocks.evaluate(sizes)
    length = amount(builder, cells.tensor, cells.position)
    builder.faults.warning(
        catalog.GRID_LEAVES_OUT, cells.store.span, notes=[(node.span, f"{had} {'block' if had == 1 else 'blocks'}")],
        hint=_hint(builder, cells, grid, needed, found), name=cells.tensor, length=length, step=cells.step,
        blocks=f"with {given} there are {had}" if given else f"there are {had}", needed=needed.evaluate(sizes),
    )  # fmt: skip
    return True


def _example(builder: Builder, cells: _Cells, blocks: Extent, dim: Extent) -> dict[str, int] | None:
    """Sizes of dims for which the blocks end before the tensor's axis does."""
    extents = [blocks, dim, cells.step, *(end for _, end in cells.offsets)]
    if not all(_is_of_dims(extent) for extent in extents):
        return None
    names = sorted({atom.name for extent in extents for atom in extent.atoms if isinstance(atom, Symbol)})
    if len(names) > _MOST_DIMS:
        return None
    for numbers in product(_SIZES, repeat=len(names)):
        sizes: dict[str, int] = dict(zip(names, numbers, strict=True))
        length, step, count = (extent.evaluate(sizes) for extent in (dim, cells.step, blocks))
        reach = max(end.evaluate(sizes) for _, end in cells.offsets)
        end = (count - 1) * step + reach if count > 0 else 0
        if step > 0 and end < length and _is_allowed(builder, sizes):
            return sizes
    return None


def _is_allowed(builder: Builder, sizes: Mapping[str, int]) -> bool:
    """Whether no `require` of the kernel rules these sizes out."""
    for requirement in builder.requirements:
        known = _value(requirement.condition, sizes)
        if known is None or not known.value:
            return False
    return True


def _value(value: ir.Value, sizes: Mapping[str, int]) -> Constant | None:
    """What a condition on sizes is; None where it depends on more."""
    match value:
        case ir.Const():
            return constant_of(value.value)
        case ir.Dim():
            names = {atom.name for atom in value.extent.atoms if isinstance(atom, Symbol)}
            return Constant(value.extent.evaluate(sizes), DType.I32) if names <= sizes.keys() else None
        case ir.Pointwise():
            operands = [_value(operand, sizes) for operand in value.operands]
            known = [operand for operand in operands if operand is not None]
            return apply_constant(value.op, known) if len(known) == len(operands) else None
    return None


def _hint(builder: Builder, cells: _Cells, grid: Grid, needed: Extent, found: Sequence[_Cells]) -> str:
    blocks, texts = grid[cells.axis], [str(count) for count in grid]
    is_enough = blocks.constant is not None or builder.is_at_most(blocks, needed)
    texts[cells.axis] = str(needed) if is_enough else f"max({blocks}, {needed})"
    while len(texts) > 1 and texts[-1] == "1":
        texts.pop()
    fix = f"`@grid({', '.join(texts)})` covers all of `{cells.tensor}`"
    dim = builder.tensors[cells.tensor].dims[cells.position]
    for other in found:
        other_dim = builder.tensors[other.tensor].dims[other.position]
        is_covered = apply("ceildiv", other_dim, other.step) == blocks
        if other.axis == cells.axis and is_covered and other_dim != dim:
            left, right = amount(builder, other.tensor, other.position), amount(builder, cells.tensor, cells.position)
            question = f"`{cells.tensor}` has {right}, `{other.tensor}` {left}: are they meant to be the same dim?"
            return f"{question} Where they are not, {fix}"
    return fix


# --- gaps


def _check_gaps(builder: Builder, cells: _Cells) -> bool:
    """Whether blocks surely leave elements between them; reported."""
    step = cells.step.constant
    written: set[int] = set()
    for low, high in cells.offsets:
        if step is None or step < 2 or low.constant is None or high.constant is None:
            return False
        written |= {lane % step for lane in range(low.constant, min(high.constant, low.constant + step))}
    assert step is not None
    dim = builder.tensors[cells.tensor].dims[cells.position]
    if len(written) >= step or (dim.constant is not None and dim.constant <= len(written)):
        return False
    count = cells.store.axes[cells.position][1]
    name = f"ctx.block.{'xyz'[cells.axis]}"
    is_vector = len(builder.tensors[cells.tensor].dims) == 1
    start = name if len(written) == 1 else f"{name} * {len(written)}"
    hint = f"begin at `{start}`"
    if len(cells.offsets) == 1 and count is not None:
        hint = f"take all {step}, `:+ {step}`, or {hint}"
    builder.faults.warning(
        catalog.BLOCKS_LEAVE_GAPS, cells.store.span, hint=hint, written=len(written), step=step,
        what="elements" if is_vector else "rows" if cells.position == 0 else f"elements of axis {cells.position}",
        name=cells.tensor,
    )  # fmt: skip
    return True
