"""What a store is told: a value of another shape than its place, and one that may not be active all over it."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.sema.builder import Builder, ResolvedPlace
from tilec.sema.items import Item, bare_shape, is_of_dims
from tilec.source import Span
from tilec.tile import ir
from tilec.types import Extent, broadcast_activity


def report_inactive(builder: Builder, place: ResolvedPlace, value: ir.Value, item: Item) -> None:
    """Warns that a store may leave elements of its span as they are."""
    builder.faults.warning(
        catalog.STORE_OF_INACTIVE, place.span, notes=[(item.origin, "this value may be inactive")],
        hint=_inactive_hint(place, value, item), name=place.tensor.name,
    )  # fmt: skip


def _inactive_hint(place: ResolvedPlace, value: ir.Value, item: Item) -> str:
    ends = _other_end(place, value)
    if ends is not None:
        name, (own, other) = place.tensor.name, ends
        return f"`{name}` ends at {own} there, and what is read for the value at {other}: is one dim meant for both?"
    text = item.text
    simple = text.endswith("]") and "\n" not in text and " else " not in text
    return f"give the shifted read a value outside: `{text} else 0`" if simple else (
        "give the read that may run past its tensor a value outside: `A[...] else 0`"
    )  # fmt: skip


def _other_end(place: ResolvedPlace, value: ir.Value) -> tuple[Extent, Extent] | None:
    """The dim of an axis of the place and another one, at which the lanes of the value end, where such differ."""
    axes = zip(place.axes, place.tensor.dims, strict=True)
    spans = [(start, dim) for (start, count), dim in axes if count is not None]
    for axis, bounds in enumerate(broadcast_activity(place.type.shape, [value.type])):
        start, dim = spans[axis]
        for bound in bounds:
            other = bound.limit + start
            if not bound.stretched and is_of_dims(other) and (other - dim).constant is None:
                return dim, other
    return None


def report_store(builder: Builder, place: ResolvedPlace, item: Item) -> None:
    """Reports a value whose shape does not fit its place."""
    found, expected = bare_shape(item.shape), bare_shape(place.shape)
    hint = None
    if len(item.shape) == 2 and item.shape[1].is_one and len(place.shape) == 2:
        hint = f"the value is a column; `{place.tensor.name}` is read and written by {bare_shape(place.shape)}"
    elif place.shape and item.shape[:-1] in (place.shape, place.shape[:-1]) and not item.shape[-1].is_one:
        hint = "one value a row is made by a reduction, such as `rowsum(...)` or `rowmean(...)`"
    elif not place.shape:
        hint = "a point takes one value: reduce it, or give a span `s :+ n`"
    builder.faults.error(
        catalog.STORE_SHAPE, place.span, notes=[*item.told(f"the value is {found}"), *_widened(place, item)], hint=hint,
        found=found, place=place.span.text, expected="one value" if not place.shape else expected,
    )  # fmt: skip


def _widened(place: ResolvedPlace, item: Item) -> list[tuple[Span, str]]:
    """Where a function made a value wider than its place: the operation, and the operand with that axis."""
    value = item.value
    if value is None or value.span.via is None or len(item.shape) < len(place.shape):
        return []
    axis = next(
        (
            -place
            for place, (own, wanted) in enumerate(zip(item.shape[::-1], place.shape[::-1], strict=False), 1)
            if own != wanted and not own.is_one
        ),
        None,
    )
    if axis is None:
        return []
    extent, operation = item.shape[axis], None
    while isinstance(value, ir.Pointwise):
        shapes = [operand.type.shape for operand in value.operands]
        wide = [place for place, shape in enumerate(shapes) if len(shape) >= -axis and shape[axis] == extent]
        if len(wide) != 1:
            break
        operation, value = value, value.operands[wide[0]]
    if operation is None:
        return []
    here = operation.span
    text = " meets ".join(bare_shape(operand.type.shape) for operand in operation.operands)
    inside = Span(here.source, here.start, here.end)  # in the function's own text
    return [(value.span, f"this is {bare_shape(value.type.shape)}"), (inside, text)]
