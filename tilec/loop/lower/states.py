"""What a sweep accumulates: the state of each reduction, in a lane and over the lanes of a job.

Every state knows its components, how a block of values joins it, and how several states become one. Sums are carried in
levels, so that no running sum is longer than 16 terms. States that are relative to a reference stand in `moments.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from tilec.loop import ir
from tilec.loop.lower.arith import compare, const
from tilec.loop.lower.code import Code
from tilec.ops.reduce import REDUCTIONS
from tilec.tile import ir as tile
from tilec.types import DType

Evaluate = Callable[[tile.Value], ir.Expr]
_F32 = DType.F32


def op_of(op: str, dtype: DType, *operands: ir.Expr) -> ir.Expr:
    return ir.Op(op, operands, dtype)


def tree(code: Code, op: str, values: Sequence[ir.Expr]) -> ir.Expr:
    """The values combined pairwise by `op`."""
    values = list(values)
    while len(values) > 1:
        pairs = [op_of(op, a.dtype, a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + ([values[-1]] if len(values) % 2 else [])
    return code.let("part", values[0])


class Exchange(Protocol):
    """The lanes of a cluster, which read each other's values."""

    masks: list[int]

    def other(self, value: ir.Expr, mask: int) -> ir.Expr: ...

    def reduce(self, op: str, value: ir.Expr) -> ir.Expr: ...

    def only(self, value: ir.Expr) -> ir.Expr:
        """The value that one lane holds where all others hold 0."""
        ...

    def highest(self, value: ir.Expr) -> ir.Expr:
        """The highest f32 of any lane; where a lane has a NaN, anything."""
        ...


class State:
    """A state under construction in one sweep. `reductions` are the instructions that it gives the results of, `inputs`
    the values that it takes at each element."""

    def __init__(self, reductions: list[tile.Reduce], inputs: list[tile.Value]) -> None:
        self.reductions = reductions
        self.inputs = inputs
        self.neutral: ir.Const | None = None
        """A value of the one input that changes nothing, None if there is none."""

    def declare(self, code: Code, levels: int) -> None:
        """Declares the running state; sums have `levels` more levels, see `settle`."""
        raise NotImplementedError

    def update(self, code: Code, values: list[list[ir.Expr]], positions: list[ir.Expr]) -> None:
        """A block of elements joins: for each input its values, and what argmax gives as their indices."""
        raise NotImplementedError

    def settle(self, code: Code, level: int) -> None:
        """Moves the running sums of `level` one level up: after each 16 rounds level 0, after each 256 level 1, ..."""

    def components(self, code: Code) -> list[ir.Expr]:
        raise NotImplementedError

    def fold(self, code: Code, parts: list[list[ir.Expr]]) -> list[ir.Expr]:
        """One state's components from those of several lanes, in their order."""
        raise NotImplementedError

    def across(self, code: Code, parts: list[ir.Expr], exchange: Exchange) -> list[ir.Expr]:
        """The components combined with those of all lanes that `exchange` reaches, the same bits in each."""
        for mask in exchange.masks:
            parts = self.fold(code, [parts, [exchange.other(part, mask) for part in parts]])
        return parts

    def results(self, code: Code, components: list[ir.Expr], evaluate: Evaluate) -> list[tuple[tile.Value, ir.Expr]]:
        """The reductions' results. `evaluate` gives a value of the job that is made of other states' results."""
        raise NotImplementedError


class PlainState(State):
    """One value combined by an op: sum, prod, max, min, any, all."""

    def __init__(self, reduction: tile.Reduce) -> None:
        super().__init__([reduction], [reduction.operand])
        row = REDUCTIONS[reduction.op]
        self.dtype = reduction.type.dtype
        self.op = row.combine
        self.identity = ir.Const(self.dtype, row.identity[self.dtype])
        self.neutral = self.identity
        self.is_sum = row.combine == "add" and self.dtype is _F32

    def declare(self, code: Code, levels: int) -> None:
        hint = self.reductions[0].name or self.reductions[0].op
        count = levels + 1 if self.is_sum else 1
        self.values = [code.declare(hint if not n else f"{hint}_{16**n}", self.identity) for n in range(count)]

    def update(self, code: Code, values: list[list[ir.Expr]], positions: list[ir.Expr]) -> None:
        code.assign(self.values[0], op_of(self.op, self.dtype, self.values[0], tree(code, self.op, values[0])))

    def settle(self, code: Code, level: int) -> None:
        if self.is_sum:
            code.assign(self.values[level + 1], op_of("add", _F32, self.values[level + 1], self.values[level]))
            code.assign(self.values[level], self.identity)

    def components(self, code: Code) -> list[ir.Expr]:
        return [tree(code, self.op, self.values)]

    def fold(self, code: Code, parts: list[list[ir.Expr]]) -> list[ir.Expr]:
        return [tree(code, self.op, [part[0] for part in parts])]

    def across(self, code: Code, parts: list[ir.Expr], exchange: Exchange) -> list[ir.Expr]:
        return [exchange.reduce(self.op, parts[0])]

    def results(self, code: Code, components: list[ir.Expr], evaluate: Evaluate) -> list[tuple[tile.Value, ir.Expr]]:
        return [(self.reductions[0], components[0])]


