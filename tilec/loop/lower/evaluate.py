"""Values on demand: the code that computes one lane of a tile value at given indices.

A value that is in a register is that register; a published one is read from its slot; everything else is recomputed
from its operands at the place where it is needed. The lane is active wherever a value is evaluated: what narrows the
activity (a fill, an update, a pick, a branch) opens a block of its own.
"""

from __future__ import annotations

from tilec.errors import InternalError
from tilec.loop import ir
from tilec.loop.lower.arith import add, both, compare, const, unsigned
from tilec.loop.lower.code import ZERO, atom_key
from tilec.loop.lower.decisions import Decisions, Indices, aligned, lane_key
from tilec.loop.lower.frame import Frame
from tilec.loop.lower.memory import read_element, read_slot
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.types import Bound, DType, Extent, TileType


def zero_of(dtype: DType) -> ir.Const:
    return ir.Const(dtype, {DType.F32: 0.0, DType.BOOL: False}.get(dtype, 0))


class Evaluator:
    """Evaluates values in a frame."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.code = frame.code
        self.decisions = Decisions()

    def scalar(self, value: tile.Value) -> ir.Expr:
        return self.at(value, (ZERO,) * value.type.rank)

    def extent(self, extent: Extent) -> ir.Expr:
        return self.frame.extent(extent, self.scalar)

    def at(self, value: tile.Value, indices: Indices) -> ir.Expr:
        """The lane at `indices` (atoms, one an axis) as an atom."""
        stack: list[tuple[tile.Value, Indices]] = [(value, indices)]
        while stack:
            current, own = stack[-1]
            if self._known(current, own) is not None:
                stack.pop()
                continue
            needed = self.children(current, own)
            pending = [(operand, inner) for operand, inner in needed if self._known(operand, inner) is None]
            if pending:
                stack.extend(pending)
                continue
            result = self._compute(current, own)
            hint = current.name or getattr(current, "op", "value")
            self.code.remember(lane_key(current, own), self.code.let(hint, result, current.span))
            stack.pop()
        found = self._known(value, indices)
        assert found is not None
        return found

    # --- what is there already -------------------------------------------------------------------------------

    def _known(self, value: tile.Value, indices: Indices) -> ir.Expr | None:
        register = self.frame.registers.get(value)
        if register is None and isinstance(value, tile.Result):
            register = self.frame.results.get((value.producer, value.index))
        return register if register is not None else self.code.find(lane_key(value, indices))

    def children(self, value: tile.Value, indices: Indices) -> list[tuple[tile.Value, Indices]]:
        """Operands that an evaluation needs unconditionally, with their indices."""
        if value in self.frame.available:
            return []
        match value:
            case tile.View():
                return [(value.operand, self._viewed(value, indices))]
            case tile.Load():
                scalars = (*(_scalar_of(index) for index in value.indices), value.fill)
                return [(scalar, ()) for scalar in scalars if scalar is not None]
            case tile.Result(producer=tile.If() as node):
                return [(node.condition, ()), *self._passing_through(node, value.index, indices)]
        return [(operand, aligned(operand, indices)) for operand in self._certain(value, indices)]

    @staticmethod
    def _passing_through(node: tile.If, number: int, indices: Indices) -> list[tuple[tile.Value, Indices]]:
        """What a branch hands on from before the `if`: computed first, so that chains of `if`s do not double."""
        yields = [(region.body, region.yields[number]) for region in (node.then, node.otherwise)]
        outside = [value for body, value in yields if not any(value is inside for inside in body)]
        return [(value, aligned(value, indices)) for value in outside]

    def _certain(self, value: tile.Value, indices: Indices) -> tuple[tile.Value, ...]:
        """Operands at the value's own position that are needed whichever lanes are active."""
        match value:
            case tile.Pointwise(op="where") if (side := self.decisions.side(value, indices)) is not None:
                return (side,)
            case tile.Pointwise(op="where") if self._branches(value, indices):
                return value.operands[:1]
            case tile.Pointwise():
                return value.operands
            case tile.Broadcast():
                return (value.operand,)
            case tile.Pad():
                return (value.operand if value.operand.type.is_fully_active else value.fill,)
            case tile.Update():
                return (value.new if value.new.type.is_fully_active else value.old,)
            case tile.Pick():
                return (value.index,)
        return ()

    def possible(self, value: tile.Value, indices: Indices) -> list[tuple[tile.Value, Indices]]:
        """Operands that an evaluation may need, both sides of a `where` among them."""
        match value:
            case tile.Pointwise(op="where") if (
                value not in self.frame.available and self.decisions.side(value, indices) is None
            ):
                return [(operand, aligned(operand, indices)) for operand in value.operands]
        return self.children(value, indices)

    def row_condition(
        self, value: tile.Value, indices: Indices, swept: frozenset[int]
    ) -> tuple[tile.Value, Indices] | None:
        """The first condition by which `value` skips reads that no index in `swept` changes, with its indices."""
        stack, seen = [(value, indices)], set()
        while stack:
            current, own = stack.pop()
            if current in seen or self._known(current, own) is not None:
                continue
            seen.add(current)
            if isinstance(current, tile.Pointwise) and current.op == "where" and self._branches(current, own):
                condition = aligned(current.operands[0], own)
                if not any(isinstance(index, ir.Local) and index.number in swept for index in condition):
                    return current.operands[0], condition
            stack.extend(self.children(current, own))
        return None

    @staticmethod
    def _viewed(view: tile.View, indices: Indices) -> Indices:
        result: list[ir.Expr] = [ZERO] * view.operand.type.rank
        for axis, source in enumerate(view.axes):
            if source is not None and not view.operand.type.shape[source].is_one:
                result[source] = indices[axis]
        return tuple(result)

    def _branches(self, where: tile.Pointwise, indices: Indices) -> bool:
        """Whether a `where` skips the side not taken: its condition is one value a row and a side reads memory."""
        condition, *sides = where.operands
        shape = condition.type.shape
        is_row_value = not shape or shape[-1].is_one
        return is_row_value and any(self._reads_anew(side, aligned(side, indices)) for side in sides)

    def _reads_anew(self, value: tile.Value, indices: Indices) -> bool:
        stack, seen = [(value, indices)], set()
        while stack:
            current, own = stack.pop()
            if current in seen or self._known(current, own) is not None:
                continue
            seen.add(current)
            if isinstance(current, (tile.Load, tile.Pick)) or current in self.frame.available:
                return True
            stack.extend(self.possible(current, own))
            if isinstance(current, (tile.Update, tile.Pad)):
                return True
        return False

    # --- computing -------------------------------------------------------------------------------------------

    def _compute(self, value: tile.Value, indices: Indices) -> ir.Expr:
        if value in self.frame.available:
            return read_slot(self.frame, self.frame.plan.homes[value], indices, self.scalar)
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
                return self.at(value.operand, self._viewed(value, indices))
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
                return self._either(self.at(node.condition, ()), *sides, indices, value)
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
        if not self._branches(value, indices):
            sides = (self.at(side, aligned(side, indices)) for side in (chosen, other))
            return ir.Op("where", (test, *sides), value.type.dtype)
        return self._either(test, chosen, other, indices, value)

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
        with self.code.when(self.active(inner.type, own)):
            self.code.assign(result, self.at(inner, own))
        return result

    def _pick(self, value: tile.Pick, indices: Indices) -> ir.Expr:
        index = self.at(value.index, aligned(value.index, indices))
        own = (*aligned(value.operand, indices)[:-1], index)
        result = self.code.declare(value.name or "picked", zero_of(value.type.dtype))
        with self.code.when(self.picks(value, index, own)):
            self.code.assign(result, self.at(value.operand, own))
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
            start = self.scalar(_scalar_of(index))
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
            return read_element(self.frame, parameter, coordinates, value.number, self.scalar)
        fill = self.scalar(value.fill) if value.fill is not None else zero_of(value.type.dtype)
        result = self.code.declare(value.name or value.tensor, fill)
        with self.code.when(inside):
            element = read_element(self.frame, parameter, coordinates, value.number, self.scalar)
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


def _scalar_of(index: tile.AxisIndex) -> tile.Value:
    return index.start if isinstance(index, tile.SpanIndex) else index.index
