"""Masks: what must hold for a lane of a sink, as bounds with the role of the axis that each bounds."""

from __future__ import annotations

from tilec.loop import ir
from tilec.loop.lower.arith import both
from tilec.loop.lower.evaluate import Evaluator
from tilec.loop.lower.frame import Frame
from tilec.plan.ir import Roles, Sink
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.tile.wrapping import stays
from tilec.types import Bound, Extent, TileType, stretch

Condition = tuple[Bound, str]


class Masks:
    """The conditions of sinks, and their code."""

    def __init__(self, frame: Frame, evaluator: Evaluator) -> None:
        self.frame = frame
        self.evaluator = evaluator

    def conditions(self, sink: Sink) -> set[Condition]:
        """What must hold for a lane of the sink: bounds, each with the role of the axis that it bounds."""
        found = _bounds(sink.operand.type, sink.roles)
        if sink.kind == "store":
            found |= self._span_bounds(sink)
        if sink.kind == "pick":
            found = {condition for condition in found if condition[1] != "s0"}
            found |= _bounds(sink.pick.index.type, (*sink.roles[:-1], "."))
        return found

    def _span_bounds(self, sink: Sink) -> set[Condition]:
        """The store's spans inside the tensor, as far as that is not proved."""
        store = sink.store
        found: set[Condition] = set()
        axis = 0
        for index, dim in zip(store.indices, self.frame.kernel.tensor(store.tensor).dims, strict=True):
            if not isinstance(index, tile.SpanIndex):
                continue
            start = extent_of(index.start)
            is_above = start.is_nonnegative and stays(start, {})
            if not (is_above and (dim - start - index.count).is_nonnegative):
                low = Extent.of(0) if is_above else -start
                found.add((Bound(low, dim - start), sink.roles[axis]))
            axis += 1
        return found

    def holds(self, conditions: set[Condition], index: dict[str, ir.Expr]) -> ir.Expr | None:
        ordered = sorted(conditions, key=lambda condition: (str(condition[0]), condition[1]))
        return both([self.evaluator.bound(bound, index[role]) for bound, role in ordered])


def _bounds(of: TileType, roles: Roles) -> set[Condition]:
    """The bounds of the lanes of an operand that is read at `roles`."""
    found: set[Condition] = set()
    offset = len(roles) - of.rank
    for axis, bounds in enumerate(of.active):
        role = roles[offset + axis]
        is_stretched = of.shape[axis].is_one and role != "."
        for bound in stretch(bounds) if is_stretched else bounds:
            found.add((bound, "." if bound.stretched else role))
    return found
