"""Evaluates regions of the tile IR for a batch of blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tilec.integers import wrapped
from tilec.ops import reference
from tilec.ops.reference import NUMPY_DTYPES
from tilec.tile import ir
from tilec.tile.interp_memory import Access, Memory
from tilec.tile.interp_reports import report
from tilec.tile.interp_tiles import Mask, Tile, align, joint_mask, merge, stretch
from tilec.types import Atom, Extent, Opaque, Symbol

Trace = Callable[[ir.Value, Tile], None]


class Frame:
    """The values of instructions in a batch of blocks. Where control differs between the blocks, a child frame
    continues with those of them, `rows`, that go the same way."""

    def __init__(
        self,
        memory: Memory,
        scalars: Mapping[str, np.ndarray],
        integers: Mapping[str, int],
        blocks: tuple[np.ndarray, ...],
        trace: Trace | None = None,
    ) -> None:
        self.memory, self.scalars, self.integers, self.blocks, self.trace = memory, scalars, integers, blocks, trace
        self.parent: Frame | None = None
        self.rows: np.ndarray = np.arange(len(blocks[0]))
        self.values: dict[int, Tile] = {}
        self.results: dict[tuple[int, int], Tile] = {}
        self.loops: dict[str, ir.Value] = {}

    def child(self, rows: np.ndarray) -> Frame:
        """A frame for the blocks at `rows` of this one, which sees this one's values."""
        frame = Frame(self.memory, self.scalars, self.integers, tuple(axis[rows] for axis in self.blocks), self.trace)
        frame.parent, frame.rows, frame.loops = self, rows, dict(self.loops)
        return frame

    def get(self, value: ir.Value) -> Tile:
        tile = self.values.get(value.number)
        if tile is None:
            if self.parent is None:
                raise KeyError(f"%{value.number} is used before it is computed")
            tile = self.values[value.number] = self.parent.get(value).rows(self.rows)
        return tile

    def run(self, region: ir.Region) -> tuple[Tile, ...]:
        """Evaluates the region's instructions in order and gives what it yields."""
        for value in region.body:
            match value:
                case ir.Store():
                    self._store(value)
                case ir.Report():
                    report(self, value)
                case ir.If():
                    self._if(value)
                case ir.For():
                    self._for(value)
                case ir.While():
                    self._while(value)
                case _:
                    tile = self.values[value.number] = self._evaluate(value)
                    if self.trace is not None:
                        self.trace(value, tile)
        return tuple(self.get(value) for value in region.yields)

    # --- extents -------------------------------------------------------------------------------------------

    def _exact(self, extent: Extent) -> int:
        return extent.compute(self._number)

    def _extent(self, extent: Extent) -> int:
        """The extent's value, the same in all blocks of the batch; below 0 counts as 0."""
        value = self._exact(extent)
        return max(0, value if extent.is_i32 else wrapped(value))

    def _number(self, atom: Atom) -> int:
        match atom:
            case Symbol(kind="block"):
                values = self.blocks["xyz".index(atom.name[-1])]
            case Symbol(kind="loop"):
                values = self.get(self.loops[atom.name]).data
            case Symbol():
                return int(self.integers[atom.name])
            case Opaque(value=ir.Value() as value):
                values = self.get(value).data
            case _:
                raise KeyError(str(atom))
        if (values != values[0]).any():
            raise ValueError(f"{atom} differs between blocks that are evaluated together")
        return int(values[0])

    def _shape(self, value: ir.Value) -> tuple[int, ...]:
        return tuple(self._extent(extent) for extent in value.type.shape)

    # --- instructions --------------------------------------------------------------------------------------

    def _evaluate(self, value: ir.Value) -> Tile:
        match value:
            case ir.Pointwise():
                return self._pointwise(value)
            case ir.Reduce() | ir.ActiveCount():
                return self._reduce(value)
            case ir.Load():
                return self._load(value)
            case ir.Pick():
                return self._pick(value)
            case ir.View() | ir.Broadcast() | ir.Pad() | ir.Update():
                return self._rearrange(value)
            case ir.Result():
                return self._result(value)
            case _:
                return self._leaf(value)

    def _leaf(self, value: ir.Value) -> Tile:
        dtype = NUMPY_DTYPES[value.type.dtype]
        match value:
            case ir.Const():
                return Tile(np.array([value.value]).astype(dtype))
            case ir.Scalar():
                return Tile(self.scalars[value.parameter].astype(dtype))
            case ir.Dim():
                return Tile(np.array([self._exact(value.extent)], np.int64).astype(dtype))
            case ir.BlockIndex():
                return Tile(self.blocks[value.axis].astype(dtype))
            case ir.Iota():
                shape = self._shape(value)
                place = [1] * (len(shape) + 1)
                place[value.axis + 1] = -1
                lanes = np.arange(shape[value.axis]).astype(dtype).reshape(place)
                return Tile(np.broadcast_to(lanes, (1, *shape)), (None,) * len(shape))
        raise TypeError(f"{type(value).__name__} has no value of its own")

    def _pointwise(self, value: ir.Pointwise) -> Tile:
        tiles, masks = align([self.get(operand) for operand in value.operands])
        data = np.asarray(reference.evaluate(value.op, *(tile.data for tile in tiles)))
        expected = NUMPY_DTYPES[value.type.dtype]
        if data.dtype != expected:
            dtypes = ", ".join(str(tile.data.dtype) for tile in tiles)
            raise TypeError(f"{value.op} of {dtypes} gave {data.dtype}, its type says {value.type.dtype}")
        masks = tuple(
            None if mask is None else np.broadcast_to(mask, (len(mask), extent))
            for mask, extent in zip(masks, data.shape[1:], strict=True)
        )
        return Tile(data, masks)

    def _reduce(self, value: ir.Reduce | ir.ActiveCount) -> Tile:
        tile = self.get(value.operand)
        axes = tuple(axis % len(tile.masks) for axis in value.axes) if tile.masks else ()
        if isinstance(value, ir.Reduce):
            data = reference.reduce(value.op, tile.data, tile.active(), tuple(axis + 1 for axis in axes))
        else:
            data = self._count(tile, axes).astype(NUMPY_DTYPES[value.type.dtype])
        masks = tuple(None if axis in axes else mask for axis, mask in enumerate(tile.masks))
        if value.keeps_axes:
            return Tile(data, masks)
        kept = [axis for axis in range(len(masks)) if axis not in axes]
        return Tile(
            data.reshape(len(data), *(data.shape[axis + 1] for axis in kept)), tuple(masks[axis] for axis in kept)
        )

    @staticmethod
    def _count(tile: Tile, axes: tuple[int, ...]) -> np.ndarray:
        """Active lanes along the axes, shaped as a reduction that keeps them."""
        shape = [1 if axis in axes else extent for axis, extent in enumerate(tile.shape)]
        count = np.ones((1, *shape), np.int64)
        for axis in axes:
            mask = tile.masks[axis]
            lanes = np.array([tile.shape[axis]]) if mask is None else mask.sum(axis=1)
            count = count * lanes.reshape(-1, *(1,) * len(shape))
        return count

    def _load(self, value: ir.Load) -> Tile:
        access = self._access(value.tensor, value.indices)
        data = self.memory.read(value.tensor, access)
        inside = list(access.inside)
        if inside and not access.points_inside.all():
            inside[0] = inside[0] & access.points_inside[:, None]
        masks = tuple(None if mask.all() else mask for mask in inside)
        active = joint_mask(masks) if inside else access.points_inside
        if value.fill is not None:
            fill = self.get(value.fill).at_rank(len(inside)).data
            return Tile(np.where(active, data, fill.astype(data.dtype)), (None,) * len(inside))
        return Tile(np.where(active, data, data.dtype.type(0)), masks)

    def _access(self, tensor: str, indices: tuple[ir.AxisIndex, ...]) -> Access:
        starts: list[np.ndarray] = []
        counts: list[int | None] = []
        for index in indices:
            is_span = isinstance(index, ir.SpanIndex)
            starts.append(self.get(index.start if is_span else index.index).data)
            counts.append(self._extent(index.count) if is_span else None)
        return self.memory.access(tensor, starts, counts)

    def _store(self, value: ir.Store) -> None:
        access = self._access(value.tensor, value.indices)
        tile = self.get(value.operand).at_rank(len(access.inside))
        mask = tile.active() & joint_mask(tuple(access.inside))
        mask = mask & access.points_inside.reshape(-1, *(1,) * len(access.inside))
        if self.trace is not None:
            self.trace(value, tile)
        self.memory.write(value.tensor, access, tile.data, mask, len(self.blocks[0]))

    def _pick(self, value: ir.Pick) -> Tile:
        (operand, index), masks = align([self.get(value.operand), self.get(value.index)])
        extent = operand.shape[-1]
        lane = index.data.astype(np.int64)
        inside = (lane >= 0) & (lane < extent)
        leading = np.broadcast_shapes(operand.data.shape[:-1], lane.shape[:-1])
        lane = np.broadcast_to(np.where(inside, lane, 0), (*leading, 1))
        source = np.where(operand.active(), operand.data, operand.data.dtype.type(0))
        if extent:
            picked = np.take_along_axis(np.broadcast_to(source, (*leading, extent)), lane, axis=-1)
        else:
            picked = np.zeros(lane.shape, source.dtype)
        leading_masks = tuple(
            None if mask is None else np.broadcast_to(mask, (len(mask), count))
            for mask, count in zip(masks[:-1], leading[1:], strict=True)
        )
        return Tile(np.where(inside, picked, picked.dtype.type(0)), (*leading_masks, index.masks[-1]))

    def _rearrange(self, value: ir.Value) -> Tile:
        match value:
            case ir.View():
                return self._view(value)
            case ir.Broadcast():
                return stretch(self.get(value.operand), self._shape(value))
            case ir.Pad():
                tile, fill = self.get(value.operand), self.get(value.fill)
                shape = self._shape(value)
                tile, fill = stretch(tile, shape), stretch(fill, shape)
                return Tile(np.where(tile.active(), tile.data, fill.data), (None,) * len(shape))
            case ir.Update():
                old = self.get(value.old)
                new = stretch(self.get(value.new), old.shape)
                return Tile(np.where(new.active(), new.data, old.data), old.masks)
        raise TypeError(type(value).__name__)

    def _view(self, value: ir.View) -> Tile:
        tile = self.get(value.operand)
        shape = [1 if axis is None else tile.shape[axis] for axis in value.axes]
        masks: list[Mask] = [None if axis is None else tile.masks[axis] for axis in value.axes]
        kept = [axis for axis in value.axes if axis is not None]
        if kept != sorted(kept):
            raise ValueError("a view keeps the order of the axes")
        for axis, mask in enumerate(tile.masks):
            # A dropped axis whose one lane is inactive makes all lanes inactive: the first axis left says so.
            if axis not in kept and mask is not None and masks:
                masks[0] = np.broadcast_to(mask, (len(mask), shape[0])) & (True if masks[0] is None else masks[0])
        return Tile(tile.data.reshape(len(tile.data), *shape), tuple(masks))

    def _result(self, value: ir.Result) -> Tile:
        key = (value.producer.number, value.index)
        if key in self.results:
            return self.results[key]
        if self.parent is None:
            raise KeyError(f"%{key[0]} has no result {key[1]} yet")
        return self.parent._result(value).rows(self.rows)

    # --- control -------------------------------------------------------------------------------------------

    def _scalar(self, value: ir.Value) -> np.ndarray:
        """A scalar's value in every block."""
        return np.broadcast_to(self.get(value).data, (len(self.blocks[0]),))

    def _keep(self, value: ir.Value, tiles: tuple[Tile, ...]) -> None:
        for index, tile in enumerate(tiles):
            self.results[value.number, index] = tile

    def _if(self, value: ir.If) -> None:
        condition = self._scalar(value.condition)
        parts: list[tuple[np.ndarray, tuple[Tile, ...]]] = []
        for region, chosen in ((value.then, condition), (value.otherwise, ~condition)):
            if chosen.all():
                self._keep(value, self.run(region))
                return
            if chosen.any():
                rows = np.flatnonzero(chosen)
                parts.append((rows, self.child(rows).run(region)))
        outputs = range(len(value.then.yields))
        self._keep(
            value, tuple(merge(len(condition), [(rows, tiles[output]) for rows, tiles in parts]) for output in outputs)
        )

    def _for(self, value: ir.For) -> None:
        start = self._scalar(value.start).astype(np.int64)
        stop = self._scalar(value.stop).astype(np.int64)
        self.loops[value.index.name] = value.index
        round_number = 0

        def goes_on(carried: tuple[Tile, ...], rows: np.ndarray) -> np.ndarray:
            running = start + round_number * value.step < stop
            if value.until is not None:
                running = running & ~np.broadcast_to(carried[value.until].data, running.shape)
            return running

        def body(frame: Frame, carried: tuple[Tile, ...], rows: np.ndarray) -> tuple[Tile, ...]:
            nonlocal round_number
            index = (start[rows] + round_number * value.step).astype(np.int32)
            round_number += 1
            counter = frame.values[value.index.number] = Tile(index[:1] if (index == index[0]).all() else index)
            if frame.trace is not None:
                frame.trace(value.index, counter)
            return frame._round(value.carried, carried, value.body)

        self._loop(value, value.initial, goes_on, body)

    def _while(self, value: ir.While) -> None:
        rounds = 0

        def goes_on(carried: tuple[Tile, ...], rows: np.ndarray) -> np.ndarray:
            result = np.zeros(len(self.blocks[0]), np.bool_)
            if rounds < value.bound:
                # A block that has left does not ask again: what the condition reports counts.
                is_all = len(rows) == len(result)
                frame = self if is_all else self.child(rows)
                own = carried if is_all else tuple(tile.rows(rows) for tile in carried)
                result[rows] = frame._round(value.carried, own, value.condition)[0].data
            return result

        def body(frame: Frame, carried: tuple[Tile, ...], rows: np.ndarray) -> tuple[Tile, ...]:
            nonlocal rounds
            rounds += 1
            return frame._round(value.carried, carried, value.body)

        self._loop(value, value.initial, goes_on, body)

    def _round(
        self, arguments: tuple[ir.Argument, ...], carried: tuple[Tile, ...], region: ir.Region
    ) -> tuple[Tile, ...]:
        """The region with the values carried into it."""
        for argument, tile in zip(arguments, carried, strict=True):
            self.values[argument.number] = tile
        return self.run(region)

    def _loop(
        self,
        value: ir.For | ir.While,
        initial: tuple[ir.Value, ...],
        goes_on: Callable[[tuple[Tile, ...], np.ndarray], np.ndarray],
        body: Callable[[Frame, tuple[Tile, ...], np.ndarray], tuple[Tile, ...]],
    ) -> None:
        """Rounds until no block goes on. A block that has left the loop keeps what it carries."""
        count = len(self.blocks[0])
        carried = tuple(self.get(tile) for tile in initial)
        left = np.zeros(count, np.bool_)
        while True:
            left = left | ~goes_on(carried, np.flatnonzero(~left))
            if left.all():
                break
            rows = np.flatnonzero(~left)
            if len(rows) == count:
                carried = body(self, carried, rows)
                continue
            some = body(self.child(rows), tuple(tile.rows(rows) for tile in carried), rows)
            rest = np.flatnonzero(left)
            carried = tuple(
                merge(count, [(rest, tile.rows(rest)), (rows, new)]) for tile, new in zip(carried, some, strict=True)
            )
        self._keep(value, carried)
