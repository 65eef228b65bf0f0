"""Combining the states of a job's lanes by subgroup shuffles, in a fixed order.

A cluster is so many neighbouring lanes that they are of one subgroup whatever its size. Its lanes exchange their parts
with those one, two, four ... further on until all hold the same. If a job has several clusters, the first lane of each
leaves its part in workgroup memory; then each cluster reads as many of these parts as it has lanes and combines them,
until there is one. Every step is the same on both of its lanes, so that all lanes end with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.loop import ir
from tilec.loop.lower.arith import add, compare, const, divide, multiply, remainder
from tilec.loop.lower.code import Code
from tilec.loop.lower.frame import Frame, load_shared, store_shared
from tilec.loop.lower.states import State
from tilec.plan.ir import Mapping
from tilec.types import DType


class Shuffles:
    """What a state is combined with: the same parts in other lanes of the cluster. `spans`: whether all lanes of the
    cluster's subgroup, which may be wider, are of one job, so that what is idempotent can be left to the hardware."""

    def __init__(self, code: Code, masks: list[int], spans: bool) -> None:
        self.code = code
        self.masks = masks
        self.spans = spans

    def other(self, value: ir.Expr, mask: int) -> ir.Expr:
        """The value in the lane whose thread number differs in the bit `mask`."""
        if value.dtype is not DType.BOOL:
            return self.code.let("other", ir.Shuffle(self.code.let("own", value), mask))
        word = self.code.let("own", ir.Select(value, const(1, DType.U32), const(0, DType.U32)))
        return compare("ne", self.code.let("other", ir.Shuffle(word, mask)), const(0, DType.U32))

    def reduce(self, op: str, value: ir.Expr) -> ir.Expr:
        """The value combined over all lanes by a commutative op."""
        if value.dtype is DType.BOOL:
            word: ir.Expr = ir.Select(value, const(1, DType.U32), const(0, DType.U32))
            for mask in self.masks:
                word = self.code.let("part", word)
                word = ir.Bits(op, (word, self.other(word, mask)), DType.U32)
            return compare("ne", word, const(0, DType.U32))
        for mask in self.masks:
            value = self.code.let("part", ir.Op(op, (value, self.other(value, mask)), value.dtype))
        return value

    def only(self, value: ir.Expr) -> ir.Expr:
        """The value that one lane holds where all others hold 0: its bits, since theirs are none."""
        if value.dtype is DType.BOOL or not self.spans:
            return self.reduce("or" if value.dtype is DType.BOOL else "add", value)
        return _as(value.dtype, self._over_subgroup("or", _as(DType.U32, value)))

    def highest(self, value: ir.Expr) -> ir.Expr:
        """The highest f32 of any lane: as integers in the order of the floats, which hardware compares in one step."""
        if not self.spans:
            return self.reduce("max_fast", value)
        return _as(DType.F32, self._ordered(self._over_subgroup("max", self._ordered(_as(DType.I32, value)))))

    def _ordered(self, bits: ir.Expr) -> ir.Expr:
        """Bits of a float as an integer in the order of the floats, and back."""
        bits = self.code.let("bits", bits)
        sign = ir.Bits("shr", (bits, const(31, DType.U32)), DType.I32)
        return ir.Bits("xor", (bits, ir.Bits("and", (sign, const(0x7FFFFFFF)), DType.I32)), DType.I32)

    def _over_subgroup(self, op: str, value: ir.Expr) -> ir.Expr:
        width = 1 << len(self.masks)
        return self.code.let("part", ir.SubgroupReduce(op, self.code.let("own", value), width))


def _as(dtype: DType, value: ir.Expr) -> ir.Expr:
    return value if value.dtype is dtype else ir.Bits("bitcast", (value,), dtype)


def combine_clusters(
    frame: Frame, batch: Sequence[tuple[State, Sequence[ir.Expr]]], mapping: Mapping
) -> list[list[ir.Expr]]:
    """Each state's components combined over the lanes of the job, in every lane."""
    code, width = frame.code, mapping.cluster
    stride = mapping.jobs if mapping.jobs_fastest else 1
    states = [state for state, _ in batch]
    spans = mapping.jobs == 1
    parts = _exchanged(code, states, [list(own) for _, own in batch], stride, width, spans)
    count = mapping.lanes // width
    level = 0
    while count > 1:
        if frame.shared_is_read and not level and frame.turn is None:
            code.emit(ir.Barrier(False))
        width = min(mapping.cluster, count)
        cluster = code.let("cluster", divide(frame.lane, const(mapping.cluster)))
        flat = [part for own in parts for part in own]
        size = mapping.jobs * count
        base: ir.Expr = const(0)
        if frame.turn is not None:
            base = code.let("base", multiply(remainder(frame.turn, const(2)), const(size)))
            size *= 2
        arrays = [
            frame.shared_array(("cluster", level, number, dtype), f"clusters_{number}", dtype, size)
            for number, dtype in enumerate(DType.U32 if frame.shares_words else part.dtype for part in flat)
        ]
        is_first = compare("eq", remainder(frame.lane, const(mapping.cluster)), const(0))
        writes = is_first if not level else ir.Op("and", (is_first, compare("lt", cluster, const(count))), DType.BOOL)
        with code.when(code.let("is_first", writes)):
            place = code.let("place", add(base, add(multiply(frame.slot, const(count)), cluster)))
            for array, part in zip(arrays, flat, strict=True):
                store_shared(frame, array, place, part)
        code.emit(ir.Barrier(False))
        frame.shared_is_read = not level  # what level 0 wrote was read before this barrier
        mine = remainder(frame.lane, const(width))
        if count > width:
            mine = add(mine, multiply(remainder(cluster, const(count // width)), const(width)))
        place = code.let("place", add(base, add(multiply(frame.slot, const(count)), mine)))
        loaded = iter(
            [
                code.let("part", load_shared(array, place, part.dtype))
                for array, part in zip(arrays, flat, strict=True)
            ]
        )
        parts = _exchanged(code, states, [[next(loaded) for _ in own] for own in parts], stride, width, spans)
        count //= width
        level += 1
    return parts


def _exchanged(
    code: Code, states: list[State], parts: list[list[ir.Expr]], stride: int, width: int, spans: bool
) -> list[list[ir.Expr]]:
    exchange = Shuffles(code, [stride << step for step in range(width.bit_length() - 1)], spans)
    return [state.across(code, own, exchange) for state, own in zip(states, parts, strict=True)]
