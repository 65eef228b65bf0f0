"""`var`s and out parameters: declaration and assignment."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.sema import core
from tilec.sema.builder import Builder, OutLocal, ResolvedPlace
from tilec.sema.elementwise import meet_pending
from tilec.sema.items import Item, Shape, bare_shape, show_type
from tilec.sema.memory import converts, fit, read, resolve_place, shaped, write
from tilec.source import Span
from tilec.tile import ir
from tilec.types import DType, TileType, broadcast_activity


def declare(builder: Builder, node: core.Declare) -> None:
    """A cell begins; from here on its type is fixed."""
    item = builder.settled(builder.items[node.value])
    _name(item, node.cell.name)
    builder.cells[node.cell] = item


def read_cell(builder: Builder, node: core.CellRead) -> Item:
    """What the cell holds here."""
    item = builder.cells.get(node.cell)
    if item is None:
        return builder.poison(node.span)
    return item.used_at(node.span)


def _name(item: Item, name: str) -> None:
    if item.value is not None and not item.value.name:
        item.value.name = name


def assign(builder: Builder, cell: core.Cell, item: Item, span: Span) -> None:
    """`cell = item`: converts and stretches to the cell's type; lanes that are inactive in the value keep theirs."""
    if cell not in builder.cells:
        first_assignment(builder, cell, item, span)
        return
    old = builder.cells[cell]
    if old.pending is not None or item.pending is not None:
        _assign_pending(builder, cell, old, item, span)
        return
    if old.is_poison or item.is_poison:
        builder.cells[cell] = builder.poison(span)
        return
    new = _converted(builder, cell, item, old.dtype, old.shape, span)
    if new is None:
        builder.cells[cell] = builder.poison(span)
    elif not old.shape:
        builder.cells[cell] = builder.settled(new)
    else:
        builder.cells[cell] = _updated(builder, old, builder.value(new), cell.name, span)


def _assign_pending(builder: Builder, cell: core.Cell, old: Item, item: Item, span: Span) -> None:
    if old.is_poison or item.is_poison:
        return
    builder.cells[cell] = meet_pending(builder, [old, item], old.dtype, span) if old.pending is not None else old
    if old.is_known:
        meet_pending(builder, [old, item], old.dtype, span)


def _updated(builder: Builder, old: Item, new: ir.Value, name: str, span: Span) -> Item:
    """The old value with the new one where that is active."""
    before = builder.value(old)
    if new.type.shape == before.type.shape and new.type.active == before.type.active:
        return builder.item(new, span)
    return builder.item(builder.emit(ir.Update(before.type, span, before, new, name=name)), span)


def _converted(
    builder: Builder, cell: core.Cell, item: Item, dtype: DType, shape: Shape, span: Span
) -> Item | None:
    """The item as something that can be assigned to a cell of this type, or None after a diagnostic."""
    if not converts(builder, item, dtype):
        expected = f"`{dtype}`"
        hint = f"convert it: `{dtype}({item.text})`"
        if item.dtype is DType.F32 and dtype is DType.I32:
            hint = f"declare `{cell.name}` with a float, `var {cell.name} = 0.0`, or convert with `i32(...)`"
        _refuse(builder, cell, item, expected, show_type(item), hint)
        return None
    if not item.shape and not shape:
        if item.constant is not None or item.dtype is dtype:
            return item if item.constant is None else constant_item(builder, item, dtype)
        return builder.item(builder.value(item, dtype), span)
    value = fit(builder, builder.value(item, dtype), shape, span)
    if value is None:
        declared = f"`var {cell.name}: tile<{dtype}>[{', '.join(map(str, item.shape))}] = ...`"
        hint = f"declare it with the shape that it will hold: {declared}" if len(item.shape) >= len(shape) else None
        expected = f"of shape {bare_shape(shape)}" if shape else "one value"
        _refuse(builder, cell, item, expected, f"a value of shape {bare_shape(item.shape)}", hint)
        return None
    return builder.item(value, span)


