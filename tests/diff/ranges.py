"""The specification interpreter on ranges: for each result the values that an implementation may have there.

Every block is evaluated three times side by side, as three stretches of the interpreter's axis of blocks: with the
value, the lower and the upper bound of everything. Selection and movement of lanes is the interpreter's own; arithmetic
is done on the three together. Control flow and places of accesses must not depend on what is uncertain.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.diff import reductions, triples
from tests.diff.triples import Triple
from tilec.tile import interp, ir
from tilec.tile.interp_frame import Frame
from tilec.tile.interp_memory import Access, Memory
from tilec.tile.interp_tiles import Tile, align
from tilec.types import DType


class Undecided(Exception):
    """Control flow, or the place of an access, depends on a value that is not certain: no result can be told."""


class _TripleMemory(Memory):
    """Three copies of each tensor, one after the other."""

    def __init__(self, kernel: ir.Kernel, tensors: Mapping[str, np.ndarray], evaluate) -> None:
        super().__init__(kernel, tensors, evaluate)
        self.sizes = {name: array.size for name, array in self._arrays.items()}
        self._arrays = {name: np.tile(array, 3) for name, array in self._arrays.items()}

    def triple_results(self) -> dict[str, Triple]:
        """Per written tensor the arrays in the storage dtype."""
        results = {}
        for name, parameter in self._parameters.items():
            if parameter.access != "in":
                three = self._as_given(parameter).reshape(3, *self._shapes[name])
                results[name] = Triple(three[0], three[1], three[2])
        return results

    def dtype_of(self, tensor: str) -> DType:
        return self._parameters[tensor].dtype


class _RangeFrame(Frame):
    memory: _TripleMemory

    def child(self, rows: np.ndarray) -> _RangeFrame:
        third = len(self.blocks[0]) // 3
        first = rows[rows < third]
        if not np.array_equal(rows, np.concatenate([first, first + third, first + 2 * third])):
            raise Undecided("control flow depends on an uncertain value")
        frame = _RangeFrame(self.memory, self.scalars, self.integers, tuple(a[rows] for a in self.blocks), self.trace)
        frame.parent, frame.rows, frame.loops = self, rows, dict(self.loops)
        return frame

    # --- triples and tiles -----------------------------------------------------------------------------------

    def _three(self, data: np.ndarray) -> Triple:
        if len(data) == 1:
            return triples.exactly(data)
        parts = data.reshape(3, len(data) // 3, *data.shape[1:])
        return Triple(parts[0], parts[1], parts[2])

    def _joined(self, triple: Triple) -> np.ndarray:
        if len(triple.value) == 1 and triple.is_exact:
            return triple.value
        shape = (len(self.blocks[0]) // 3, *triple.value.shape[1:])
        return np.concatenate([np.broadcast_to(part, shape) for part in (triple.value, triple.low, triple.high)])

    def _certain(self, data: np.ndarray) -> None:
        if not self._three(data).is_exact:
            raise Undecided("a scalar that decides is uncertain")

    # --- instructions ----------------------------------------------------------------------------------------

    def _pointwise(self, value: ir.Pointwise) -> Tile:
        tiles, masks = align([self.get(operand) for operand in value.operands])
        with np.errstate(all="ignore"):
            data = self._joined(triples.apply(value.op, [self._three(tile.data) for tile in tiles]))
        masks = tuple(
            None if mask is None else np.broadcast_to(mask, (len(mask), extent))
            for mask, extent in zip(masks, data.shape[1:], strict=True)
        )
        return Tile(data, masks)

    def _reduce(self, value: ir.Reduce | ir.ActiveCount) -> Tile:
        tile = super()._reduce(value)
        if isinstance(value, ir.ActiveCount):
            return tile
        operand = self.get(value.operand)
        axes = tuple(sorted(axis % len(operand.masks) + 1 for axis in value.axes)) if operand.masks else ()
        active = np.asarray(operand.active())
        # Masks are the same in the three copies.
        active = active if len(active) == 1 else active[: len(active) // 3]
        with np.errstate(all="ignore"):
            triple = reductions.reduce(value.op, self._three(operand.data), active, axes)
        data = self._joined(triple)
        return Tile(data.reshape(len(data), *tile.shape), tile.masks)

    def _load(self, value: ir.Load) -> Tile:
        tile = super()._load(value)
        with np.errstate(all="ignore"):
            return Tile(self._joined(triples.flushed(self._three(tile.data))), tile.masks)

    def _access(self, tensor: str, indices: tuple[ir.AxisIndex, ...]) -> Access:
        for index in indices:
            self._certain(self.get(index.start if isinstance(index, ir.SpanIndex) else index.index).data)
        access = super()._access(tensor, indices)
        count = len(self.blocks[0])
        index = np.broadcast_to(access.index, (count, *access.index.shape[1:]))
        copy = np.repeat(np.arange(3), count // 3).reshape(-1, *(1,) * (index.ndim - 1))
        return Access(index + copy * self.memory.sizes[tensor], access.inside, access.points_inside)

    def _store(self, value: ir.Store) -> None:
        dtype = self.memory.dtype_of(value.tensor)
        if dtype in (DType.I8, DType.U8):
            tile = self.get(value.operand)
            data = self._joined(_in_range(self._three(tile.data), dtype))
            self.values[value.operand.number] = Tile(data, tile.masks)
            super()._store(value)
            self.values[value.operand.number] = tile
        else:
            super()._store(value)

    def _pick(self, value: ir.Pick) -> Tile:
        tile = super()._pick(value)
        index = self._three(self.get(value.index).data)
        if index.is_exact:
            return tile
        triple = self._three(np.broadcast_to(tile.data, (len(self.blocks[0]), *tile.shape)))
        loose = np.broadcast_to(index.varies, triple.value.shape)
        return Tile(self._joined(triples.anything(triple.value, loose, triple.low, triple.high)), tile.masks)

    def _scalar(self, value: ir.Value) -> np.ndarray:
        data = super()._scalar(value)
        self._certain(np.asarray(data))
        return data


def _in_range(triple: Triple, dtype: DType) -> Triple:
    """Uncertain integers that 8 bits may cut: any number of the type."""
    least, most = (-128, 127) if dtype is DType.I8 else (0, 255)
    loose = triple.varies & ((triple.low < least) | (triple.high > most))
    low = np.where(loose, triple.low.dtype.type(least), triple.low)
    high = np.where(loose, triple.high.dtype.type(most), triple.high)
    return Triple(triple.value, low, high)


def run(
    kernel: ir.Kernel,
    tensors: Mapping[str, np.ndarray],
    scalars: Mapping[str, bool | int | float],
    dims: Mapping[str, int],
) -> dict[str, Triple]:
    """What `tilec.tile.interp.run` gives, as value, lowest and highest arrays in storage dtypes. Raises Undecided."""
    values = interp._scalar_values(kernel, scalars)
    integers = dict(dims) | {name: int(value[0]) for name, value in values.items() if value.dtype.kind in "iu"}
    memory = _TripleMemory(kernel, tensors, lambda extent: max(0, extent.evaluate(integers)))
    grid = [max(0, extent.evaluate(integers)) for extent in kernel.grid]
    count = grid[0] * grid[1] * grid[2]
    together = max(1, interp._blocks_at_once(kernel, integers) // 4)
    for first in range(0, count, together):
        number = np.arange(first, min(first + together, count), dtype=np.int64)
        number = np.tile(number, 3)
        blocks = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        frame = _RangeFrame(memory, values, integers, tuple(axis.astype(np.int32) for axis in blocks))
        with np.errstate(all="ignore"):
            frame.run(kernel.body)
    return memory.triple_results()
