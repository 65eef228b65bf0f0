"""How many blocks there are: `@grid`, or inferred from the starts of spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilec.diag import catalog
from tilec.sema import lookup
from tilec.sema.attributes import Attributes
from tilec.sema.builder import Access, Builder
from tilec.sema.constants import evaluate_const
from tilec.sema.formulas import read_formula
from tilec.source import Span
from tilec.syntax import ast
from tilec.tile.affine import BLOCK_SYMBOLS
from tilec.types import ONE, ZERO, DType, Extent, Symbol, apply

Grid = tuple[Extent, Extent, Extent]


def infer_grid(builder: Builder, attributes: Attributes) -> Grid | None:
    """The block counts along x, y, z, or None after a diagnostic."""
    if attributes.grid is not None:
        return _declared(builder, attributes)
    found = [_implied(builder, axis) if axis in builder.block_uses else [] for axis in range(3)]
    is_whole = True
    for axis, counts in enumerate(found):
        if axis in builder.block_uses and not counts:
            _report_unknown(builder, axis)
            is_whole = False
        elif len(counts) > 1:
            _report(builder, axis, found)
            is_whole = False
    if not is_whole:
        return None
    x, y, z = (counts[0].count if counts else ONE for counts in found)
    return x, y, z


def block_factor(start: Extent, axis: int) -> tuple[Extent, Extent] | None:
    """`(a, c)` where `start` is `a * ctx.block.<axis> + c`, a not 0, and c has no block index; else None."""
    symbol = BLOCK_SYMBOLS[axis]
    factor = ZERO
    for monomial, number in start.terms:
        if monomial.count(symbol) == 1:
            rest = tuple(atom for atom in monomial if atom != symbol)
            factor = factor + Extent(((rest, number),))
    offset = start - factor * Extent.of(symbol)
    if factor == ZERO or depends_on_block(offset) or depends_on_block(factor):
        return None
    return factor, offset


def depends_on_block(extent: Extent) -> bool:
    """Whether a block index occurs in the formula itself."""
    return any(isinstance(atom, Symbol) and atom.kind == "block" for atom in extent.atoms)


@dataclass(frozen=True, slots=True)
class Implied:
    """A number of blocks that an access implies: blocks take `step` elements each of an axis of its tensor."""

    count: Extent
    access: Access
    position: int
    step: Extent


def _implied(builder: Builder, axis: int) -> list[Implied]:
    """The different numbers of blocks that stores imply, or loads where no store does; one use for each."""
    for is_store in (True, False):
        found: dict[Extent, Implied] = {}
        for access in builder.accesses:
            if access.is_store is is_store:
                for implied in _of_access(builder, access, axis):
                    found.setdefault(implied.count, implied)
        if found:
            return list(found.values())
    return []


def _of_access(builder: Builder, access: Access, axis: int) -> list[Implied]:
    """The numbers of blocks that one access implies."""
    found = []
    for position, ((start, _), dim) in enumerate(zip(access.axes, builder.tensors[access.tensor].dims, strict=True)):
        parts = block_factor(start, axis)
        if parts is None:
            continue
        step, _ = parts
        if step.constant is not None and step.constant <= 0:
            continue
        if step.is_for_host:
            found.append(Implied(apply("ceildiv", dim, step), access, position, step))
    return found


def _report_unknown(builder: Builder, axis: int) -> None:
    """Nothing says how many blocks there are: no span starts at the block's index, or those that do are so far apart
    as only the running kernel finds out."""
    used, notes = "used here, but never as the start of a span", list[tuple[Span, str]]()
    for access in builder.accesses:
        steps = [parts[0] for start, _ in access.axes if (parts := block_factor(start, axis)) is not None]
        if not all(step.is_for_host for step in steps):
            used = "used here, times a number that only the running kernel knows"
            notes = [(access.span, "where the next block begins must be known at the launch")]
            break
    builder.faults.error(catalog.GRID_UNKNOWN, builder.block_uses[axis], notes=notes, axis="xyz"[axis], used=used)


def _report(builder: Builder, axis: int, found: Sequence[Sequence[Implied]]) -> None:
    first, second = found[axis][:2]
    notes = [(first.access.span, f"this one gives `{first.count}`")]
    builder.faults.error(
        catalog.GRID_DISAGREES, second.access.span, notes=notes, hint=_hint(builder, first, second, found),
        uses="stores" if second.access.is_store else "loads", axis="xyz"[axis], left=first.count, right=second.count,
    )  # fmt: skip


def _hint(builder: Builder, first: Implied, second: Implied, found: Sequence[Sequence[Implied]]) -> str:
    """What two uses disagree about, and the grid that has a block for everything."""
    used = max(axis for axis, counts in enumerate(found) if counts)
    largest = f"`@grid({', '.join(_largest(counts) for counts in found[: used + 1])})` covers all"
    left, right = (builder.tensors[one.access.tensor].dims[one.position] for one in (first, second))
    if left != right:
        left_text, right_text = (amount(builder, one.access.tensor, one.position) for one in (first, second))
        question = f"`{first.access.tensor}` has {left_text}, `{second.access.tensor}` {right_text}"
        return f"{question}: are they meant to be the same dim? Where they are not, {largest}"
    if first.step != second.step:
        return f"take `{left}` by one block size, not by {first.step} here and {second.step} there; or {largest}"
    return largest


def amount(builder: Builder, tensor: str, position: int) -> str:
    """How long an axis of a tensor is, in words: `R rows`."""
    dims = builder.tensors[tensor].dims
    if len(dims) == 1:
        return f"{dims[0]} elements"
    if position == 0:
        return f"{dims[0]} rows"
    return f"{dims[position]} columns" if position == len(dims) - 1 else f"{dims[position]} along axis {position}"


def _largest(counts: Sequence[Implied]) -> str:
    text = str(counts[0].count) if counts else "1"
    for other in counts[1:]:
        text = f"max({text}, {other.count})"
    return text


def _declared(builder: Builder, attributes: Attributes) -> Grid | None:
    assert attributes.grid is not None
    counts: list[Extent] = []
    for node in attributes.grid:
        extent = read_formula(node, lambda name: _launch_name(builder, name), lambda n, _: _not_launch(builder, n))
        if extent is None:
            return None
        counts.append(extent)
    x, y, z = (*counts, ONE, ONE)[:3]
    return x, y, z


def _launch_name(builder: Builder, node: ast.Name) -> Extent | None:
    name = node.name
    if name in builder.signature.dims:
        return Extent.of(Symbol(name, "dim"))
    parameter = builder.signature.parameter(name)
    if parameter is not None and parameter.kind == "scalar" and parameter.alternatives[0] is DType.I32:
        constant = builder.constants.get(name)
        return Extent.of(int(constant.value)) if constant else Extent.of(Symbol(name, "scalar", nonnegative=False))
    found = lookup.find_constant(builder.signature.scope, name)
    if found is not None:
        constant = evaluate_const(*found, builder.faults.reporter)
        if constant is not None and constant.dtype is DType.I32:
            return Extent.of(int(constant.value))
    what = "a tensor" if parameter is not None and parameter.kind == "tensor" else "no integer"
    builder.faults.error(catalog.GRID_NOT_LAUNCH, node.span, name=name, what=what)
    return None


def _not_launch(builder: Builder, node: ast.Expr) -> None:
    builder.faults.error(catalog.GRID_NOT_LAUNCH, node.span, name=node.span.text, what="no formula of them")