def constant_item(builder: Builder, item: Item, dtype: DType) -> Item:
    """A known scalar as one of `dtype`."""
    from tilec.sema.constants import Constant
    from tilec.types import Extent

    value = builder.constant(item, dtype)
    extent = Extent.of(int(value)) if dtype is DType.I32 else None
    return Item(item.span, constant=Constant(value, dtype), extent=extent)


def _refuse(builder: Builder, cell: core.Cell, item: Item, expected: str, found: str, hint: str | None) -> None:
    notes = [(cell.span, f"`{cell.name}` is declared here")]
    builder.faults.error(
        catalog.VAR_TYPE, item.span, notes=notes, hint=hint, name=cell.name, expected=expected, found=found
    )


# --- out parameters


def declare_out(builder: Builder, node: core.DeclareOut) -> None:
    """An out parameter's local begins, with the place's value if that will be read."""
    if isinstance(node.target, core.Cell):
        builder.outs[node.cell] = OutLocal(None, node.target)
        if node.copies and node.target in builder.cells:
            builder.cells[node.cell] = builder.cells[node.target]
        return
    place = resolve_place(builder, node.target)
    builder.outs[node.cell] = OutLocal(place, None)
    if place is None:
        builder.cells[node.cell] = builder.poison(node.span)
    elif node.copies:
        builder.cells[node.cell] = _in_shape(builder, read(builder, place, place.span), place.shape)


def _in_shape(builder: Builder, item: Item, shape: Shape) -> Item:
    assert item.shape == shape
    return item


def first_assignment(builder: Builder, cell: core.Cell, item: Item, span: Span) -> None:
    """An out parameter's local takes the type of its place and the activity of the first value assigned to it."""
    expected = expected_type(builder, cell)
    if item.pending is not None and expected is not None:
        item = meet_pending(builder, [item, shaped(expected.shape, span)], item.dtype, span)
    if expected is None or not item.is_known:
        builder.cells[cell] = item if item.pending is not None else builder.poison(span)
        return
    place = _place(builder, cell)
    if place is not None and place.tensor.dtype.compute is not item.dtype and _is_integer(item, expected.dtype):
        item = builder.item(builder.value(item, expected.dtype), span)  # any integer goes into any integer tensor
    new = _converted(builder, cell, item, expected.dtype, expected.shape, span)
    if new is None:
        builder.cells[cell] = builder.poison(span)
        return
    if new.shape != expected.shape:
        value = builder.value(new)
        active = broadcast_activity(expected.shape, [value.type])
        type_ = TileType(expected.dtype, expected.shape, active)
        new = builder.item(builder.emit(ir.Broadcast(type_, span, value)), span)
    builder.cells[cell] = builder.settled(new)


def _is_integer(item: Item, dtype: DType) -> bool:
    integers = (DType.I32, DType.U32)
    return item.dtype in integers and dtype in integers


def expected_type(builder: Builder, cell: core.Cell) -> TileType | None:
    """The type of an out parameter's place, through the callers' own out parameters."""
    out = builder.outs.get(cell)
    while out is not None:
        if out.place is not None:
            return TileType(out.place.tensor.dtype.compute, out.place.shape)
        if out.cell is None:
            return None  # a place that was not understood
        if out.cell in builder.cells:
            held = builder.cells[out.cell]
            return held.type if held.is_known else None
        out = builder.outs.get(out.cell)
    return None


def _place(builder: Builder, cell: core.Cell) -> ResolvedPlace | None:
    out = builder.outs.get(cell)
    while out is not None and out.place is None:
        assert out.cell is not None
        out = builder.outs.get(out.cell)
    return out.place if out is not None else None


def finish_out(builder: Builder, node: core.FinishOut) -> None:
    """The local is stored into its place, or assigned to the caller's cell."""
    item = builder.cells.get(node.cell)
    if item is None:
        item = builder.poison(node.span)
    out = builder.outs[node.cell]
    if out.cell is not None:
        assign(builder, out.cell, item, node.span)
    elif out.place is not None:
        write(builder, out.place, item, node.span)
