"""Takes the value that was just stored instead of reading it back."""

from __future__ import annotations

from tilec.tile import ir
from tilec.tile.affine import extent_of
from tilec.tile.make import make_pointwise
from tilec.tile.rewrite import Rewriter, rewrite
from tilec.types import Activity, DType, Extent, TileType, broadcast_activity

_ROUNDINGS: dict[DType, tuple[str, ...]] = {
    DType.F32: (),
    DType.I32: (),
    DType.U32: (),
    DType.BOOL: (),
    DType.F16: ("f16",),
    DType.BF16: ("bf16",),
}
"""By storage type: the rows that make of a value what a read of it gives. i8, u8 and i64 have none."""


def forward_stores(kernel: ir.Kernel) -> ir.Kernel:
    """Needs: nothing. Gives: no load of exactly the span that was stored last before it in its region, unless lanes of
    it may keep what was in memory. Keeps: meaning, exactly."""
    return rewrite(kernel, _Forwarder(kernel).forward)


class _Forwarder:
    """Knows the last store to each tensor and the region it stands in. What a branch or a loop stored stands in another
    one than what comes behind it, and is not taken there."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self._kernel = kernel
        self._last: dict[str, tuple[int, ir.Store]] = {}

    def forward(self, rewriter: Rewriter, value: ir.Value) -> ir.Value | None:
        match value:
            case ir.Store():
                self._last[value.tensor] = (rewriter.open_regions[-1], value)
            case ir.Load(tensor=tensor) if tensor in self._last:
                region, store = self._last[tensor]
                if region == rewriter.open_regions[-1] and _same_place(store.indices, value.indices):
                    return self._stored_value(rewriter, store, value)
        return None

    def _stored_value(self, rewriter: Rewriter, store: ir.Store, load: ir.Load) -> ir.Value | None:
        """store T[s] = x; T[s] -> x rounded as T stores, where x is active in exactly the lanes inside T."""
        tensor = self._kernel.tensor(load.tensor)
        dtype = tensor.dtype.compute
        if tensor.dtype not in _ROUNDINGS or not self._points_are_inside(tensor, load):
            return None
        active = broadcast_activity(load.type.shape, [store.operand.type])
        inside = _inside(store, load)
        if inside is None or active != inside:
            return None
        value = store.operand
        if value.type.dtype is not dtype:
            value = rewriter.append(make_pointwise(str(dtype), (value,), load.span))
        for op in _ROUNDINGS[tensor.dtype]:
            value = rewriter.append(make_pointwise(op, (value,), load.span))
        tile = TileType(dtype, load.type.shape, active)
        if value.type != tile:
            value = rewriter.append(ir.Broadcast(tile, load.span, value, name=load.name))
        if load.fill is not None:
            value = rewriter.append(ir.Pad(load.type, load.span, value, load.fill, name=load.name))
        return value

    @staticmethod
    def _points_are_inside(tensor: ir.TensorParameter, load: ir.Load) -> bool:
        """A load of points only gives an active 0 outside, where the store wrote nothing: not if inside for certain.

        With spans beside the points, the activity tells.
        """
        points = [index.index for index in load.indices if isinstance(index, ir.PointIndex)]
        if len(points) < len(load.indices):
            return True
        return all(_is_inside(extent_of(point), extent) for point, extent in zip(points, tensor.dims, strict=True))


def _is_inside(index: Extent, extent: Extent) -> bool:
    return index.is_nonnegative and (index + 1).at_most(extent)


def _inside(store: ir.Store, load: ir.Load) -> Activity | None:
    """The bounds of the lanes inside the tensor."""
    if load.fill is None:
        return load.type.active
    return None if store.type is None else store.type.active


def _same_place(left: tuple[ir.AxisIndex, ...], right: tuple[ir.AxisIndex, ...]) -> bool:
    return all(_same_index(first, second) for first, second in zip(left, right, strict=True))


def _same_index(left: ir.AxisIndex, right: ir.AxisIndex) -> bool:
    match left, right:
        case ir.SpanIndex(), ir.SpanIndex():
            return left.count == right.count and _same_scalar(left.start, right.start)
        case ir.PointIndex(), ir.PointIndex():
            return _same_scalar(left.index, right.index)
    return False


def _same_scalar(left: ir.Value, right: ir.Value) -> bool:
    return left is right or extent_of(left) == extent_of(right)
