"""Reductions: plain ones, means and variances over active lanes, logsumexp."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.ops import REDUCTIONS, TypeRuleError, apply_rule
from tilec.sema import core
from tilec.sema.builder import Builder
from tilec.sema.constants import constant_of
from tilec.sema.elementwise import pointwise
from tilec.sema.items import Item, Pending, bare_shape, show_type
from tilec.sema.lookup import COLUMN_REDUCTIONS, ROW_REDUCTIONS, WHOLE_REDUCTIONS
from tilec.source import Span
from tilec.tile import ir
from tilec.tile.make import reduced_type
from tilec.types import DType


def infer_reduction(builder: Builder, node: core.Builtin, operand: Item) -> Item:
    name, span = node.function, node.span
    if operand.pending is not None:
        builder.iotas.consumed |= operand.pending.iotas
        return Item(span, pending=Pending(frozenset(), (), DType.F32))
    if not operand.shape and name not in WHOLE_REDUCTIONS:
        least = "two axes" if name in COLUMN_REDUCTIONS else "a tile of at least one axis"
        refuse_rank(builder, operand, name, least)
        return builder.poison(span)
    keeps, axes = True, (len(operand.shape) - 1,)
    if node.axis is not None:
        axis = axis_of(builder, builder.items[node.axis], operand, f"the axis of `{name}`")
        if axis is None:
            return builder.poison(span)
        axes = (axis,)
    elif name in COLUMN_REDUCTIONS:
        axes = (0,)
    elif name in WHOLE_REDUCTIONS:
        keeps, axes = False, tuple(range(len(operand.shape)))
    if name in COLUMN_REDUCTIONS and len(operand.shape) < 2:
        hint = f"`{name}` goes over rows; `{name.replace('col', 'row')}` reduces the only axis"
        refuse_rank(builder, operand, name, "at least two axes", hint)
        return builder.poison(span)
    kind = {**ROW_REDUCTIONS, **COLUMN_REDUCTIONS, **WHOLE_REDUCTIONS, "logsumexp": "logsumexp"}[name]
    return reduce(builder, kind, operand, axes, span, keeps=keeps, shown=name)


def reduce(
    builder: Builder, kind: str, operand: Item, axes: tuple[int, ...], span: Span, *, keeps: bool, shown: str
) -> Item:
    """A reduction of any kind over `axes`."""
    if operand.is_poison:
        return operand
    if not axes:
        return _of_scalar(builder, kind, operand, span, shown)
    match kind:
        case "mean":
            wide = pointwise(builder, "f32", [operand], span, shown)
            return _mean(builder, wide, axes, span, keeps=keeps, shown=shown)
        case "var":
            wide = pointwise(builder, "f32", [operand], span, shown)
            mean = _mean(builder, wide, axes, span, keeps=True, shown=shown)
            centred = pointwise(builder, "sub", [wide, mean], span, shown)
            squared = pointwise(builder, "square", [centred], span, shown)
            return _mean(builder, squared, axes, span, keeps=keeps, shown=shown)
        case "logsumexp":
            if operand.dtype is DType.U32:
                refuse(builder, operand, shown, "`f32`")
                return builder.poison(span)
            value = builder.value(operand, DType.F32)
            parts = [_plain(builder, op, value, axes, span, keeps=keeps) for op in ("max", "rest")]
            return pointwise(builder, "lse_add", parts, span, shown)
    try:
        signature = apply_rule(REDUCTIONS[kind].rule, [builder.operand(operand)])
    except TypeRuleError:
        refuse(builder, operand, shown, "`bool`" if kind in ("any", "all") else "numbers")
        return builder.poison(span)
    return _plain(builder, kind, builder.value(operand, signature.operands[0]), axes, span, keeps=keeps)


def _of_scalar(builder: Builder, kind: str, operand: Item, span: Span, shown: str) -> Item:
    """A reduction of one value over everything is that value."""
    zero = Item(span, constant=constant_of(0))
    match kind:
        case "mean":
            return pointwise(builder, "f32", [operand], span, shown)
        case "var":
            wide = pointwise(builder, "f32", [operand], span, shown)
            return pointwise(builder, "sub", [wide, wide], span, shown)
        case "any" | "all":
            return pointwise(builder, "or", [operand, operand], span, shown)
        case "argmax":
            return pointwise(builder, "mul", [zero, pointwise(builder, "i32", [operand], span, shown)], span, shown)
    return pointwise(builder, "add", [operand, zero], span, shown) if operand.dtype is DType.BOOL else operand


def _plain(
    builder: Builder, kind: str, value: ir.Value, axes: tuple[int, ...], span: Span, *, keeps: bool
) -> Item:
    result = apply_rule(REDUCTIONS[kind].rule, [builder.operand(Item(span, value))]).result
    type_ = reduced_type(value.type, axes, keeps_axes=keeps).with_dtype(result)
    return builder.item(builder.emit(ir.Reduce(type_, span, kind, value, axes, keeps)), span)


def _mean(
    builder: Builder, operand: Item, axes: tuple[int, ...], span: Span, *, keeps: bool, shown: str
) -> Item:
    """The sum over the number of active lanes: NaN where there is none."""
    if operand.is_poison:
        return operand
    value = builder.value(operand)
    total = _plain(builder, "sum", value, axes, span, keeps=keeps)
    count = builder.emit(
        ir.ActiveCount(reduced_type(value.type, axes, keeps_axes=keeps), span, value, axes, keeps)
    )
    return pointwise(builder, "div_f32", [total, Item(span, count)], span, shown)


# --- shared checks


def constant_index(builder: Builder, item: Item, what: str) -> int | None:
    """A constant integer, such as an axis; None after a diagnostic."""
    if not item.is_known:
        return None
    if item.constant is None or item.constant.dtype is not DType.I32:
        builder.faults.error(catalog.NOT_CONSTANT, item.span, what=what)
        return None
    return int(item.constant.value)


def axis_of(builder: Builder, item: Item, operand: Item, what: str) -> int | None:
    """An axis of the operand; None after a diagnostic."""
    axis = constant_index(builder, item, what)
    if axis is None or not operand.is_known:
        return None
    rank = len(operand.shape)
    if 0 <= axis < rank:
        return axis
    axes = " and ".join(map(str, range(rank))) if rank > 1 else "0 alone" if rank else "none"
    hint = f"axes count from 0: the last one is {rank - 1}" if axis < 0 and rank else None
    builder.faults.error(
        catalog.AXIS_RANGE, item.span, notes=operand.told_outside(f"this is {bare_shape(operand.shape)}"), hint=hint,
        axis=axis, shape=bare_shape(operand.shape), axes=axes,
    )  # fmt: skip
    return None


def refuse(builder: Builder, item: Item, operation: str, expected: str) -> None:
    hint = f"compare it: `{item.text} != 0`" if expected == "`bool`" else None
    found = item.dtype if not item.shape else show_type(item).strip("`")
    builder.faults.error(
        catalog.DTYPE_MISMATCH, item.span, notes=item.told_outside(f"this is {show_type(item)}"), hint=hint,
        operation=operation, expected=expected, found=found,
    )  # fmt: skip


def refuse_rank(builder: Builder, item: Item, operation: str, expected: str, hint: str | None = None) -> None:
    builder.faults.error(
        catalog.RANK_MISMATCH, item.span, notes=item.told_outside(f"this is {bare_shape(item.shape)}"), hint=hint,
        operation=operation, expected=expected, shape=bare_shape(item.shape), rank=len(item.shape),
    )  # fmt: skip
