"""Builds small kernels of tile IR by hand, with types inferred by the simplest rules that are right."""

from __future__ import annotations

from tilec.ops import POINTWISE, REDUCTIONS, Operand, apply_rule
from tilec.source import Source, Span
from tilec.tile import ir
from tilec.types import (
    ONE,
    SCALAR_BOOL,
    SCALAR_I32,
    Bound,
    DType,
    Extent,
    Symbol,
    TileType,
    broadcast_activity,
    stretch,
)

SPAN = Span(Source("hand.ph", "kernel hand() {}"), 0, 6)


def dim(name):
    return Extent.of(Symbol(name, "dim"))


class Builder:
    """Appends instructions to a stack of regions. Every method gives the new instruction."""

    def __init__(self):
        self.stack = [[]]
        self.tensors = []
        self.scalars = []
        self.dims = []
        self.loops = 0

    def add(self, value):
        self.stack[-1].append(value)
        return value

    def tensor(self, name, dtype, dims, access="in"):
        extents = tuple(dim(each) if isinstance(each, str) else Extent.of(each) for each in dims)
        self.dims += [each for each in dims if isinstance(each, str) and each not in self.dims]
        self.tensors.append(ir.TensorParameter(name, dtype, (dtype,), None, extents, access, "", SPAN))
        return name

    def scalar(self, name, dtype, default=None):
        self.scalars.append(ir.ScalarParameter(name, dtype, default, False, "", SPAN))
        return self.add(ir.Scalar(TileType(dtype), SPAN, name))

    def const(self, value, dtype=None):
        dtype = dtype or (DType.BOOL if isinstance(value, bool) else DType.I32 if isinstance(value, int) else DType.F32)
        return self.add(ir.Const(TileType(dtype), SPAN, value))

    def of(self, value):
        return value if isinstance(value, ir.Value) else self.const(value)

    def block(self, axis=0):
        return self.add(ir.BlockIndex(SCALAR_I32, SPAN, axis))

    def dim(self, extent):
        return self.add(ir.Dim(SCALAR_I32, SPAN, Extent.of(extent)))

    def iota(self, axis, shape, dtype=DType.I32):
        return self.add(ir.Iota(TileType(dtype, tuple(map(Extent.of, shape))), SPAN, axis))

    def op(self, name, *operands):
        operands = [self.of(operand) for operand in operands]
        signature = apply_rule(POINTWISE[name].rule, [Operand(operand.type.dtype) for operand in operands])
        converted = []
        for operand, dtype in zip(operands, signature.operands, strict=True):
            if operand.type.dtype is not dtype:
                operand = self.add(ir.Pointwise(operand.type.with_dtype(dtype), SPAN, str(dtype), (operand,)))
            converted.append(operand)
        shape = self.shape([operand.type.shape for operand in converted])
        active = broadcast_activity(shape, [operand.type for operand in converted])
        return self.add(ir.Pointwise(TileType(signature.result, shape, active), SPAN, name, tuple(converted)))

    @staticmethod
    def shape(shapes):
        rank = max(map(len, shapes))
        padded = [(ONE,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
        return tuple(next((extent for extent in axis if not extent.is_one), ONE) for axis in zip(*padded, strict=True))

    def reduce(self, op, operand, axes=(-1,), keeps_axes=True):
        (dtype,) = apply_rule(REDUCTIONS[op].rule, [Operand(operand.type.dtype)]).operands
        if operand.type.dtype is not dtype:
            operand = self.op(str(dtype), operand)
        result = apply_rule(REDUCTIONS[op].rule, [Operand(dtype)]).result
        axes = tuple(axis % operand.type.rank for axis in axes)
        tile = self._reduced(operand, axes, keeps_axes, result)
        return self.add(ir.Reduce(tile, SPAN, op, operand, axes, keeps_axes))

    def count(self, operand, axes=(-1,), dtype=DType.F32, keeps_axes=True):
        axes = tuple(axis % operand.type.rank for axis in axes)
        tile = self._reduced(operand, axes, keeps_axes, dtype)
        return self.add(ir.ActiveCount(tile, SPAN, operand, axes, keeps_axes))

    @staticmethod
    def _reduced(operand, axes, keeps_axes, dtype):
        tile = operand.type
        shape, active = [], []
        for axis, extent in enumerate(tile.shape):
            if axis not in axes:
                shape.append(extent)
                active.append(tile.active[axis])
            elif keeps_axes:
                shape.append(ONE)
                active.append(frozenset())
        return TileType(dtype, tuple(shape), tuple(active))

    def logsumexp(self, x, axes=(-1,)):
        return self.op("lse_add", self.reduce("max", x, axes), self.reduce("rest", x, axes))

    def pick(self, operand, index):
        shape = self.shape([operand.type.shape[:-1], index.type.shape[:-1]])
        leading = [
            TileType(each.type.dtype, each.type.shape[:-1], each.type.active[:-1]) for each in (operand, index)
        ]
        active = (*broadcast_activity(shape, leading), index.type.active[-1])
        return self.add(ir.Pick(TileType(operand.type.dtype, (*shape, ONE), active), SPAN, operand, index))

    def view(self, operand, axes):
        shape = tuple(ONE if axis is None else operand.type.shape[axis] for axis in axes)
        active = tuple(frozenset() if axis is None else operand.type.active[axis] for axis in axes)
        return self.add(ir.View(TileType(operand.type.dtype, shape, active), SPAN, operand, tuple(axes)))

    def broadcast(self, operand, shape):
        shape = tuple(map(Extent.of, shape))
        active = broadcast_activity(shape, [operand.type])
        return self.add(ir.Broadcast(TileType(operand.type.dtype, shape, active), SPAN, operand))

    def pad(self, operand, fill):
        return self.add(ir.Pad(TileType(operand.type.dtype, operand.type.shape), SPAN, operand, self.of(fill)))

    def update(self, old, new):
        return self.add(ir.Update(old.type, SPAN, old, new))

    def span(self, start, count):
        """Elements start .. start + count of an axis; with `extent` known to the caller the type's bounds follow."""
        return ir.SpanIndex(self.of(start), Extent.of(count))

    def point(self, index):
        return ir.PointIndex(self.of(index))

    def load(self, tensor, *indices, fill=None, starts=()):
        parameter = next(each for each in self.tensors if each.name == tensor)
        fill = None if fill is None else self.of(fill)
        tile = self._access_type(parameter, indices, fill is not None, starts)
        return self.add(ir.Load(tile, SPAN, tensor, tuple(indices), fill))

    def store(self, tensor, operand, *indices, starts=()):
        parameter = next(each for each in self.tensors if each.name == tensor)
        tile = self._access_type(parameter, indices, False, starts)
        return self.add(ir.Store(tile, SPAN, tensor, tuple(indices), self.of(operand)))

    @staticmethod
    def _access_type(parameter, indices, is_filled, starts):
        """`starts` gives the starts as extents, by tensor axis (0 where missing)."""
        shape, active = [], []
        outer = frozenset()
        starts = [*starts, *(0,) * (len(indices) - len(starts))]
        for index, extent, start in zip(indices, parameter.dims, starts, strict=True):
            start = Extent.of(start)
            if isinstance(index, ir.PointIndex):
                outer |= stretch(frozenset({Bound(-start, extent - start)}))
                continue
            shape.append(index.count)
            whole = start == Extent.of(0) and index.count == extent
            active.append(frozenset() if whole else frozenset({Bound(-start, extent - start)}))
        if is_filled or not shape:
            return TileType(parameter.dtype.compute, tuple(shape))
        active[0] |= outer
        return TileType(parameter.dtype.compute, tuple(shape), tuple(active))

    def region(self, build, *arguments):
        self.stack.append([])
        yields = build(*arguments)
        return ir.Region(self.stack.pop(), tuple(self.of(each) for each in yields or ()))

    def results(self, producer, types):
        return [self.add(ir.Result(tile, SPAN, producer, index)) for index, tile in enumerate(types)]

    def branch(self, condition, then, otherwise):
        first, second = self.region(then), self.region(otherwise)
        producer = self.add(ir.If(SCALAR_BOOL, SPAN, condition, first, second))
        return self.results(producer, [each.type for each in first.yields])

    def loop(self, start, stop, step, initial, build, until=None):
        start, stop = self.of(start), self.of(stop)
        initial = tuple(self.of(each) for each in initial)
        self.loops += 1
        index = ir.Argument(SCALAR_I32, SPAN, name=f"i.{self.loops}")
        carried = tuple(ir.Argument(each.type, SPAN) for each in initial)
        body = self.region(build, index, *carried)
        producer = self.add(ir.For(SCALAR_I32, SPAN, index, start, stop, step, carried, initial, body, until))
        return self.results(producer, [each.type for each in initial])

    def repeat(self, initial, condition, build, bound=65536):
        initial = tuple(self.of(each) for each in initial)
        carried = tuple(ir.Argument(each.type, SPAN) for each in initial)
        test = self.region(lambda *arguments: (condition(*arguments),), *carried)
        body = self.region(build, *carried)
        producer = self.add(ir.While(SCALAR_BOOL, SPAN, carried, initial, test, body, bound))
        return self.results(producer, [each.type for each in initial])

    def kernel(self, grid=(1, 1, 1)):
        grid = tuple(map(Extent.of, grid))
        names = tuple(each.name for each in (*self.tensors, *self.scalars))
        return ir.Kernel(
            "hand", tuple(self.tensors), tuple(self.scalars), names, {}, tuple(self.dims), (), grid, (),
            ir.Region(self.stack[0]), None, "", SPAN,
        )  # fmt: skip
