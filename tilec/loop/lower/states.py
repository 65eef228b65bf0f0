"""What a sweep accumulates: the state of each reduction, in a lane and over the lanes of a job.

Every state knows its components, how a block of values joins it, and how several states become one. Sums are carried in
levels, so that no running sum is longer than 16 terms; a logsumexp rescales only where its maximum grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tilec.loop import ir
from tilec.loop.lower.arith import compare, const
from tilec.loop.lower.code import Code
from tilec.ops.reduce import REDUCTIONS
from tilec.plan.ir import Round
from tilec.plan.split import group_states
from tilec.tile import ir as tile
from tilec.types import DType

_LOWEST = -3.4028234663852886e38
_VANISHES = -104.0
"""Its exponential is 0 in f32, as that of everything below, which hardware need not know of -inf."""
_INFINITY_BITS, _MAGNITUDE_BITS = 0x7F800000, 0x7FFFFFFF
_F32 = DType.F32


def _op(op: str, dtype: DType, *operands: ir.Expr) -> ir.Expr:
    return ir.Op(op, operands, dtype)


def tree(code: Code, op: str, values: Sequence[ir.Expr]) -> ir.Expr:
    """The values combined pairwise by `op`."""
    values = list(values)
    while len(values) > 1:
        pairs = [_op(op, a.dtype, a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + ([values[-1]] if len(values) % 2 else [])
    return code.let("part", values[0])


class Exchange(Protocol):
    """The lanes of a cluster, which read each other's values."""

    masks: list[int]

    def other(self, value: ir.Expr, mask: int) -> ir.Expr: ...

    def reduce(self, op: str, value: ir.Expr) -> ir.Expr: ...


class State:
    """A state under construction in one sweep. `reductions` are the instructions that it gives the results of."""

    def __init__(self, reductions: list[tile.Reduce]) -> None:
        self.reductions = reductions

    operand: tile.Value

    def declare(self, code: Code, levels: int) -> None:
        """Declares the running state; sums have `levels` more levels, see `settle`."""
        raise NotImplementedError

    def update(self, code: Code, values: list[ir.Expr], positions: list[ir.Expr]) -> None:
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

    def results(self, code: Code, components: list[ir.Expr]) -> list[tuple[tile.Value, ir.Expr]]:
        raise NotImplementedError


class PlainState(State):
    """One value combined by an op: sum, prod, max, min, any, all."""

    def __init__(self, reduction: tile.Reduce) -> None:
        super().__init__([reduction])
        row = REDUCTIONS[reduction.op]
        self.dtype = reduction.type.dtype
        self.op = row.combine
        self.identity = ir.Const(self.dtype, row.identity[self.dtype])
        self.is_sum = row.combine == "add" and self.dtype is _F32

    def declare(self, code: Code, levels: int) -> None:
        hint = self.reductions[0].name or self.reductions[0].op
        count = levels + 1 if self.is_sum else 1
        self.values = [code.declare(hint if not n else f"{hint}_{16**n}", self.identity) for n in range(count)]

    def update(self, code: Code, values: list[ir.Expr], positions: list[ir.Expr]) -> None:
        code.assign(self.values[0], _op(self.op, self.dtype, self.values[0], tree(code, self.op, values)))

    def settle(self, code: Code, level: int) -> None:
        if self.is_sum:
            code.assign(self.values[level + 1], _op("add", _F32, self.values[level + 1], self.values[level]))
            code.assign(self.values[level], self.identity)

    def components(self, code: Code) -> list[ir.Expr]:
        return [tree(code, self.op, self.values)]

    def fold(self, code: Code, parts: list[list[ir.Expr]]) -> list[ir.Expr]:
        return [tree(code, self.op, [part[0] for part in parts])]

    def across(self, code: Code, parts: list[ir.Expr], exchange: Exchange) -> list[ir.Expr]:
        return [exchange.reduce(self.op, parts[0])]

    def results(self, code: Code, components: list[ir.Expr]) -> list[tuple[tile.Value, ir.Expr]]:
        return [(self.reductions[0], components[0])]


