"""How many blocks there are: `@grid`, or inferred from the starts of spans."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.sema import lookup
from tilec.sema.attributes import Attributes
from tilec.sema.builder import Access, Builder
from tilec.sema.constants import evaluate_const
from tilec.sema.formulas import read_formula
from tilec.syntax import ast
from tilec.tile.affine import BLOCK_SYMBOLS
from tilec.types import ONE, ZERO, Atom, DType, Extent, Symbol, apply

Grid = tuple[Extent, Extent, Extent]


def infer_grid(builder: Builder, attributes: Attributes) -> Grid | None:
    """The block counts along x, y, z, or None after a diagnostic."""
    if attributes.grid is not None:
        return _declared(builder, attributes)
    counts = [_inferred(builder, axis) if axis in builder.block_uses else ONE for axis in range(3)]
    if any(count is None for count in counts):
        return None
    x, y, z = (count for count in counts if count is not None)
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


def _inferred(builder: Builder, axis: int) -> Extent | None:
    for is_store in (True, False):
        found: tuple[Extent, Access] | None = None
        for access in builder.accesses:
            if access.is_store is not is_store:
                continue
            for count in _counts(builder, access, axis):
                if found is not None and found[0] != count:
                    _report(builder, axis, found, (count, access), is_store)
                    return None
                found = found or (count, access)
        if found is not None:
            return found[0]
    builder.faults.error(catalog.GRID_UNKNOWN, builder.block_uses[axis], axis="xyz"[axis])
    return None


def _counts(builder: Builder, access: Access, axis: int) -> list[Extent]:
    """The numbers of blocks that one access implies."""
    counts = []
    for (start, _), dim in zip(access.axes, builder.tensors[access.tensor].dims, strict=True):
        parts = block_factor(start, axis)
        if parts is None:
            continue
        step, _ = parts
        if step.constant is not None and step.constant <= 0:
            continue
        if all(_is_launch(atom) for atom in step.atoms):
            counts.append(apply("ceildiv", dim, step))
    return counts


def _is_launch(atom: Atom) -> bool:
    return not isinstance(atom, Symbol) or atom.kind in ("dim", "scalar")


def _report(
    builder: Builder, axis: int, first: tuple[Extent, Access], second: tuple[Extent, Access], is_store: bool
) -> None:
    notes = [(first[1].span, f"this one gives `{first[0]}`")]
    builder.faults.error(
        catalog.GRID_DISAGREES, second[1].span, notes=notes, uses="stores" if is_store else "loads", axis="xyz"[axis],
        left=first[0], right=second[0],
    )  # fmt: skip


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
