"""Types of elementwise operations: conversions, broadcasting, activity, formulas of integer scalars, folding."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.diag import catalog
from tilec.ops import POINTWISE, Signature, TypeRuleError, apply_rule
from tilec.sema import core
from tilec.sema.builder import Builder
from tilec.sema.constants import apply_constant
from tilec.sema.items import Item, Pending, Shape, bare_shape, first_conflict, is_of_dims, join, show_type
from tilec.source import Span
from tilec.tile import ir
from tilec.types import DType, Extent, TileType, apply, broadcast_activity

CONVERSIONS = frozenset({"f32", "i32", "u32", "bool"})


def infer_elementwise(builder: Builder, node: core.Elementwise) -> Item:
    """A pointwise row on operands as written in the source."""
    operands = [builder.items[operand] for operand in node.operands]
    if any(operand.is_poison for operand in operands):
        return builder.poison(node.span)
    if node.op == "pow":
        special = _power(builder, operands, node.span)
        if special is not None:
            return special
    _warn_nan(builder, node, operands)
    return pointwise(builder, node.op, operands, node.span, node.shown)


def pointwise(builder: Builder, op: str, operands: Sequence[Item], span: Span, shown: str) -> Item:
    """`op` on operands of any types that its row accepts; what it refuses is reported."""
    if any(operand.is_poison for operand in operands):
        return builder.poison(span)
    try:
        signature = apply_rule(POINTWISE[op].rule, [builder.operand(operand) for operand in operands])
    except TypeRuleError as error:
        _report_types(builder, error, operands, span, shown)
        return builder.poison(span)
    constants = [operand.constant for operand in operands]
    if None not in constants:
        folded = apply_constant(op, [constant for constant in constants if constant is not None])
        if folded is not None:
            extent = Extent.of(int(folded.value)) if folded.dtype is DType.I32 else None
            return Item(span, constant=folded, extent=extent)
    if any(operand.pending is not None for operand in operands):
        return meet_pending(builder, operands, signature.result, span, is_weak=signature.is_weak)
    extent = _formula(op, operands, signature)
    if extent is not None and signature.is_weak and is_of_dims(extent):
        return Item(span, extent=extent, is_weak=True)
    shape = broadcast(builder, operands, span, shown)
    if shape is None:
        return builder.poison(span)
    is_conversion = op in CONVERSIONS
    if is_conversion and operands[0].dtype is signature.result and not builder.operand(operands[0]).is_weak:
        return operands[0]
    values = tuple(
        builder.value(operand, None if is_conversion else dtype)
        for operand, dtype in zip(operands, signature.operands, strict=True)
    )
    active = broadcast_activity(shape, [value.type for value in values])
    value = builder.emit(ir.Pointwise(TileType(signature.result, shape, active), span, op, values))
    if signature.result is DType.I32 and not shape and extent is None:
        extent = builder.opaque(value, span)
    iotas = _only_iotas(builder, operands, shape)
    return Item(span, value, extent=extent, is_weak=signature.is_weak, iotas=iotas)


def _only_iotas(builder: Builder, operands: Sequence[Item], shape: Shape) -> frozenset[core.Node]:
    """The iotas of a result that has met nothing yet that tells their rank."""
    iotas = frozenset(iota for operand in operands for iota in operand.iotas)
    if not iotas:
        return iotas
    lowest = max(builder.iotas.solutions[iota].axis for iota in iotas)
    met = [operand.shape for operand in operands if not operand.iotas]
    return iotas if all(len(other) <= lowest for other in met) else frozenset()


def _formula(op: str, operands: Sequence[Item], signature: Signature) -> Extent | None:
    """The formula of an i32 scalar result, where it is one of a size that proofs can use."""
    if signature.result is not DType.I32 or any(operand.extent is None for operand in operands):
        return None
    result = _applied(op, [operand.extent for operand in operands if operand.extent is not None])
    return result if result is not None and result.is_small else None


def _applied(op: str, extents: Sequence[Extent]) -> Extent | None:
    match op:
        case "add":
            return extents[0] + extents[1]
        case "sub":
            return extents[0] - extents[1]
        case "mul" | "square":
            return extents[0] * extents[-1]
        case "neg":
            return -extents[0]
        case "min" | "max" | "div" | "ceildiv":
            return apply(op, *extents)
        case "rem":
            return apply("mod", *extents)
        case "clamp":
            return apply("min", apply("max", extents[0], extents[1]), extents[2])
    return None


# --- shapes


def broadcast(builder: Builder, operands: Sequence[Item], span: Span, shown: str) -> Shape | None:
    """The joint shape of the operands, or None after a diagnostic."""
    check_ranks_of_iotas(builder, operands, span)
    shapes = [operand.shape for operand in operands]
    shape = join(shapes)
    if shape is None:
        _report_shapes(builder, operands, span, shown)
        return None
    _warn_column(builder, operands, shape, span)
    return shape


def meet_pending(
    builder: Builder, operands: Sequence[Item], dtype: DType, span: Span, *, is_weak: bool = False
) -> Item:
    """In a trial: an elementwise meeting of operands some of which wait for iotas."""
    pendings = [operand.pending for operand in operands if operand.pending is not None]
    if not all(pending.iotas for pending in pendings):  # a shape that only the next trial will know
        return Item(span, pending=Pending(frozenset(), (), dtype), is_weak=is_weak)
    iotas = frozenset(iota for pending in pendings for iota in pending.iotas)
    met = [operand.shape for operand in operands if operand.is_known and operand.shape]
    known = dict.fromkeys([shape for pending in pendings for shape in pending.known] + met)
    shape = builder.iotas.meet(iotas, tuple(known), span)
    if shape is None:
        return Item(span, pending=Pending(iotas, tuple(known), dtype), is_weak=is_weak)
    return Item(span, ir.Argument(TileType(dtype, shape), span), is_weak=is_weak)


def check_ranks_of_iotas(builder: Builder, operands: Sequence[Item], span: Span) -> None:
    """An iota that has a rank by one use, and meets a tile of another, would silently count along another axis."""
    # The widest of the others decides: the narrower ones stretch to it.
    shape = max((operand.shape for operand in operands if not operand.iotas), key=len, default=())
    for operand in operands:
        for iota in operand.iotas:
            axis = builder.iotas.solutions[iota].axis
            if len(shape) > axis and len(shape) != len(operand.shape):
                _report_iota(builder, iota, shape[axis], span)


def _report_iota(builder: Builder, iota: core.Node, other: Extent, span: Span) -> None:
    solution = builder.iotas.solutions[iota]
    notes = [(span, "this use gives the other length")]
    if solution.span is not None and solution.span is not span:
        notes.insert(0, (solution.span, "this use gives the first length"))
    builder.faults.error(
        catalog.IOTA_CONFLICT, iota.span, notes=notes, left=solution.extent, right=other, axis=solution.axis
    )


def _report_shapes(builder: Builder, operands: Sequence[Item], span: Span, shown: str) -> None:
    shapes = [operand.shape for operand in operands]
    conflict = first_conflict(shapes)
    assert conflict is not None
    first, second, axis = conflict
    for one, other in ((first, second), (second, first)):
        for iota in operands[one].iotas:
            if len(shapes[one]) + axis == builder.iotas.solutions[iota].axis:
                _report_iota(builder, iota, shapes[other][axis], span)
                return
    report_mismatch(builder, operands[first], operands[second], axis, span, shown)


def report_mismatch(builder: Builder, left: Item, right: Item, axis: int, span: Span, shown: str) -> None:
    """Two operands whose extents disagree at `axis` (from the end)."""
    extents = left.shape[axis], right.shape[axis]
    shown_items = [item for item in (left, right) if item.span is not span]
    notes = [note for item in shown_items for note in item.told(f"this is {bare_shape(item.shape)}")]
    if (extents[0] - extents[1]).constant is None and extents[0].atoms & extents[1].atoms:
        start = min(extents, key=lambda extent: len(str(extent)))
        hint = f"give both the same number of elements: `{start} :+ {start}`"
        builder.faults.error(
            catalog.EXTENT_NOT_PROVED, span, notes=notes, hint=hint, left=extents[0], right=extents[1]
        )
        return
    builder.faults.error(
        catalog.SHAPE_MISMATCH, span, notes=notes, hint=_shape_hint(left.shape, right.shape),
        left=bare_shape(left.shape), right=bare_shape(right.shape), operation=shown,
    )  # fmt: skip


def _shape_hint(left: Shape, right: Shape) -> str | None:
    short, long = sorted((left, right), key=len)
    if len(short) == 1 and len(long) >= 2 and short[0] == long[-2]:
        return f"a vector lines up with the last axis: give it an axis, `[:, new]`, to be [{short[0]}, 1]"
    return None


def _warn_column(builder: Builder, operands: Sequence[Item], shape: Shape, span: Span) -> None:
    """`[R, 1]` meeting `[R]` is `[R, R]`: legal, and nearly always a mistake."""
    for column in operands:
        if len(column.shape) < 2 or not column.shape[-1].is_one or column.shape[-2].is_one:
            continue
        for vector in operands:
            if vector.shape and vector.shape == column.shape[:-1] and not vector.iotas:
                left, right = bare_shape(column.shape), bare_shape(vector.shape)
                notes = [*column.told(f"the column {left}"), *vector.told(f"the vector {right}")]
                builder.faults.warning(
                    catalog.COLUMN_MEETS_ROW, span, notes=notes, left=left, right=right, result=bare_shape(shape)
                )
                return


# --- types


def _report_types(
    builder: Builder, error: TypeRuleError, operands: Sequence[Item], span: Span, shown: str
) -> None:
    report = builder.faults.error
    item = operands[error.positions[0]]
    text = item.text
    if error.reason == "division":
        left, right = (operand.dtype for operand in operands)
        texts = [operand.text for operand in operands]
        simple = texts[0].isdigit()
        float_form = f"{texts[0]}.0 / {texts[1]}" if simple else f"f32({texts[0]}) / {texts[1]}"
        report(
            catalog.INTEGER_DIVISION, span, left=left, right=right, float_form=float_form,
            integer_form=f"div({texts[0]}, {texts[1]})",
        )  # fmt: skip
    elif error.reason == "mixed" and len(error.positions) == 2:
        first, second = (operands[position] for position in error.positions)
        notes = [
            note for i in (first, second) if i.span is not span for note in i.told(f"this is {show_type(i)}")
        ]
        wide = first if first.dtype is not DType.U32 else second
        narrow = second if wide is first else first
        report(
            catalog.MIXED_INTEGERS, span, notes=notes, operation=shown, left=first.dtype, right=second.dtype,
            fix=f"{wide.dtype}({narrow.text})",
        )  # fmt: skip
    elif shown == "where" and error.reason == "bool":
        notes = item.told_outside(f"this is {show_type(item)}")
        report(catalog.CONDITION_NOT_BOOL, item.span, notes=notes, statement="where", found=item.dtype, text=text)
    else:
        expected = _EXPECTED.get(error.reason, "other types")
        hint = f"convert it: `f32({text})`" if error.reason == "mixed" else None
        if error.reason == "bool":
            hint = f"compare it: `{text} != 0`"
        elif error.reason == "integer":
            hint = f"convert it: `i32({text})`" if "div" not in shown else "`/` divides floats"
        notes = item.told_outside(f"this is {show_type(item)}")
        report(
            catalog.DTYPE_MISMATCH, item.span, notes=notes, hint=hint, operation=shown, expected=expected,
            found=item.dtype,
        )  # fmt: skip


_EXPECTED = {
    "mixed": "`f32`", "integer": "integers", "float_or_signed": "`i32` or `f32`", "number": "numbers",
    "bool": "`bool`", "same": "two operands of one kind",
}  # fmt: skip


def _warn_nan(builder: Builder, node: core.Elementwise, operands: Sequence[Item]) -> None:
    if node.op not in ("eq", "ne", "lt", "le", "gt", "ge"):
        return
    for operand in operands:
        constant = operand.constant
        if constant is not None and isinstance(constant.value, float) and constant.value != constant.value:
            builder.faults.warning(
                catalog.COMPARED_WITH_NAN, node.span, value="true" if node.op == "ne" else "false"
            )
            return


def _power(builder: Builder, operands: Sequence[Item], span: Span) -> Item | None:
    """`pow(x, c)` for the literal exponents that have a form of their own."""
    base, exponent = operands
    if exponent.constant is None or base.constant is not None or exponent.dtype is DType.U32:
        return None
    if base.dtype is DType.U32 or base.pending is not None:
        return None
    base = pointwise(builder, "f32", [base], span, "pow")
    value = float(exponent.constant.value)
    if value == 0.5:
        return pointwise(builder, "sqrt", [base], span, "pow")
    if value == 1.0:
        return base
    if value == 2.0:
        return pointwise(builder, "square", [base], span, "pow")
    if value == 3.0:
        return pointwise(builder, "mul", [pointwise(builder, "square", [base], span, "pow"), base], span, "pow")
    if value == -1.0:
        from tilec.sema.constants import constant_of

        return pointwise(builder, "div_f32", [Item(span, constant=constant_of(1.0)), base], span, "pow")
    return None