class BestState(State):
    """The best value and its first index; the first NaN beats every number."""

    def __init__(self, reduction: tile.Reduce) -> None:
        super().__init__([reduction])
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
            value_nan, best_nan = (code.let("is_nan", _op("isnan", boolean, v)) for v in (value, best))
            only_value = _op("and", boolean, value_nan, _op("not", boolean, best_nan))
            both_nan = _op("and", boolean, value_nan, best_nan)
            better = _op("or", boolean, better, only_value)
            equal = _op("or", boolean, equal, both_nan)
        earlier = _op("and", boolean, equal, compare("lt", index, at))
        wins = _op("or", boolean, compare("lt", at, const(0)), _op("or", boolean, better, earlier))
        return code.let("wins", _op("and", boolean, compare("ge", index, const(0)), wins))

    def _replace(self, code: Code, value: ir.Expr, index: ir.Expr) -> None:
        wins = self._wins(code, value, index, self.value, self.index)
        code.assign(self.value, ir.Select(wins, value, self.value))
        code.assign(self.index, ir.Select(wins, index, self.index))

    def update(self, code: Code, values: list[ir.Expr], positions: list[ir.Expr]) -> None:
        for value, position in zip(values, positions, strict=True):
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

    def results(self, code: Code, components: list[ir.Expr]) -> list[tuple[tile.Value, ir.Expr]]:
        return [(self.reductions[0], code.let("index", _op("max", DType.I32, components[1], const(0))))]


