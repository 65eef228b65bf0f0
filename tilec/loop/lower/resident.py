"""Rows that stay in the registers of a job's lanes from one sweep to the next."""

from __future__ import annotations

from tilec.loop import ir
from tilec.loop.lower.arith import both
from tilec.loop.lower.decisions import aligned, lane_key
from tilec.loop.lower.elements import Elements
from tilec.loop.lower.evaluate import Evaluator, zero_of
from tilec.loop.lower.frame import Frame
from tilec.loop.lower.masks import Masks
from tilec.loop.lower.needed import NeededRows
from tilec.plan.ir import Round, Sink
from tilec.tile import ir as tile
from tilec.types import DType


class Resident:
    """Loads elements into registers, where every sweep finds them."""

    def __init__(
        self, frame: Frame, evaluator: Evaluator, masks: Masks, rows: NeededRows, elements: Elements
    ) -> None:
        self.frame = frame
        self.code = frame.code
        self.evaluator = evaluator
        self.masks = masks
        self.rows = rows
        self.elements = elements

    def preload(self, rounds: list[Round], item: Round) -> None:
        """Loads what this round is the first of several to read into registers of the job."""
        readers: dict[tuple[tile.Load, tuple[str, ...]], list[Round]] = {}
        for each in rounds:
            for key in dict.fromkeys(key for sink in each.wide for key in self._known_loads(sink)):
                readers.setdefault(key, []).append(each)
        kept = [key for key, several in readers.items() if several[0] is item and len(several) > 1]
        if not kept:
            return
        elements = self.elements.resident(item)
        for load, roles in kept:
            own = [tuple({**self.frame.index, **element.index}[role] for role in roles) for element in elements]
            zero = zero_of(load.type.dtype)
            registers = [self.code.declare(load.name or load.tensor, zero) for _ in elements]
            bounds = {(b, "." if b.stretched else roles[axis]) for axis, bs in enumerate(load.type.active) for b in bs}
            common = {bound for bound in bounds if not bound[1].startswith("s")}
            alive = both([self.frame.valid, self.masks.holds(common, self.frame.index)])
            needs = self.rows.at_roles(self.frame.plan.needed.get(load, ()), roles, common)
            with self.code.when(alive), self.rows.where_needed(needs):
                swept = bounds - common
                size = self.elements.mapping.granule if self.elements.mapping.is_whole and not swept else 1
                places = list(zip(elements, own, registers, strict=True))
                for first in range(0, len(places), size):
                    element = places[first][0]
                    index = {**self.frame.index, **element.index}
                    with self.code.when(both([element.exists, self.masks.holds(swept, index)])):
                        for _, indices, register in places[first : first + size]:
                            self.code.assign(register, self.evaluator.at(load, indices))
            for indices, register in zip(own, registers, strict=True):
                self.code.remember(lane_key(load, indices), register)

    def _known_loads(self, sink: Sink) -> list[tuple[tile.Load, tuple[str, ...]]]:
        """`_loads`, found again only where values have been published since."""
        key = (sink, len(self.frame.available))
        if key not in self.frame.sink_loads:
            self.frame.sink_loads[key] = self._loads(sink)
        return self.frame.sink_loads[key]

    def _loads(self, sink: Sink) -> list[tuple[tile.Load, tuple[str, ...]]]:
        """The loads that vary along the sweep, with the roles of their axes."""
        marker = {role: ir.Local(role, DType.I32) for role in {*sink.roles, "."}}
        names = {local.number: role for role, local in marker.items()}
        found: list[tuple[tile.Load, tuple[str, ...]]] = []
        stack = [(sink.operand, aligned(sink.operand, tuple(marker[role] for role in sink.roles)))]
        seen: set[object] = set()
        while stack:
            value, own = stack.pop()
            key = lane_key(value, own)
            if key in seen:
                continue
            seen.add(key)
            roles = tuple(names.get(getattr(index, "number", -1), ".") for index in own)
            if isinstance(value, tile.Load) and value not in self.frame.available and "s0" in roles:
                found.append((value, roles))
            stack.extend(self.evaluator.operands.possible(value, own))
        return found
