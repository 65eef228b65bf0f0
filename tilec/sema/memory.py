"""Reads and writes of tensors: subscripts, shapes, activity, what a store accepts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tilec.diag import catalog
from tilec.sema import core
from tilec.sema.builder import Access, Builder, ResolvedPlace
from tilec.sema.elementwise import meet_pending
from tilec.sema.items import Item, Shape, bare_shape, is_of_dims, join
from tilec.sema.store_faults import report_inactive, report_store
from tilec.source import Span
from tilec.tile import ir
from tilec.tile.wrapping import stays
from tilec.types import ONE, ZERO, Apply, Bound, DType, Extent, TileType, apply, broadcast_activity, stretch

Axis = tuple[Extent, "Extent | None"]


# --- subscripts


def resolve_place(builder: Builder, place: core.Place) -> ResolvedPlace | None:
    """The span with its subscripts as instructions; None where one of them is poison or wrong (reported)."""
    tensor = builder.tensors[place.tensor]
    parts = [part for part in place.parts if part.kind != "new"]
    if len(parts) != len(tensor.dims):
        rank = f"{len(tensor.dims)} axis" if len(tensor.dims) == 1 else f"{len(tensor.dims)} axes"
        given = f"{len(parts)} subscript is" if len(parts) == 1 else f"{len(parts)} subscripts are"
        shape = bare_shape(tensor.dims)
        builder.faults.error(
            catalog.SUBSCRIPT_COUNT, place.span, name=tensor.name, rank=rank, given=given, shape=shape
        )
        return None
    resolved = [_axis(builder, part, dim) for part, dim in zip(parts, tensor.dims, strict=True)]
    if any(axis is None for axis in resolved):
        return None
    axes = tuple(axis for axis in resolved if axis is not None)
    indices = tuple(_index(builder, axis, part) for axis, part in zip(axes, parts, strict=True))
    counts = [count for _, count in axes if count is not None]
    active = _activity(builder, axes, tensor.dims)
    shape, new_axes, spans = [], set(), iter(counts)
    for part in place.parts:
        if part.kind == "new":
            new_axes.add(len(shape))
            shape.append(ONE)
        elif part.kind != "point":
            shape.append(next(spans))
    type_ = TileType(tensor.dtype.compute, tuple(counts), active)
    return ResolvedPlace(tensor, indices, axes, type_, tuple(shape), frozenset(new_axes), place.span)


def _axis(builder: Builder, part: core.Part, dim: Extent) -> Axis | None:
    """The start and the count (None: a point) of one subscript."""
    if part.kind == "span":
        start = _integer(builder, part.start) if part.start is not None else ZERO
        stop = _integer(builder, part.stop) if part.stop is not None else dim
        if start is None or stop is None:
            return None
        return start, _difference(builder, start, stop, part.span)
    start = _integer(builder, part.start)
    if part.kind == "point" or start is None:
        return (start, None) if start is not None else None
    count = _integer(builder, part.stop)
    return (start, _count(builder, count)) if count is not None else None


def _integer(builder: Builder, node: core.Node | None) -> Extent | None:
    """The formula of a subscript, which must be one integer."""
    assert node is not None
    item = builder.items[node]
    if not item.is_known:
        return None
    if item.dtype is not DType.I32 or item.shape:
        found = f"a tile of shape {bare_shape(item.shape)}" if item.shape else f"`{item.dtype}`"
        hint = None
        if item.shape:
            hint = "an element that differs from row to row is read with `pick(x, t)`"
        elif item.dtype is not DType.BOOL:
            hint = f"convert it: `i32({item.text})`"
        builder.faults.error(catalog.SUBSCRIPT_TYPE, item.span, hint=hint, found=found)
        return None
    if item.constant is not None:
        return Extent.of(int(builder.constant(item, DType.I32)))
    return item.extent


def _count(builder: Builder, count: Extent) -> Extent:
    """A number of elements: less than 0 counts as 0."""
    if count.constant is not None:
        return Extent.of(max(0, count.constant))
    if is_of_dims(count) or (stays(count, builder.ranges) and builder.is_nonnegative(count)):
        return count
    return apply("max", count, ZERO)


def _difference(builder: Builder, start: Extent, stop: Extent, span: Span) -> Extent:
    """`stop - start` elements: a formula where the host can know it, else an extent that equals no other."""
    count = stop - start
    if count.constant is not None or is_of_dims(count):
        return _count(builder, count)
    if all(isinstance(atom, Apply) or getattr(atom, "kind", "") in ("dim", "scalar") for atom in count.atoms):
        return _count(builder, count)
    low, high = builder.extent_value(start, span), builder.extent_value(stop, span)
    zero = builder.emit(ir.Const(TileType(DType.I32), span, 0))
    value = builder.arithmetic("max", builder.arithmetic("sub", high, low, span), zero, span)
    return builder.opaque(value, span, nonnegative=True)


def _index(builder: Builder, axis: Axis, part: core.Part) -> ir.AxisIndex:
    start, count = axis
    item = builder.items[part.start] if part.start is not None else None
    value = builder.value(item, DType.I32) if item is not None else builder.extent_value(start, part.span)
    return ir.PointIndex(value) if count is None else ir.SpanIndex(value, count)


def _activity(builder: Builder, axes: Sequence[Axis], dims: Sequence[Extent]) -> tuple[frozenset[Bound], ...]:
    """The bounds of the lanes inside the tensor; those that are proved are left out."""
    active: list[frozenset[Bound]] = []
    points: set[Bound] = set()
    for (start, count), dim in zip(axes, dims, strict=True):
        length = ONE if count is None else count
        is_exact = stays(start, builder.ranges)  # what is proved of integers holds for i32s then
        is_above = is_exact and builder.is_nonnegative(start)
        is_below = is_exact and stays(length, builder.ranges) and builder.is_at_most(start + length, dim)
        bounds: frozenset[Bound] = frozenset()
        if not (is_above and is_below):
            low = ZERO if is_above else -start
            bounds = frozenset({Bound(low, length if is_below else dim - start, count is None)})
        if count is None:
            points |= bounds
        else:
            active.append(bounds)
    if active and points:
        active[0] |= points
    return tuple(active)


# --- reads


def infer_read(builder: Builder, node: core.TensorRead) -> Item:
    """A read of a tensor, with or without a value for what lies outside."""
    place = resolve_place(builder, node.place)
    fill = None
    if node.fill is not None:
        fill = _fill(builder, builder.items[node.fill], builder.tensors[node.place.tensor])
        if fill is None:
            return builder.poison(node.span)
    return read(builder, place, node.span, fill) if place is not None else builder.poison(node.span)


def read(builder: Builder, place: ResolvedPlace, span: Span, fill: ir.Value | None = None) -> Item:
    """The load of a resolved span."""
    type_ = place.type if fill is None else TileType(place.type.dtype, place.type.shape)
    value: ir.Value = builder.emit(ir.Load(type_, span, place.tensor.name, place.indices, fill))
    _record(builder, place, span, is_store=False, is_whole=False)
    if place.new_axes:
        value = _with_new_axes(builder, value, place, span)
    return builder.item(value, span)


def _with_new_axes(builder: Builder, value: ir.Value, place: ResolvedPlace, span: Span) -> ir.Value:
    positions = iter(range(value.type.rank))
    axes = tuple(None if axis in place.new_axes else next(positions) for axis in range(len(place.shape)))
    active = tuple(frozenset() if axis is None else value.type.active[axis] for axis in axes)
    return builder.emit(ir.View(TileType(value.type.dtype, place.shape, active), span, value, axes))


def _fill(builder: Builder, item: Item, tensor: ir.TensorParameter) -> ir.Value | None:
    """The value after `else`, a scalar of the type that the tensor computes in."""
    if not item.is_known:
        return None
    if item.shape:
        builder.faults.error(catalog.FILL_SHAPE, item.span, shape=bare_shape(item.shape))
        return None
    dtype = tensor.dtype.compute
    if not converts(builder, item, dtype):
        builder.faults.error(
            catalog.DTYPE_MISMATCH, item.span, hint=f"convert it: `{dtype}({item.text})`", operation="else",
            expected=f"`{dtype}`, as `{tensor.name}` is read", found=item.dtype,
        )  # fmt: skip
        return None
    return builder.value(item, dtype)


def converts(builder: Builder, item: Item, dtype: DType) -> bool:
    """Whether the item becomes a value of `dtype` by itself: bool to i32 to f32, and what is weak to any number."""
    if item.dtype is dtype:
        return True
    if builder.operand(item).is_weak and dtype is not DType.BOOL:
        return True
    order = (DType.BOOL, DType.I32, DType.F32)
    return item.dtype in order and dtype in order and order.index(item.dtype) <= order.index(dtype)


# --- writes


def infer_write(builder: Builder, node: core.TensorWrite) -> None:
    """A store as a statement."""
    place = resolve_place(builder, node.place)
    item = builder.items[node.value]
    if place is not None:
        write(builder, place, item, node.span)


def write(builder: Builder, place: ResolvedPlace, item: Item, span: Span) -> None:
    """Stores an item into a resolved span, or reports why it cannot be stored."""
    if item.pending is not None:
        meet_pending(builder, [item, shaped(place.shape, span)], item.dtype, span)
    if not item.is_known:
        _record(builder, place, place.span, is_store=True, is_whole=True)
        return
    storage = place.tensor.dtype
    if storage is DType.I64:
        builder.faults.error(catalog.STORE_READ_ONLY, place.span, name=place.tensor.name)
        return
    dtype = storage.compute
    is_integer = dtype in (DType.I32, DType.U32) and item.dtype in (DType.I32, DType.U32)
    if not is_integer and not converts(builder, item, dtype):
        fix = f"{dtype}({item.text})"
        builder.faults.error(
            catalog.STORE_DTYPE, item.span, found=item.dtype, name=place.tensor.name, storage=storage, fix=fix
        )
        return
    operand = builder.value(item, dtype)
    if not place.type.shape and any(operand.type.active):
        place = _one_lane(builder, place)
    value = fit(builder, operand, place.shape, span)
    if value is None:
        report_store(builder, place, item)
        return
    value = _without_new_axes(builder, place, value, span)
    is_whole = _is_whole(builder, place, value)
    if not is_whole:
        report_inactive(builder, place, value, item)
    builder.emit(ir.Store(place.type, span, place.tensor.name, place.indices, value))
    _record(builder, place, place.span, is_store=True, is_whole=is_whole)


def shaped(shape: Shape, span: Span) -> Item:
    """An item that only stands for a shape."""
    return Item(span, ir.Argument(TileType(DType.F32, shape), span))


def fit(builder: Builder, value: ir.Value, shape: Shape, span: Span) -> ir.Value | None:
    """The value with axes of literal extent 1 dropped so that it stretches to `shape`; None if it does not."""
    own = value.type.shape
    surplus = len(own) - len(shape)
    if surplus <= 0:
        return value if join([own, shape]) == shape else None
    ones = [axis for axis, extent in enumerate(own) if extent.is_one]
    for dropped in combinations(ones, surplus):
        kept = tuple(axis for axis in range(len(own)) if axis not in dropped)
        if join([tuple(own[axis] for axis in kept), shape]) == shape:
            return view(builder, value, kept, span)
    return None


def view(builder: Builder, value: ir.Value, kept: tuple[int, ...], span: Span) -> ir.Value:
    """Only the axes `kept`. Bounds of dropped axes (of extent 1) move to the first one left; a scalar has none, so
    that what may be inactive becomes 0 there first."""
    type_ = value.type
    moved = frozenset[Bound]().union(
        *(stretch(type_.active[axis]) for axis in range(type_.rank) if axis not in kept)
    )
    if moved and not kept:
        nothing = {DType.F32: 0.0, DType.BOOL: False}.get(type_.dtype, 0)
        zero = builder.emit(ir.Const(TileType(type_.dtype), span, nothing))
        value = builder.emit(ir.Pad(TileType(type_.dtype, type_.shape), span, value, zero))
        moved = frozenset()
    active = [type_.active[axis] for axis in kept]
    if moved:
        active[0] |= moved
    shape = tuple(type_.shape[axis] for axis in kept)
    return builder.emit(ir.View(TileType(type_.dtype, shape, tuple(active)), span, value, kept))


def _one_lane(builder: Builder, place: ResolvedPlace) -> ResolvedPlace:
    """A point as a span of one element: a scalar is never inactive, and a value that may be must not be stored then."""
    start, _ = place.axes[-1]
    axes = (*place.axes[:-1], (start, ONE))
    last = place.indices[-1]
    assert isinstance(last, ir.PointIndex)
    type_ = TileType(place.type.dtype, (ONE,), _activity(builder, axes, place.tensor.dims))
    indices = (*place.indices[:-1], ir.SpanIndex(last.index, ONE))
    return ResolvedPlace(place.tensor, indices, axes, type_, (ONE,), frozenset(), place.span)


def _without_new_axes(builder: Builder, place: ResolvedPlace, value: ir.Value, span: Span) -> ir.Value:
    """The value for the spans themselves."""
    rank, wanted = value.type.rank, len(place.shape)
    dropped = {axis - (wanted - rank) for axis in place.new_axes}
    kept = tuple(axis for axis in range(rank) if axis not in dropped)
    return value if len(kept) == rank else view(builder, value, kept, span)


def _is_whole(builder: Builder, place: ResolvedPlace, value: ir.Value) -> bool:
    """Whether the value is active in every lane of the span that lies inside the tensor."""
    active = broadcast_activity(place.type.shape, [value.type])
    everywhere = frozenset[Bound]().union(*(axis for axis in place.type.active))
    for axis, bounds in enumerate(active):
        for bound in bounds - everywhere:
            if not _covers(builder, bound, place.type.shape[axis], place.type.active[axis]):
                return False
    return True


def _covers(builder: Builder, bound: Bound, count: Extent, inside: frozenset[Bound]) -> bool:
    """Whether all `count` lanes that are within the bounds `inside` are within `bound`."""
    if bound.stretched:
        lows, highs = [ZERO], [ONE]
        inside = frozenset(other for other in inside if other.stretched)
    else:
        lows, highs = [ZERO], [count]
        inside = frozenset(other for other in inside if not other.stretched)
    lows += [other.start for other in inside]
    highs += [other.limit for other in inside]
    return any(builder.is_at_most(bound.start, low) for low in lows) and any(
        builder.is_at_most(high, bound.limit) for high in highs
    )


def _record(builder: Builder, place: ResolvedPlace, span: Span, *, is_store: bool, is_whole: bool) -> None:
    pinned, is_conditional = dict(builder.pinned), builder.conditional > 0
    name = place.tensor.name
    builder.accesses.append(
        Access(name, is_store, place.axes, span, pinned, is_conditional, builder.path, is_whole)
    )