class ShiftedState(State):
    """Maximum and sum of exponentials over it: what `rest` and the `max` of the same values are made of.

    The maximum starts at the lowest finite number, so that no shift is ever infinite minus infinite. Hardware maxima
    drop a NaN, so the largest magnitude as an integer is kept too: beyond infinity's are the NaNs'. A NaN decides the
    results in the end, and +inf makes the sum irrelevant: exponentials need no guard but the one against -inf. Where
    the built-in `exp` is trusted with NaN and -inf, not even that: a NaN in the sum tells of one in the values.
    """

    def __init__(self, reductions: list[tile.Reduce], trusts_exp: bool) -> None:
        super().__init__(reductions)
        self.trusts_exp = trusts_exp

    def declare(self, code: Code, levels: int) -> None:
        self.peak = code.declare("peak", ir.Const(_F32, _LOWEST))
        zero = ir.Const(_F32, 0.0)
        self.sums = [code.declare("exp_sum" if not n else f"exp_sum_{16**n}", zero) for n in range(levels + 1)]
        if not self.trusts_exp:
            self.magnitude = code.declare("magnitude", ir.Const(DType.U32, 0))

    @staticmethod
    def _shift(code: Code, peak: ir.Expr) -> ir.Expr:
        """What is subtracted: the maximum, or 0 where that is +inf."""
        is_huge = compare("gt_fast", peak, ir.Const(_F32, -_LOWEST))
        return code.let("shift", ir.Select(is_huge, ir.Const(_F32, 0.0), peak))

    def _exponential(self, value: ir.Expr, shift: ir.Expr) -> ir.Expr:
        below = _op("sub", _F32, value, shift)
        if not self.trusts_exp:
            below = _op("max_fast", _F32, below, ir.Const(_F32, _VANISHES))
        return _op("exp_fast", _F32, below)

    def update(self, code: Code, values: list[ir.Expr], positions: list[ir.Expr]) -> None:
        peak = code.let("new_peak", tree(code, "max_fast", values))
        with code.when(compare("gt_fast", peak, self.peak)):
            # Over the maximum itself: what has been summed is nothing beside +inf, and 0 times inf would be NaN.
            scale = code.let("scale", self._exponential(self.peak, peak))
            for each in self.sums:
                code.assign(each, _op("mul", _F32, each, scale))
            code.assign(self.peak, peak)
        shift = self._shift(code, self.peak)
        terms = [code.let("term", self._exponential(value, shift)) for value in values]
        code.assign(self.sums[0], _op("add", _F32, self.sums[0], tree(code, "add", terms)))
        if self.trusts_exp:
            return
        magnitudes = [_magnitude(value) for value in values]
        code.assign(self.magnitude, _op("max_fast", DType.U32, self.magnitude, tree(code, "max_fast", magnitudes)))

    def settle(self, code: Code, level: int) -> None:
        code.assign(self.sums[level + 1], _op("add", _F32, self.sums[level + 1], self.sums[level]))
        code.assign(self.sums[level], ir.Const(_F32, 0.0))

    def components(self, code: Code) -> list[ir.Expr]:
        total = tree(code, "add", self.sums)
        magnitude = _magnitude(total) if self.trusts_exp else self.magnitude
        has_nan = code.let("has_nan", compare("gt", magnitude, const(_INFINITY_BITS, DType.U32)))
        return [self.peak, total, has_nan]

    def fold(self, code: Code, parts: list[list[ir.Expr]]) -> list[ir.Expr]:
        peak = tree(code, "max_fast", [part[0] for part in parts])
        shift = self._shift(code, peak)
        terms = [
            code.let("term", _op("mul", _F32, part[1], self._exponential(part[0], shift))) for part in parts
        ]
        return [peak, tree(code, "add", terms), tree(code, "or", [part[2] for part in parts])]

    def across(self, code: Code, parts: list[ir.Expr], exchange: Exchange) -> list[ir.Expr]:
        """The maximum first: then each lane rescales once, and plain sums are the same bits in every lane."""
        peak = exchange.reduce("max_fast", parts[0])
        term = _op("mul", _F32, parts[1], self._exponential(parts[0], self._shift(code, peak)))
        return [peak, exchange.reduce("add", code.let("term", term)), exchange.reduce("or", parts[2])]

    def results(self, code: Code, components: list[ir.Expr]) -> list[tuple[tile.Value, ir.Expr]]:
        peak, total, has_nan = components
        is_empty = code.let("is_empty", compare("eq", total, ir.Const(_F32, 0.0)))
        is_huge = code.let("is_huge", compare("gt", peak, ir.Const(_F32, -_LOWEST)))
        nan = ir.Const(_F32, float("nan"))
        found: list[tuple[tile.Value, ir.Expr]] = []
        for reduction in self.reductions:
            if reduction.op == "max":
                value: ir.Expr = ir.Select(is_empty, ir.Const(_F32, float("-inf")), peak)
            else:
                is_infinite = _op("or", DType.BOOL, is_empty, is_huge)
                safe = code.let("safe", ir.Select(is_infinite, ir.Const(_F32, 1.0), total))
                value = _op("log", _F32, safe)
            found.append((reduction, code.let(reduction.name or reduction.op, ir.Select(has_nan, nan, value))))
        return found


def _magnitude(value: ir.Expr) -> ir.Expr:
    """The bits of the float without its sign: an integer that grows with the magnitude, NaNs' beyond infinity's."""
    bits = ir.Bits("bitcast", (value,), DType.U32)
    return ir.Bits("and", (bits, const(_MAGNITUDE_BITS, DType.U32)), DType.U32)


class PickState(State):
    """A picked element, found by the one lane that owns it; the others hold 0."""

    def __init__(self, pick: tile.Pick) -> None:
        super().__init__([])
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
        return [exchange.reduce("or" if self.dtype is DType.BOOL else "add", parts[0])]

    def results(self, code: Code, components: list[ir.Expr]) -> list[tuple[tile.Value, ir.Expr]]:
        return [(self.pick, components[0])]


def make_states(item: Round, trusts_exp: bool) -> list[State]:
    """The states of all reductions of a round, in the order of `group_states`, and of its picks."""
    states: list[State] = []
    for group in group_states(item.reductions):
        if any(reduction.op == "rest" for reduction in group):
            states.append(ShiftedState(group, trusts_exp))
        elif REDUCTIONS[group[0].op].state == "best":
            states.append(BestState(group[0]))
        else:
            states.append(PlainState(group[0]))
    return states + [PickState(sink.pick) for sink in item.picks]
