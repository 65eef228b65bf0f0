"""`assert condition, "message"` and `print(value)`: reports, which debug builds keep and others drop."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.sema import core
from tilec.sema.builder import Builder
from tilec.sema.items import Item, join
from tilec.tile import ir
from tilec.tile.make import make_pointwise, make_reduce
from tilec.tile.reports import MOST_VALUES
from tilec.types import SCALAR_BOOL, SCALAR_I32, DType, TileType


def infer_assert(builder: Builder, node: core.Asserts) -> None:
    """A report of the lanes where the condition does not hold, with the values that it names."""
    item = builder.items[node.condition]
    if not item.is_known:
        return
    if item.dtype is not DType.BOOL:
        builder.faults.error(
            catalog.CONDITION_NOT_BOOL, item.span, statement="assert", found=item.dtype, text=item.text
        )
        return
    if item.constant is not None and item.constant.value:
        return
    where = _make(builder, "not", node, builder.value(item))
    for guard, wanted in node.guards:
        found = _guarded(builder, node, where, builder.items[guard], wanted)
        if found is None:
            return
        where = found
    shape = where.type.shape
    named = [(name, builder.items[value]) for name, value in node.named]
    shown = [(name, one) for name, one in named if one.is_known and join([shape, one.shape]) == shape][:MOST_VALUES]
    values = tuple(builder.value(one) for _, one in shown)
    names = tuple(name for name, _ in shown)
    builder.emit(ir.Report(SCALAR_BOOL, node.span, "assert", where, values, node.message, names))


def _guarded(builder: Builder, node: core.Asserts, where: ir.Value, guard: Item, wanted: bool) -> ir.Value | None:
    """The lanes of `where` on whose side of a `where` with this condition the assert stands; None: never there."""
    if not guard.is_known or guard.dtype is not DType.BOOL:
        return where
    if guard.constant is not None:
        return where if guard.constant.value is wanted else None
    shape = where.type.shape
    taken = builder.value(guard)
    if not wanted:
        taken = _make(builder, "not", node, taken)
    # A lane counts if its side is taken in any lane that it is stretched to.
    offset = taken.type.rank - len(shape)
    axes = tuple(
        axis
        for axis, extent in enumerate(taken.type.shape)
        if not extent.is_one and (axis < offset or shape[axis - offset].is_one)
    )
    if axes:
        taken = builder.emit(make_reduce("any", taken, axes, node.span))
    if offset > 0:
        kept = tuple(range(offset, taken.type.rank))
        type_ = taken.type
        if any(type_.active[axis] for axis in range(offset)):
            return where
        view = TileType(type_.dtype, type_.shape[offset:], type_.active[offset:])
        taken = builder.emit(ir.View(view, node.span, taken, kept))
    if join([shape, taken.type.shape]) != shape:
        return where
    return _make(builder, "and", node, where, taken)


def infer_print(builder: Builder, node: core.Prints) -> None:
    """A report of all active lanes of a value."""
    item = builder.items[node.value]
    if not item.is_known:
        return
    value = builder.value(item)
    # True in every lane, and active where the value is.
    some = _make(builder, "eq", node, value, value)
    where = _make(builder, "or", node, some, _make(builder, "not", node, some))
    values: tuple[ir.Value, ...] = (value,)
    if value.type.rank:  # beside the value, how many there are: only the first are told of
        axes = tuple(range(value.type.rank))
        values += (builder.emit(ir.ActiveCount(SCALAR_I32, node.span, value, axes, False)),)
    names = (node.label, "of")[: len(values)]
    builder.emit(ir.Report(SCALAR_BOOL, node.span, "print", where, values, node.label, names))


def _make(builder: Builder, op: str, node: core.Node, *operands: ir.Value) -> ir.Value:
    return builder.emit(make_pointwise(op, operands, node.span))
