"""Values on demand: the code that computes one lane of a tile value at given indices.

A value that is in a register is that register; a published one is read from its slot; everything else is recomputed
from its operands at the place where it is needed. The lane is active wherever a value is evaluated: what narrows the
activity (a fill, an update, a pick, a branch) opens a block of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from tilec.diag import catalog
from tilec.diag.deadline import check_time
from tilec.diag.report import LimitReached
from tilec.errors import InternalError
from tilec.loop import ir
from tilec.loop.lower.arith import add, both, compare, const, unsigned
from tilec.loop.lower.code import ZERO, atom_key
from tilec.loop.lower.decisions import Decisions, Indices, aligned, lane_key
from tilec.loop.lower.frame import Frame
from tilec.loop.lower.memory import read_element, read_slot
from tilec.loop.lower.operands import Operands, Place, viewed
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.tile.walk import scalar_of
from tilec.types import Bound, DType, Extent, TileType


def zero_of(dtype: DType) -> ir.Const:
    return ir.Const(dtype, {DType.F32: 0.0, DType.BOOL: False}.get(dtype, 0))


_MOST_COPIES = 2
"""A lane that is computed in so many branches is computed once and for all, before them, when it is needed again."""
_DEEPEST_RECURSION = 60


class Evaluator:
    """Evaluates values in a frame."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.code = frame.code
        self.decisions = Decisions()
        self.operands = Operands(frame, self.decisions, self._known)
        self._copies: dict[Hashable, int] = {}
        """How often each lane was computed since evaluation began at the level `_base`."""
        self._base = 0
        self._floor = 0
        """The level of the innermost block that narrows the activity."""
        self._given: set[tuple[Bound, Hashable]] = set()
        """What holds of the lane that evaluation began with."""
        self._pinned: dict[Hashable, int] = {}
        """The level from which on a picked column is known to be inside its row, by its index."""

    def scalar(self, value: tile.Value) -> ir.Expr:
        return self.at(value, (ZERO,) * value.type.rank)

    def extent(self, extent: Extent) -> ir.Expr:
        return self.frame.extent(extent, self.scalar)

    def at(self, value: tile.Value, indices: Indices) -> ir.Expr:
        """The lane at `indices` (atoms, one an axis) as an atom."""
        found = self._known(value, indices)
        if found is not None:
            return found
        is_outermost = self.operands.depth == 0
        if is_outermost:
            self._copies = {}
            self.operands.forget()
            self._base = self._floor = self.code.level
            self._given = self._conditions(value, indices)
        if self.operands.depth > _DEEPEST_RECURSION:
            raise LimitReached(
                catalog.NESTING_TOO_DEEP, value.span, limit=_DEEPEST_RECURSION, level=self.operands.depth
            )
        self.operands.depth += 1
        self._work([(value, indices)])
        self.operands.depth -= 1
        found = self._known(value, indices)
        assert found is not None
        return found

    def _work(self, stack: list[Place]) -> None:
        """Computes what is on the stack, and before each lane what it needs."""
        while stack:
            current, own = stack[-1]
            if self._known(current, own) is not None:
                stack.pop()
                continue
            check_time(current.span)
            key = lane_key(current, own)
            if self._copies.get(key, 0) >= _MOST_COPIES and self._compute_outside(current, own):
                continue
            pending = [place for place in self.operands.children(current, own) if self._known(*place) is None]
            if pending:
                stack.extend(pending)
                continue
            self._copies[key] = self._copies.get(key, 0) + 1
            result = self._compute(current, own)
            hint = current.name or getattr(current, "op", "value")
            self.code.remember(key, self.code.let(hint, result, current.span))
            stack.pop()

    def _compute_outside(self, value: tile.Value, indices: Indices) -> bool:
        """Computes the lane in the outermost block where its indices are known, so that later blocks find it; False if
        that is the block at hand."""
        level = max([self._base, *(self._level(index) for index in indices)])
        if level >= self.code.level:
            return False
        if level >= self._floor or self._conditions(value, indices) <= self._given:
            floor, self._floor = self._floor, min(self._floor, level)
            with self.code.outside(level):
                self.at(value, indices)
            self._floor = floor
            return True
        self._copies[lane_key(value, indices)] = 0
        with self.code.outside(level):
            lane = self.code.declare(value.name or "lane", zero_of(value.type.dtype))
            with self._narrowed(self.active(value.type, indices)):
                self.code.assign(lane, self.at(value, indices))
            self.code.remember(lane_key(value, indices), lane)
        return True

    @staticmethod
    def _conditions(value: tile.Value, indices: Indices) -> set[tuple[Bound, Hashable]]:
        """What holds where the lane is active: bounds, and the index that each bounds."""
        return {
            (bound, None if bound.stretched else atom_key(index))
            for bounds, index in zip(value.type.active, indices, strict=True)
            for bound in bounds
        }

    def _level(self, index: ir.Expr) -> int:
        return max(self.code.level_of(index), self._pinned.get(atom_key(index), 0))

    @contextmanager
    def _narrowed(self, condition: ir.Expr | None) -> Iterator[None]:
        """A block in which lanes are active that may not be outside."""
        floor = self._floor
        with self.code.when(condition):
            self._floor = self.code.level
            yield
        self._floor = floor

    # --- what is there already -------------------------------------------------------------------------------

    def _known(self, value: tile.Value, indices: Indices) -> ir.Expr | None:
        register = self.frame.registers.get(value)
        if register is None and isinstance(value, tile.Result):
            register = self.frame.results.get((value.producer, value.index))
        return register if register is not None else self.code.find(lane_key(value, indices))

    # --- computing -------------------------------------------------------------------------------------------

    def _compute(self, value: tile.Value, indices: Indices) -> ir.Expr:
        if value in self.frame.available:
            return read_slot(self.frame, self.frame.plan.homes[value], indices)
        held = self.operands.held(value, indices)
        if held is not None:
            return held
        leaf = self._leaf(value, indices)
        return leaf if leaf is not None else self._compound(value, indices)

    def _leaf(self, value: tile.Value, indices: Indices) -> ir.Expr | None:
        """A value without operands, or None."""
        match value:
            case tile.Const():
                return ir.Const(value.type.dtype, value.value)
            case tile.Scalar():
                return self.frame.bindings.scalar(value.parameter, value.type.dtype)
            case tile.Dim():
                return self.extent(value.extent)
            case tile.BlockIndex():
                return self.frame.block[value.axis]
            case tile.Iota():
                return self._cast(indices[value.axis], value.type.dtype)
        return None

    def _compound(self, value: tile.Value, indices: Indices) -> ir.Expr:
        match value:
            case tile.Pointwise(op="where"):
                return self._where(value, indices)
            case tile.Pointwise():
                operands = tuple(self.at(operand, aligned(operand, indices)) for operand in value.operands)
                return ir.Op(value.op, operands, value.type.dtype)
            case tile.View():
                return self.at(value.operand, viewed(value, indices))
            case tile.Broadcast():
                return self.at(value.operand, aligned(value.operand, indices))
            case tile.Pad():
                return self._guarded(value.operand, value.fill, indices)
            case tile.Update():
                return self._guarded(value.new, value.old, indices)
            case tile.Pick():
                return self._pick(value, indices)
            case tile.Load():
                return self._load(value, indices)
            case tile.ActiveCount():
                return self._count(value, indices)
            case tile.Result(producer=tile.If() as node):
                sides = (node.then.yields[value.index], node.otherwise.yields[value.index])
                choose = self._either if self.operands.may_nest else self._both
                return choose(self.at(node.condition, ()), *sides, indices, value)
        raise InternalError("lower", f"no code for %{value.number} ({type(value).__name__} {value.name})")

    @staticmethod
    def _cast(value: ir.Expr, dtype: DType) -> ir.Expr:
        return value if value.dtype is dtype else ir.Op(dtype.label, (value,), dtype)

    def _where(self, value: tile.Pointwise, indices: Indices) -> ir.Expr:
        condition, chosen, other = value.operands
        side = self.decisions.side(value, indices)
        if side is not None:
            return self.at(side, aligned(side, indices))
        test = self.at(condition, aligned(condition, indices))
        if self.operands.branches(value, indices):
            return self._either(test, chosen, other, indices, value)
        return self._both(test, chosen, other, indices, value)

    def _both(
        self, test: ir.Expr, chosen: tile.Value, other: tile.Value, indices: Indices, value: tile.Value
    ) -> ir.Expr:
        """One of two values that are both computed."""
        sides = (self.at(side, aligned(side, indices)) for side in (chosen, other))
        return ir.Op("where", (test, *sides), value.type.dtype)

    def _either(
        self, test: ir.Expr, chosen: tile.Value, other: tile.Value, indices: Indices, value: tile.Value
    ) -> ir.Expr:
        """One of two values, of which the other is not computed."""
        result = self.code.declare(value.name or "chosen", zero_of(value.type.dtype))
        branches: list[tuple[ir.Statement, ...]] = []
        for side in (chosen, other):
            with self.code.block() as body:
                self.code.assign(result, self.at(side, aligned(side, indices)))
            branches.append(tuple(body))
        self.code.emit(ir.If(test, branches[0], branches[1]))
        return result

    def _guarded(self, inner: tile.Value, outer: tile.Value, indices: Indices) -> ir.Expr:
        """`inner` where it is active, else `outer`."""
        if inner.type.is_fully_active:
            return self.at(inner, aligned(inner, indices))
        result = self.code.declare(outer.name or "padded", self.at(outer, aligned(outer, indices)))
        own = aligned(inner, indices)
        with self._narrowed(self.active(inner.type, own)):
            self.code.assign(result, self.at(inner, own))
        return result

    def _pick(self, value: tile.Pick, indices: Indices) -> ir.Expr:
        index = self.at(value.index, aligned(value.index, indices))
        own = (*aligned(value.operand, indices)[:-1], index)
        result = self.code.declare(value.name or "picked", zero_of(value.type.dtype))
        with self._narrowed(self.picks(value, index, own)):
            key = atom_key(index)
            before = self._pinned.get(key, 0)
            self._pinned[key] = self.code.level
            self.code.assign(result, self.at(value.operand, own))
            self._pinned[key] = before
        return result

    def picks(self, value: tile.Pick, index: ir.Expr, own: Indices) -> ir.Expr:
        """Whether the picked lane exists and is active."""
        extent = self.extent(value.operand.type.shape[-1])
        inside = compare("lt", unsigned(index), unsigned(extent))
        active = self.active(value.operand.type, own)
        return inside if active is None else ir.Op("and", (inside, active), DType.BOOL)

    def active(self, tile_type: TileType, indices: Indices) -> ir.Expr | None:
        """Whether the lane is active; None if it always is."""
        return both(
            [
                self.bound(bound, indices[axis])
                for axis, bounds in enumerate(tile_type.active)
                for bound in sorted(bounds, key=str)
            ]
        )

    def bound(self, bound: Bound, index: ir.Expr) -> ir.Expr | None:
        """The condition of one bound at a lane, as an atom."""
        index = ZERO if bound.stretched else index
        start, limit = bound.start, bound.limit
        conditions: list[ir.Expr | None] = []
        if not (start.constant is not None and start.constant <= 0):
            conditions.append(compare("le", self.extent(start), index))
        conditions.append(compare("lt", index, self.extent(limit)))
        condition = both(conditions)
        return None if condition is None else self.code.let("is_active", condition)

    # --- memory ----------------------------------------------------------------------------------------------

    def coordinates(self, value: tile.Load | tile.Store, indices: Indices) -> list[ir.Expr]:
        """The tensor's coordinates of a lane of an access, i32 atoms."""
        result: list[ir.Expr] = []
        axis = 0
        for index in value.indices:
            start = self.scalar(scalar_of(index))
            if isinstance(index, tile.SpanIndex):
                key = ("sum", atom_key(start), atom_key(indices[axis]))
                found = self.code.find(key)
                if found is None:
                    found = self.code.let("position", add(start, indices[axis]))
                    self.code.remember(key, found)
                    self._keep_part(start, indices[axis], found)
                result.append(found)
                axis += 1
            else:
                result.append(start)
        return result

    def _keep_part(self, start: ir.Expr, index: ir.Expr, position: ir.Expr) -> None:
        """A position in the tensor belongs to the same granule as the index that it was made of."""
        parts = self.frame.parts
        if not isinstance(index, ir.Local) or index.number not in parts or not isinstance(position, ir.Local):
            return
        base, part = parts[index.number]
        if part == 0:
            parts[position.number] = (position, 0)
            return
        key = ("sum", atom_key(start), atom_key(base))
        first = self.code.find(key)
        if first is None:
            first = self.code.let("position", add(start, base))
            self.code.remember(key, first)
        parts[position.number] = (first, part)

    def inside(self, value: tile.Load | tile.Store, coordinates: list[ir.Expr], spans_too: bool) -> ir.Expr | None:
        """Whether the coordinates are inside the tensor, as far as that is not proved."""
        parameter = self.frame.kernel.tensor(value.tensor)
        conditions: list[ir.Expr | None] = []
        for index, dim, coordinate in zip(value.indices, parameter.dims, coordinates, strict=True):
            if isinstance(index, tile.PointIndex):
                at = extent_of(index.index)
                if not (at.is_nonnegative and (dim - at - 1).is_nonnegative):
                    conditions.append(self._below(coordinate, dim))
            elif spans_too:
                start = extent_of(index.start)
                if not (start.is_nonnegative and (dim - start - index.count).is_nonnegative):
                    conditions.append(self._below(coordinate, dim))
        return both(conditions)

    def _below(self, coordinate: ir.Expr, dim: Extent) -> ir.Expr:
        return compare("lt", unsigned(coordinate), unsigned(self.frame.bindings.extent(dim)))

    def _load(self, value: tile.Load, indices: Indices) -> ir.Expr:
        parameter = self.frame.kernel.tensor(value.tensor)
        coordinates = self.coordinates(value, indices)
        has_fill = value.fill is not None
        is_scalar = value.type.rank == 0
        inside = self.inside(value, coordinates, has_fill) if has_fill or is_scalar else None
        if inside is None:
            return read_element(self.frame, parameter, coordinates, value.number)
        fill = self.scalar(value.fill) if value.fill is not None else zero_of(value.type.dtype)
        result = self.code.declare(value.name or value.tensor, fill)
        with self.code.when(inside):
            element = read_element(self.frame, parameter, coordinates, value.number)
            self.code.assign(result, element)
        return result

    def _count(self, value: tile.ActiveCount, indices: Indices) -> ir.Expr:
        """How many lanes are active along the counted axes."""
        operand = value.operand.type
        total: ir.Expr = const(1)
        for axis in value.axes:
            extent = self.extent(operand.shape[axis])
            total = ir.Op("mul", (total, self._length(operand.active[axis], extent)), DType.I32)
        return self._cast(self.code.let("count", total), value.type.dtype)

    def _length(self, bounds: frozenset[Bound], extent: ir.Expr) -> ir.Expr:
        start, limit, alive = ZERO, extent, None
        for bound in sorted(bounds, key=str):
            if bound.stretched:
                alive = both([alive, self.bound(bound, ZERO)])
            else:
                start = ir.Op("max", (start, self.extent(bound.start)), DType.I32)
                limit = ir.Op("min", (limit, self.extent(bound.limit)), DType.I32)
        length = ir.Op("max", (ir.Op("sub", (limit, start), DType.I32), ZERO), DType.I32) if bounds else extent
        return length if alive is None else ir.Select(alive, length, ZERO)
