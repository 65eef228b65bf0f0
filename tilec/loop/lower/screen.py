"""Elements of a sweep that a condition singles out: one-hot terms, as the derivative of a pick has.

`where(iota == t, a, b)` is `b` at all elements of a row but one. Where nothing in a block of elements is singled out,
the block is computed with the condition decided, which saves a comparison and a choice an element and lets `b` be
folded into the arithmetic around it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilec.loop import ir
from tilec.loop.lower.arith import compare, const, subtract, unsigned
from tilec.loop.lower.decisions import Indices, aligned, lane_key
from tilec.loop.lower.elements import Element
from tilec.loop.lower.evaluate import Evaluator
from tilec.loop.lower.frame import Frame
from tilec.plan.ir import Mapping, Sink
from tilec.plan.screened import MOST_CONDITIONS, single_value
from tilec.tile import ir as tile
from tilec.types import DType


@dataclass(frozen=True, slots=True)
class Single:
    """A condition `iota == value`, or `!=`, with `iota` along the sweep and one `value` for all of it. `indices` are
    the condition's, with `SWEPT` for the element's."""

    condition: tile.Pointwise
    indices: Indices
    value: tile.Value

    def at(self, element: Element) -> Indices:
        return tuple(element.index["s0"] if index is SWEPT else index for index in self.indices)


SWEPT = ir.Local("s", DType.I32)


class Screen:
    """Finds such conditions and asks whether a block of elements meets any."""

    def __init__(self, frame: Frame, evaluator: Evaluator, mapping: Mapping) -> None:
        self.frame = frame
        self.code = frame.code
        self.evaluator = evaluator
        self.mapping = mapping

    def singles(self, sinks: list[Sink]) -> list[Single]:
        """The conditions that the sinks' values hang on, none if there are too many to ask about."""
        found: dict[object, Single] = {}
        index = {**self.frame.index, "s0": SWEPT}
        stack = [(s.operand, aligned(s.operand, tuple(index[role] for role in s.roles))) for s in sinks]
        seen: set[object] = set()
        while stack:
            value, own = stack.pop()
            key = lane_key(value, own)
            if key in seen or SWEPT not in own:
                continue
            seen.add(key)
            single = single_value(value, lambda operand, own=own: aligned(operand, own), SWEPT)
            if single is not None:
                assert isinstance(value, tile.Pointwise)
                found[key] = Single(value, own, single)
            else:
                stack.extend(self.evaluator.operands.possible(value, own))
        return list(found.values()) if len(found) <= MOST_CONDITIONS else []

    def assumptions(self, singles: list[Single], elements: list[Element]) -> list[tuple[tile.Value, Indices, bool]]:
        """What holds of the conditions at elements that are not singled out."""
        return [
            (single.condition, single.at(element), single.condition.op == "ne")
            for single in singles
            for element in elements
        ]

    def meets(self, singles: list[Single], elements: list[Element]) -> ir.Expr:
        """Whether one of the elements, whole granules `lanes * granule` apart, may be singled out."""
        granule, lanes = self.mapping.granule, self.mapping.lanes
        granules = len(elements) // granule
        span = (1 << (granules - 1).bit_length()) - 1
        rest = const(~((granule - 1) | lanes * granule * span) & 0xFFFFFFFF, DType.U32)
        test: ir.Expr | None = None
        for single in singles:
            value = self.evaluator.at(single.value, aligned(single.value, single.at(elements[0])))
            distance = unsigned(subtract(value, elements[0].index["s0"]))
            one = compare("eq", ir.Bits("and", (distance, rest), DType.U32), const(0, DType.U32))
            test = one if test is None else ir.Op("or", (test, one), DType.BOOL)
        assert test is not None
        return self.code.let("meets", test)
