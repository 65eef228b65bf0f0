"""Built-in operations that are no pointwise rows: reductions, iota, onehot, extent, pad, pick; and views of tiles."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.ops import TypeRuleError, apply_rule
from tilec.sema import core
from tilec.sema.builder import Builder
from tilec.sema.constants import Constant, constant_of
from tilec.sema.elementwise import broadcast, meet_pending, pointwise, report_mismatch
from tilec.sema.gradients import infer_gradient, infer_stop
from tilec.sema.items import Item, Pending, bare_shape, is_of_dims, join
from tilec.sema.reductions import axis_of, constant_index, infer_reduction, refuse, refuse_rank
from tilec.source import Span
from tilec.tile import ir
from tilec.tile.wrapping import stays
from tilec.types import ONE, ZERO, DType, Extent, TileType, apply, broadcast_activity


def infer_builtin(builder: Builder, node: core.Builtin) -> Item:
    """The item of a built-in call; faults are reported."""
    operands = [builder.items[operand] for operand in node.operands]
    match node.function:
        case "iota":
            return _iota(builder, node, operands)
        case "extent":
            return _extent(builder, node, operands)
        case "program_id":
            axis = constant_index(builder, operands[0], "the axis of `program_id`")
            return _block(builder, node, axis)
    if any(operand.is_poison for operand in operands):
        return builder.poison(node.span)
    match node.function:
        case "grad":
            return infer_gradient(builder, node)
        case "stop_grad":
            return infer_stop(builder, node)
        case "onehot":
            return _onehot(builder, node, operands)
        case "pad":
            return _pad(builder, operands, node.span)
        case "pick":
            return _pick(builder, operands, node.span)
    return infer_reduction(builder, node, operands[0])


# --- positions


def _block(builder: Builder, node: core.Builtin, axis: int | None) -> Item:
    if axis is None:
        return builder.poison(node.span)
    if not 0 <= axis <= 2:
        builder.faults.error(catalog.AXIS_RANGE, node.span, axis=axis, shape="of the grid", axes="0, 1 and 2")
        return builder.poison(node.span)
    return block_index(builder, axis, node.span)


def block_index(builder: Builder, axis: int, span: Span) -> Item:
    """`ctx.block.x|y|z`."""
    from tilec.tile.affine import BLOCK_SYMBOLS

    builder.block_uses.setdefault(axis, span)
    value = builder.emit(ir.BlockIndex(TileType(DType.I32), span, axis))
    return Item(span, value, extent=Extent.of(BLOCK_SYMBOLS[axis]))


def _iota(builder: Builder, node: core.Builtin, operands: list[Item]) -> Item:
    axis = constant_index(builder, operands[0], "the axis of `iota`")
    if axis is None:
        return builder.poison(node.span)
    if not 0 <= axis <= 3:
        builder.faults.error(catalog.AXIS_RANGE, operands[0].span, axis=axis, shape="of any tile", axes="0 to 3")
        return builder.poison(node.span)
    solution = builder.iotas.solutions[node]
    solution.axis = axis
    if len(operands) == 2:
        extent = length(builder, operands[1])
        if extent is None:
            return builder.poison(node.span)
        solution.extent = extent
    known = solution.extent
    if solution.rank is None and known is not None and not builder.is_trial:
        solution.rank = axis + 1
    if solution.rank is None or known is None:
        if builder.is_trial:
            return Item(node.span, pending=Pending(frozenset({node}), (), DType.I32), is_weak=True)
        hint = f"axes count from 0; or say how long it is: `iota({axis}, n)`" if axis else None
        builder.faults.error(catalog.IOTA_UNDETERMINED, node.span, hint=hint, axis=axis)
        return builder.poison(node.span)
    extent = builder.translated(known)
    if extent is None:
        hint = f"its length is computed later: say it, `iota({axis}, n)`"
        builder.faults.error(catalog.IOTA_UNDETERMINED, node.span, hint=hint, axis=axis)
        return builder.poison(node.span)
    shape = tuple(extent if position == axis else ONE for position in range(solution.rank))
    value = builder.emit(ir.Iota(TileType(DType.I32, shape), node.span, axis))
    return Item(node.span, value, is_weak=True, iotas=frozenset({node}))


def length(builder: Builder, item: Item) -> Extent | None:
    """A scalar integer as a number of lanes; less than 0 counts as 0. None after a diagnostic."""
    if not item.is_known:
        return None
    if item.dtype is not DType.I32 or item.shape:
        found = f"a tile of shape {bare_shape(item.shape)}" if item.shape else f"`{item.dtype}`"
        builder.faults.error(catalog.SUBSCRIPT_TYPE, item.span, found=found)
        return None
    extent = Extent.of(int(builder.constant(item, DType.I32))) if item.constant is not None else item.extent
    assert extent is not None
    if extent.constant is not None:
        return Extent.of(max(0, extent.constant))
    if is_of_dims(extent) or (stays(extent, builder.ranges) and builder.is_nonnegative(extent)):
        return extent
    return apply("max", extent, ZERO)


def subject_of(builder: Builder, node: core.Node) -> Item:
    """What `extent` or a declared type is about: a value, or a tensor by its name."""
    if isinstance(node, core.WholeTensor):
        tensor = builder.tensors[node.tensor]
        return Item(node.span, ir.Argument(TileType(tensor.dtype.compute, tensor.dims), node.span))
    return builder.items[node]


def _extent(builder: Builder, node: core.Builtin, operands: list[Item]) -> Item:
    shown = subject_of(builder, node.operands[0])
    axis = axis_of(builder, operands[1], shown, "the axis of `extent`")
    if axis is None:
        return builder.poison(node.span)
    return extent_item(builder, shown.shape[axis], node.span)


def extent_item(builder: Builder, extent: Extent, span: Span) -> Item:
    if extent.constant is not None:
        constant = Constant(extent.constant, DType.I32, True)
        return Item(span, constant=constant, extent=extent, is_weak=True)
    if is_of_dims(extent):
        return Item(span, extent=extent, is_weak=True)
    return Item(span, builder.extent_value(extent, span), extent=extent)


def _with_last_axis(text: str, rank: int) -> str:
    """A hint that gives a vector or tile an axis of extent 1."""
    named = f"{text[:-1]}, new]" if text.endswith("]") else f"{text}[{':, ' * rank}new]"
    return f"give it an axis of extent 1 at the end: `{named}`"


def _onehot(builder: Builder, node: core.Builtin, operands: list[Item]) -> Item:
    target, count = operands
    extent = length(builder, count)
    if extent is None or not target.is_known:
        return builder.poison(node.span)
    if target.dtype not in (DType.I32, DType.U32):
        refuse(builder, target, "onehot", "integers")
        return builder.poison(node.span)
    if target.shape and not target.shape[-1].is_one:
        hint = _with_last_axis(target.text, len(target.shape))
        builder.faults.error(
            catalog.RANK_MISMATCH, target.span, hint=hint, operation="onehot", shape=bare_shape(target.shape),
            expected="one index a row (a last axis of extent 1)", rank=len(target.shape),
        )  # fmt: skip
        return builder.poison(node.span)
    rank = max(1, len(target.shape))
    shape = (*(ONE,) * (rank - 1), extent)
    lanes = builder.emit(ir.Iota(TileType(DType.I32, shape), node.span, rank - 1))
    equal = pointwise(builder, "eq", [Item(node.span, lanes, is_weak=True), target], node.span, "onehot")
    return pointwise(builder, "f32", [equal], node.span, "onehot")


# --- tiles


def _pad(builder: Builder, operands: list[Item], span: Span) -> Item:
    tile, fill = operands
    mask = Item(span, constant=constant_of(True))
    if tile.pending is not None or fill.pending is not None:
        return meet_pending(builder, operands, tile.dtype, span)
    try:
        signature = apply_rule("where", [builder.operand(item) for item in (mask, tile, fill)])
    except TypeRuleError:
        refuse(builder, fill, "pad", f"`{tile.dtype}`, as its tile is")
        return builder.poison(span)
    shape = broadcast(builder, operands, span, "pad")
    if shape is None:
        return builder.poison(span)
    values = [builder.value(item, signature.result) for item in operands]
    return builder.item(builder.emit(ir.Pad(TileType(signature.result, shape), span, values[0], values[1])), span)


def _pick(builder: Builder, operands: list[Item], span: Span) -> Item:
    tile, index = operands
    if not index.is_known or not tile.is_known:
        if index.pending is not None and tile.is_known and tile.shape:
            leading = Item(span, ir.Argument(TileType(DType.I32, (*tile.shape[:-1], ONE)), span))
            meet_pending(builder, [index, leading], DType.I32, span)
        return Item(span, pending=Pending(frozenset(), (), tile.dtype)) if builder.is_trial else builder.poison(span)
    if index.dtype not in (DType.I32, DType.U32):
        refuse(builder, index, "pick", "an integer index")
        return builder.poison(span)
    if not tile.shape:
        refuse_rank(builder, tile, "pick", "a tile of at least one axis")
        return builder.poison(span)
    column = builder.value(index, DType.I32)
    if not index.shape:
        column = builder.emit(ir.View(TileType(DType.I32, (ONE,)), span, column, (None,)))
    if not column.type.shape[-1].is_one:
        hint = _with_last_axis(index.text, len(index.shape))
        notes = [
            *index.told_outside(f"this is {bare_shape(index.shape)}"),
            *tile.told(f"picked from {bare_shape(tile.shape)}"),
        ]
        builder.faults.error(
            catalog.SHAPE_MISMATCH, index.span, notes=notes, hint=hint, left=bare_shape(tile.shape),
            right=bare_shape(index.shape), operation="pick",
        )  # fmt: skip
        return builder.poison(span)
    value = builder.value(tile)
    rows = (*value.type.shape[:-1], ONE)
    shape = join([rows, column.type.shape])
    if shape is None:
        _report_rows(builder, tile, index, span)
        return builder.poison(span)
    leading = TileType(value.type.dtype, rows, (*value.type.active[:-1], frozenset()))
    active = broadcast_activity(shape, [leading, column.type])
    pick = ir.Pick(TileType(value.type.dtype, shape, active), span, value, column)
    return builder.item(builder.emit(pick), span)


def _report_rows(builder: Builder, tile: Item, index: Item, span: Span) -> None:
    for axis in range(-2, -min(len(tile.shape), len(index.shape)) - 1, -1):
        left, right = tile.shape[axis], index.shape[axis]
        if not left.is_one and not right.is_one and left != right:
            report_mismatch(builder, tile, index, axis, span, "pick")
            return


def infer_tile_subscript(builder: Builder, node: core.TileSubscript) -> Item:
    """`t[:, new]`: only whole axes and new ones."""
    item = builder.items[node.operand]
    if item.is_poison:
        return builder.poison(node.span)
    for part in node.parts:
        if part.kind not in ("new", "span") or part.start is not None or part.stop is not None:
            if any(end is not None and builder.items[end].is_poison for end in (part.start, part.stop)):
                return builder.poison(node.span)
            if not item.is_known or item.shape:
                builder.faults.error(catalog.TILE_SUBSCRIPT, part.span, text=part.span.text)
            else:
                what = f"one `{item.dtype}`"
                builder.faults.error(catalog.NOT_SUBSCRIPTABLE, node.span, text=item.text, what=what)
            return builder.poison(node.span)
    given = sum(part.kind == "span" for part in node.parts)
    if item.pending is not None:
        builder.iotas.consumed |= item.pending.iotas
        return Item(node.span, pending=Pending(frozenset(), (), item.dtype))
    if given != len(item.shape):
        axes = f"{len(item.shape)} axis" if len(item.shape) == 1 else f"{len(item.shape)} axes"
        text = f"{given} subscript is" if given == 1 else f"{given} subscripts are"
        name = node.span.text.split("[")[0]
        builder.faults.error(
            catalog.SUBSCRIPT_COUNT, node.span, name=name, rank=axes, given=text, shape=bare_shape(item.shape)
        )
        return builder.poison(node.span)
    positions = iter(range(given))
    axes_of = tuple(next(positions) if part.kind == "span" else None for part in node.parts)
    value = builder.value(item)
    shape = tuple(ONE if axis is None else value.type.shape[axis] for axis in axes_of)
    active = tuple(frozenset() if axis is None else value.type.active[axis] for axis in axes_of)
    result = ir.View(TileType(value.type.dtype, shape, active), node.span, value, axes_of)
    return Item(node.span, builder.emit(result), is_weak=item.is_weak)
