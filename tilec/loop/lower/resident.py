"""Rows that stay in the registers of a job's lanes from one sweep to the next."""

from __future__ import annotations

from typing import TypeAlias

from tilec.loop import ir
from tilec.loop.lower.arith import both
from tilec.loop.lower.decisions import Indices, aligned, lane_key
from tilec.loop.lower.elements import Elements
from tilec.loop.lower.evaluate import Evaluator, zero_of
from tilec.loop.lower.frame import Frame
from tilec.loop.lower.masks import Masks
from tilec.loop.lower.memory import lane_of, read_vector
from tilec.loop.lower.needed import NeededRows
from tilec.loop.lower.operands import held_key
from tilec.plan.ir import Round, Sink
from tilec.plan.vectors import PACKED
from tilec.tile import ir as tile
from tilec.types import DType

_Read: TypeAlias = "tuple[tile.Load, tuple[str, ...]]"
"""A load, and the roles of its axes."""


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
        kept = self._first_read(rounds, item)
        if not kept:
            return
        elements = self.elements.resident(item)
        for load, roles in kept:
            own = [tuple({**self.frame.index, **element.index}[role] for role in roles) for element in elements]
            bounds = {(b, "." if b.stretched else roles[axis]) for axis, bs in enumerate(load.type.active) for b in bs}
            common = {bound for bound in bounds if not bound[1].startswith("s")}
            swept = bounds - common
            is_whole = self.elements.mapping.is_whole and not swept
            registers = self._registers(load, own, is_whole)
            alive = both([self.frame.valid, self.masks.holds(common, self.frame.index)])
            needs = self.rows.at_roles(self.frame.plan.needed.get(load, ()), roles, common)
            with self.code.when(alive), self.rows.where_needed(needs):
                size = self.elements.mapping.granule if is_whole else 1
                for first in range(0, len(elements), size):
                    element = elements[first]
                    index = {**self.frame.index, **element.index}
                    with self.code.when(both([element.exists, self.masks.holds(swept, index)])):
                        registers.fill(first, size)
            registers.remember()

    def _first_read(self, rounds: list[Round], item: Round) -> list[_Read]:
        """What this round reads, no earlier one, and a later one. Looks no further than it must: every round asks."""
        if item not in rounds:  # inside an `if` or a loop
            return []
        own, number = self._reads(item), rounds.index(item)
        for each in rounds[:number]:
            if not own:
                return []
            earlier = self._reads(each)
            own = {key: None for key in own if key not in earlier}
        later = rounds[number + 1 :]
        return [key for key in own if any(key in self._reads(each) for each in later)]

    def _reads(self, item: Round) -> dict[_Read, None]:
        return dict.fromkeys(key for sink in item.wide for key in self._known_loads(sink))

    def _registers(self, load: tile.Load, own: list[Indices], is_whole: bool) -> _Registers:
        dtype, granule = self.frame.kernel.tensor(load.tensor).dtype, self.elements.mapping.granule
        is_vector = load.tensor in self.frame.vectors and granule == 4 * dtype.elements_per_word
        if is_vector and is_whole and dtype in PACKED and load.fill is None:
            return _PackedRegisters(self.frame, self.evaluator, load, own)
        return _Registers(self.frame, self.evaluator, load, own)

    def _known_loads(self, sink: Sink) -> list[_Read]:
        """`_loads`, found again only where values have been published since."""
        key = (sink, len(self.frame.available))
        if key not in self.frame.sink_loads:
            self.frame.sink_loads[key] = self._loads(sink)
        return self.frame.sink_loads[key]

    def _loads(self, sink: Sink) -> list[_Read]:
        """The loads that vary along the sweep, with the roles of their axes."""
        marker = {role: ir.Local(role, DType.I32) for role in {*sink.roles, "."}}
        names = {local.number: role for role, local in marker.items()}
        found: list[_Read] = []
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


class _Registers:
    """The lanes of a load at some indices, a register each."""

    def __init__(self, frame: Frame, evaluator: Evaluator, load: tile.Load, own: list[Indices]) -> None:
        self.frame, self.code, self.evaluator = frame, frame.code, evaluator
        self.load, self.own = load, own
        self._declare()

    def _declare(self) -> None:
        zero = zero_of(self.load.type.dtype)
        self.locals = [self.code.declare(self.load.name or self.load.tensor, zero) for _ in self.own]

    def fill(self, first: int, count: int) -> None:
        """Loads lanes, here where they are active."""
        for number in range(first, first + count):
            self.code.assign(self.locals[number], self.evaluator.at(self.load, self.own[number]))

    def remember(self) -> None:
        """From now on the lanes are found in the registers."""
        for indices, register in zip(self.own, self.locals, strict=True):
            self.code.remember(lane_key(self.load, indices), register)


class _PackedRegisters(_Registers):
    """The same as the words of the tensor, a vector a register: half as many, unpacked anew by each sweep."""

    def _declare(self) -> None:
        self.parameter = self.frame.kernel.tensor(self.load.tensor)
        self.size = 4 * self.parameter.dtype.elements_per_word
        zero = ir.Const(DType.U32, 0)
        self.locals = [
            self.code.declare(f"{self.load.tensor}_vector", ir.Vector((zero, zero, zero, zero)))
            for _ in range(len(self.own) // self.size)
        ]

    def fill(self, first: int, count: int) -> None:
        assert count == self.size
        coordinates = self.evaluator.coordinates(self.load, self.own[first])
        vector = read_vector(self.frame, self.parameter, coordinates, 0, self.load.number)
        self.code.assign(self.locals[first // count], vector)

    def remember(self) -> None:
        for number, indices in enumerate(self.own):
            register = self.locals[number // self.size]
            lane = lane_of(self.frame, self.parameter.dtype, register, number % self.size)
            self.code.remember(held_key(self.load, indices), lane)