class BestState(State):
    """The best value and its first index; the first NaN beats every number."""

    def __init__(self, reduction: tile.Reduce) -> None:
        super().__init__([reduction], [reduction.operand])
        self.dtype = reduction.operand.type.dtype
        self.better = "gt" if reduction.op == "argmax" else "lt"

    def declare(self, code: Code, levels: int) -> None:
        self.value = code.declare("best", ir.Const(self.dtype, False if self.dtype is DType.BOOL else 0))
        self.index = code.declare("best_at", const(-1))

    def _wins(self, code: Code, value: ir.Expr, index: ir.Expr, best: ir.Expr, at: ir.Expr) -> ir.Expr:
        """Whether (value, index) replaces (best, at); `at` -1: nothing yet; `index` -1 never wins."""
        boolean = DType.BOOL
        better = compare(self.better, value, best)
        equal = compare("eq", value, best)
        if self.dtype is _F32:
            value_nan, best_nan = (code.let("is_nan", op_of("isnan", boolean, v)) for v in (value, best))
            only_value = op_of("and", boolean, value_nan, op_of("not", boolean, best_nan))
            both_nan = op_of("and", boolean, value_nan, best_nan)
            better = op_of("or", boolean, better, only_value)
            equal = op_of("or", boolean, equal, both_nan)
        earlier = op_of("and", boolean, equal, compare("lt", index, at))
        wins = op_of("or", boolean, compare("lt", at, const(0)), op_of("or", boolean, better, earlier))
        return code.let("wins", op_of("and", boolean, compare("ge", index, const(0)), wins))

    def _replace(self, code: Code, value: ir.Expr, index: ir.Expr) -> None:
        wins = self._wins(code, value, index, self.value, self.index)
        code.assign(self.value, ir.Select(wins, value, self.value))
        code.assign(self.index, ir.Select(wins, index, self.index))

    def update(self, code: Code, values: list[list[ir.Expr]], positions: list[ir.Expr]) -> None:
        for value, position in zip(values[0], positions, strict=True):
            self._replace(code, value, position)

    def components(self, code: Code) -> list[ir.Expr]:
        return [self.value, self.index]

    def fold(self, code: Code, parts: list[list[ir.Expr]]) -> list[ir.Expr]:
        value, index = parts[0]
        for other, at in parts[1:]:
            wins = self._wins(code, other, at, value, index)
            value = code.let("best", ir.Select(wins, other, value))
            index = code.let("best_at", ir.Select(wins, at, index))
        return [value, index]

    def results(self, code: Code, components: list[ir.Expr], evaluate: Evaluate) -> list[tuple[tile.Value, ir.Expr]]:
        return [(self.reductions[0], code.let("index", op_of("max", DType.I32, components[1], const(0))))]


class PickState(State):
    """A picked element, found by the one lane that owns it; the others hold 0."""

    def __init__(self, pick: tile.Pick) -> None:
        super().__init__([], [])
        self.pick = pick
        self.dtype = pick.type.dtype

    def declare(self, code: Code, levels: int) -> None:
        zero = ir.Const(self.dtype, {_F32: 0.0, DType.BOOL: False}.get(self.dtype, 0))
        self.value = code.declare(self.pick.name or "picked", zero)

    def components(self, code: Code) -> list[ir.Expr]:
        return [self.value]

    def fold(self, code: Code, parts: list[list[ir.Expr]]) -> list[ir.Expr]:
        return [tree(code, "or" if self.dtype is DType.BOOL else "add", [part[0] for part in parts])]

    def across(self, code: Code, parts: list[ir.Expr], exchange: Exchange) -> list[ir.Expr]:
        return [exchange.only(parts[0])]

    def results(self, code: Code, components: list[ir.Expr], evaluate: Evaluate) -> list[tuple[tile.Value, ir.Expr]]:
        return [(self.pick, components[0])]
