"""Checks a kernel's tile IR: types, shapes, activity, dominance, what regions yield. A failure is a bug of tilec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from tilec.errors import InternalError
from tilec.ops import POINTWISE, REDUCTIONS, Operand, TypeRuleError, apply_rule
from tilec.tile import ir
from tilec.tile.make import broadcast_shape, reduced_type
from tilec.tile.print import print_value
from tilec.tile.reports import KINDS as REPORT_KINDS
from tilec.tile.walk import extents_of, opaque_of, operands_of, regions_of, scalar_of
from tilec.types import ONE, SCALAR_BOOL, SCALAR_I32, DType, Extent, Symbol, TileType, broadcast_activity

_T = TypeVar("_T")


def verify(kernel: ir.Kernel, stage: str = "the tile IR") -> None:
    """Raises InternalError, which names `stage` and shows the instruction, at the first thing that is wrong."""
    _Verifier(kernel, stage).kernel()


class _Wrong(Exception):
    pass


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise _Wrong(message)


def _found(row: _T | None, message: str) -> _T:
    if row is None:
        raise _Wrong(message)
    return row


def _same(actual: TileType, expected: TileType, what: str) -> None:
    _require(actual == expected, f"{what} is {actual}, not {expected}")


class _Verifier:
    """`_visible` holds the numbers of the values that the current place may use."""

    def __init__(self, kernel: ir.Kernel, stage: str) -> None:
        self._kernel = kernel
        self._stage = stage
        self._tensors = {tensor.name: tensor for tensor in kernel.tensors}
        self._scalars = {scalar.name for scalar in kernel.scalars} | set(kernel.constants)
        self._visible: set[int] = set()
        self._seen: set[int] = set()
        self._loops: list[str] = []

    def kernel(self) -> None:
        for requirement in self._kernel.requirements:
            self._guarded(requirement.condition, lambda value=requirement.condition: self._requirement(value))
        self._region(self._kernel.body)

    def _guarded(self, value: ir.Value, check: Callable[[], None]) -> None:
        try:
            check()
        except (_Wrong, TypeRuleError) as error:
            message = f"{error}\nin kernel {self._kernel.name}: {print_value(value)}"
            raise InternalError(self._stage, message) from None
        except InternalError as error:
            raise InternalError(self._stage, f"{error}\nin kernel {self._kernel.name}: {print_value(value)}") from None

    def _requirement(self, value: ir.Value) -> None:
        _require(value.type == SCALAR_BOOL, "a requirement's condition is a scalar bool")
        allowed = ir.Dim | ir.Scalar | ir.Const | ir.Pointwise
        stack, seen = [value], {value.number}
        while stack:
            part = stack.pop()
            _require(isinstance(part, allowed), f"{type(part).__name__} in a requirement")
            self._types(part)
            new = {operand.number: operand for operand in operands_of(part) if operand.number not in seen}
            stack.extend(new.values())
            seen.update(new)

    def _region(self, region: ir.Region, arguments: Sequence[ir.Argument] = ()) -> None:
        outer = set(self._visible)
        self._visible |= {argument.number for argument in arguments}
        for value in region.body:
            self._guarded(value, lambda value=value: self._instruction(value))
        for value in region.yields:
            self._guarded(value, lambda value=value: self._usable(value, "the region's yield"))
        self._visible = outer

    def _usable(self, value: ir.Value, what: str) -> None:
        _require(value.number in self._visible, f"{what} %{value.number} is not defined at this place")

    def _instruction(self, value: ir.Value) -> None:
        _require(not isinstance(value, ir.Argument), "an argument stands in a region's body")
        _require(value.number not in self._seen, f"%{value.number} stands in the kernel twice")
        self._seen.add(value.number)
        for operand in operands_of(value):
            self._usable(operand, "the operand")
        for mentioned in opaque_of(value):
            self._usable(mentioned, "an extent's atom")
        self._symbols(value)
        if not isinstance(value, ir.Store | ir.Report | ir.If | ir.For | ir.While):
            _require(value.type.dtype.is_compute, f"{value.type.dtype} does not compute")
        self._types(value)
        if regions_of(value):
            self._control(value)
        self._visible.add(value.number)

    def _symbols(self, value: ir.Value) -> None:
        known = {"dim": self._kernel.dims, "scalar": self._scalars, "loop": self._loops}
        for extent in extents_of(value):
            for atom in extent.atoms:
                if isinstance(atom, Symbol) and atom.kind in known:
                    _require(atom.name in known[atom.kind], f"the {atom.kind} {atom.name} is not known")

    # --- types ---------------------------------------------------------------------------------------------

    def _types(self, value: ir.Value) -> None:
        match value:
            case ir.Pointwise():
                _pointwise(value)
            case ir.Reduce() | ir.ActiveCount():
                _reduction(value)
            case ir.Load() | ir.Store():
                self._access(value)
            case ir.Pick():
                _pick(value)
            case ir.View() | ir.Broadcast() | ir.Pad() | ir.Update():
                _rearrangement(value)
            case ir.Result():
                _result(value)
            case ir.Report():
                _report(value)
            case ir.Gradient():
                _same(value.type, value.x.type, "a gradient's type")
            case ir.Stop():
                _same(value.type, value.operand.type, "its type")
            case ir.If() | ir.For() | ir.While():
                pass
            case _:
                self._leaf(value)

    def _leaf(self, value: ir.Value) -> None:
        match value:
            case ir.Const():
                kinds = {DType.BOOL: bool, DType.I32: int, DType.U32: int, DType.F32: float}
                wanted = kinds[value.type.dtype]
                _require(type(value.value) is wanted, f"a constant of {value.type.dtype} holds {value.value!r}")
            case ir.Scalar():
                _require(value.parameter in self._scalars, f"no scalar parameter {value.parameter}")
            case ir.Dim():
                _require(value.type == SCALAR_I32, "a dim is an i32 scalar")
            case ir.BlockIndex():
                _same(value.type, SCALAR_I32, "a block index")
                _require(value.axis in (0, 1, 2), f"no block axis {value.axis}")
            case ir.Iota():
                _require(0 <= value.axis < value.type.rank, f"axis {value.axis} of rank {value.type.rank}")
                _require(value.type.is_fully_active, "an iota has no inactive lanes")
        if not isinstance(value, ir.Iota):
            _require(value.type.rank == 0, f"{type(value).__name__} is a scalar")

    def _access(self, value: ir.Load | ir.Store) -> None:
        tensor = _found(self._tensors.get(value.tensor), f"no tensor {value.tensor}")
        _require(len(value.indices) == len(tensor.dims), f"{len(value.indices)} indices of rank {len(tensor.dims)}")
        for index in value.indices:
            _same(scalar_of(index).type, SCALAR_I32, "an index")
        counts = tuple(index.count for index in value.indices if isinstance(index, ir.SpanIndex))
        if isinstance(value, ir.Store):
            self._store(value, tensor, counts)
            return
        _require(value.type.dtype is tensor.dtype.compute, f"{value.tensor} is read as {tensor.dtype.compute}")
        _require(value.type.shape == counts, "a load's shape is that of its spans")
        if value.fill is not None:
            _same(value.fill.type, TileType(value.type.dtype), "the fill")
            _require(value.type.is_fully_active, "a load with a fill has no inactive lanes")

    @staticmethod
    def _store(value: ir.Store, tensor: ir.TensorParameter, counts: tuple[Extent, ...]) -> None:
        _require(tensor.access != "in", f"{value.tensor} is only read")
        stored, wanted = value.operand.type.dtype, tensor.dtype.compute
        are_integers = {stored, wanted} <= {DType.I32, DType.U32}
        _require(stored is wanted or are_integers, f"{stored} stored to {value.tensor}, which takes {wanted}")
        if value.type is not None:
            _require(value.type.shape == counts, "a store's shape is that of its spans")
        shape = broadcast_shape([value.operand.type.shape, counts])
        _require(shape == counts, f"{value.operand.type} does not broadcast to the spans")

    # --- control -------------------------------------------------------------------------------------------

    def _control(self, value: ir.Value) -> None:
        match value:
            case ir.If():
                _same(value.condition.type, SCALAR_BOOL, "an if's condition")
                self._region(value.then)
                self._region(value.otherwise)
                _all_same(value.then.yields, value.otherwise.yields, "the sides' yields")
            case ir.For():
                _same(value.start.type, SCALAR_I32, "a loop's start")
                _same(value.stop.type, SCALAR_I32, "a loop's stop")
                _same(value.index.type, SCALAR_I32, "a loop's index")
                _require(value.step > 0, f"a loop's step is {value.step}")
                if value.until is not None:
                    _same(value.carried[value.until].type, SCALAR_BOOL, "what ends a loop")
                self._loops.append(value.index.name)
                self._region(value.body, (value.index, *value.carried))
                self._loops.pop()
                self._carried(value)
            case ir.While():
                _require(value.bound > 0, "a while's bound is positive")
                self._region(value.condition, value.carried)
                _require(len(value.condition.yields) == 1, "a while's condition is one value")
                _same(value.condition.yields[0].type, SCALAR_BOOL, "a while's condition")
                self._region(value.body, value.carried)
                self._carried(value)

    @staticmethod
    def _carried(value: ir.For | ir.While) -> None:
        _all_same(value.initial, value.carried, "what a loop carries, at first,")
        _all_same(value.body.yields, value.carried, "what a loop's body yields")


def _all_same(actual: Sequence[ir.Value], expected: Sequence[ir.Value], what: str) -> None:
    _require(len(actual) == len(expected), f"{what}: {len(actual)} values, not {len(expected)}")
    for left, right in zip(actual, expected, strict=True):
        _same(left.type, right.type, what)


def _pointwise(value: ir.Pointwise) -> None:
    row = _found(POINTWISE.get(value.op), f"no operation {value.op}")
    _require(len(value.operands) == row.arity, f"{value.op} takes {row.arity} operands")
    types = [operand.type for operand in value.operands]
    dtypes = tuple(tile.dtype for tile in types)
    signature = apply_rule(row.rule, [Operand(dtype) for dtype in dtypes])
    wanted = ", ".join(map(str, signature.operands))
    _require(signature.operands == dtypes, f"operands of {value.op} are not converted to {wanted}")
    shape = broadcast_shape([tile.shape for tile in types])
    _same(value.type, TileType(signature.result, shape, broadcast_activity(shape, types)), "its type")


def _reduction(value: ir.Reduce | ir.ActiveCount) -> None:
    rank = value.operand.type.rank
    _require(bool(value.axes) and all(0 <= axis < rank for axis in value.axes), f"axes {value.axes} of rank {rank}")
    _require(tuple(sorted(set(value.axes))) == value.axes, f"axes {value.axes} are not in order")
    expected = reduced_type(value.operand.type, value.axes, keeps_axes=value.keeps_axes)
    if isinstance(value, ir.ActiveCount):
        _require(value.type.dtype in (DType.F32, DType.I32), "a count is f32 or i32")
        _same(value.type, expected.with_dtype(value.type.dtype), "its type")
        return
    row = _found(REDUCTIONS.get(value.op), f"no reduction {value.op}")
    signature = apply_rule(row.rule, [Operand(value.operand.type.dtype)])
    _require(signature.operands == (value.operand.type.dtype,), f"{value.op} wants {signature.operands[0]}")
    _same(value.type, expected.with_dtype(signature.result), "its type")


def _pick(value: ir.Pick) -> None:
    operand, index = value.operand.type, value.index.type
    _require(operand.rank >= 1, "a pick from a scalar")
    _require(index.dtype is DType.I32, f"a pick at {index.dtype}")
    _require(not index.shape or index.shape[-1].is_one, "a pick's index has extent 1 on its last axis")
    shape = broadcast_shape([operand.shape[:-1], index.shape[:-1]])
    leading = [TileType(tile.dtype, tile.shape[:-1], tile.active[:-1]) for tile in (operand, index)]
    active = broadcast_activity(shape, leading)
    _require(value.type.dtype is operand.dtype, "a pick keeps the dtype")
    _require(bool(value.type.shape) and value.type.shape[-1].is_one, "a pick has extent 1 on its last axis")
    _require(value.type.shape[:-1] == shape, "a pick's leading axes are those of its operands")
    _require(value.type.active[:-1] == active, "a pick's activity is that of its operands")


def _rearrangement(value: ir.Value) -> None:
    match value:
        case ir.View():
            _view(value)
        case ir.Broadcast():
            shape = broadcast_shape([value.operand.type.shape, value.type.shape])
            _require(shape == value.type.shape, f"{value.operand.type} does not stretch to {value.type}")
            active = broadcast_activity(shape, [value.operand.type])
            _same(value.type, TileType(value.operand.type.dtype, shape, active), "its type")
        case ir.Pad():
            _require(value.fill.type.dtype is value.operand.type.dtype, "a pad's fill has the operand's dtype")
            shape = broadcast_shape([value.operand.type.shape, value.fill.type.shape, value.type.shape])
            _same(value.type, TileType(value.operand.type.dtype, shape), "its type")
        case ir.Update():
            _require(value.new.type.dtype is value.old.type.dtype, "an update keeps the dtype")
            shape = broadcast_shape([value.old.type.shape, value.new.type.shape])
            _require(shape == value.old.type.shape, f"{value.new.type} does not broadcast to {value.old.type}")
            _same(value.type, value.old.type, "its type")


def _report(value: ir.Report) -> None:
    _require(value.kind in REPORT_KINDS, f"no kind of report {value.kind}")
    _require(value.where.type.dtype is DType.BOOL, "a report's lanes are bools")
    _require(len(value.names) == len(value.values), "a report has a name a value")
    shape = value.where.type.shape
    for one in value.values:
        stretches = broadcast_shape([shape, one.type.shape]) == shape
        _require(stretches, f"{one.type} does not stretch to the report's lanes")


def _view(value: ir.View) -> None:
    operand = value.operand.type
    kept = [axis for axis in value.axes if axis is not None]
    _require(kept == sorted(set(kept)) and all(0 <= axis < operand.rank for axis in kept), "a view's axes are in order")
    for axis, extent in enumerate(operand.shape):
        _require(axis in kept or extent.is_one, f"axis {axis} of extent {extent} is dropped")
    _require(value.type.dtype is operand.dtype, "a view keeps the dtype")
    _require(value.type.rank == len(value.axes), f"{len(value.axes)} axes of rank {value.type.rank}")
    for axis, source in enumerate(value.axes):
        extent = value.type.shape[axis]
        expected = ONE if source is None else operand.shape[source]
        _require(extent == expected, f"axis {axis} has extent {extent}, not {expected}")


def _result(value: ir.Result) -> None:
    match value.producer:
        case ir.If(then=region):
            outputs = region.yields
        case ir.For(carried=outputs) | ir.While(carried=outputs):
            pass
        case _:
            raise _Wrong(f"the result of {type(value.producer).__name__}")
    _require(0 <= value.index < len(outputs), f"no result {value.index}")
    _same(value.type, outputs[value.index].type, "its type")
