"""Makes instructions with the types that follow from their operands, for passes."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.errors import InternalError
from tilec.ops import POINTWISE, REDUCTIONS, Operand, apply_rule
from tilec.source import Span
from tilec.tile import ir
from tilec.types import ONE, DType, Extent, TileType, broadcast_activity


def broadcast_shape(shapes: Sequence[tuple[Extent, ...]]) -> tuple[Extent, ...]:
    """The shape of an elementwise result: aligned at the last axis, a literal 1 stretches. Raises InternalError."""
    rank = max(map(len, shapes))
    result: list[Extent] = []
    for axis in range(rank):
        extents = {shape[axis - rank + len(shape)] for shape in shapes if axis >= rank - len(shape)}
        wide = [extent for extent in extents if not extent.is_one]
        if len(wide) > 1:
            raise InternalError("tile.make", f"extents {wide[0]} and {wide[1]} do not broadcast")
        result.append(wide[0] if wide else ONE)
    return tuple(result)


def make_constant(value: bool | int | float, dtype: DType, span: Span) -> ir.Const:
    """A literal scalar."""
    return ir.Const(TileType(dtype), span, value)


def make_pointwise(op: str, operands: Sequence[ir.Value], span: Span, name: str = "") -> ir.Pointwise:
    """The row applied to operands that already have the dtypes that its rule wants. Raises InternalError."""
    signature = apply_rule(POINTWISE[op].rule, [Operand(operand.type.dtype) for operand in operands])
    if signature.operands != tuple(operand.type.dtype for operand in operands):
        raise InternalError("tile.make", f"operands of {op} are not converted")
    shape = broadcast_shape([operand.type.shape for operand in operands])
    active = broadcast_activity(shape, [operand.type for operand in operands])
    return ir.Pointwise(TileType(signature.result, shape, active), span, op, tuple(operands), name=name)


def make_reduce(
    op: str, operand: ir.Value, axes: tuple[int, ...], span: Span, *, keeps_axes: bool = True, name: str = ""
) -> ir.Reduce:
    """The reduction of an operand that already has the dtype that the row wants."""
    signature = apply_rule(REDUCTIONS[op].rule, [Operand(operand.type.dtype)])
    tile = reduced_type(operand.type, axes, keeps_axes=keeps_axes).with_dtype(signature.result)
    return ir.Reduce(tile, span, op, operand, axes, keeps_axes, name=name)


def make_pick(operand: ir.Value, index: ir.Value, span: Span, name: str = "") -> ir.Pick:
    """The element of `operand`'s last axis at `index`, which has extent 1 there."""
    shape = broadcast_shape([operand.type.shape[:-1], index.type.shape[:-1]])
    leading = [TileType(tile.dtype, tile.shape[:-1], tile.active[:-1]) for tile in (operand.type, index.type)]
    active = (*broadcast_activity(shape, leading), index.type.active[-1])
    return ir.Pick(TileType(operand.type.dtype, (*shape, ONE), active), span, operand, index, name=name)


def reduced_type(tile: TileType, axes: tuple[int, ...], *, keeps_axes: bool) -> TileType:
    """The type after a reduction over `axes` (not negative): they go, or stay with extent 1, all lanes active."""
    shape: list[Extent] = []
    active = []
    for axis, (extent, bounds) in enumerate(zip(tile.shape, tile.active, strict=True)):
        if axis not in axes:
            shape.append(extent)
            active.append(bounds)
        elif keeps_axes:
            shape.append(ONE)
            active.append(frozenset())
    return TileType(tile.dtype, tuple(shape), tuple(active))
