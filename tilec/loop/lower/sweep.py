"""One round: its sweep over the swept axes, the combine, the narrow sinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tilec.loop import ir
from tilec.loop.lower.arith import add, both, compare, const, divide, multiply, remainder, subtract, unsigned
from tilec.loop.lower.code import ZERO, atom_key
from tilec.loop.lower.combine import combine
from tilec.loop.lower.evaluate import Evaluator, Indices, aligned, zero_of
from tilec.loop.lower.frame import Frame
from tilec.loop.lower.memory import write_element, write_slot
from tilec.loop.lower.packed import store_granule, store_vectors
from tilec.loop.lower.states import PickState, State, make_states
from tilec.plan.ir import Mapping, Phase, Round, Sink
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.types import Bound, DType, Extent, apply, stretch

_ROUNDS_A_BLOCK = 16
_MOST_LEVELS = 4
Condition = tuple[Bound, str]


@dataclass(slots=True)
class Element:
    """One element of a sweep: the index of each role, and whether it exists (None: it does)."""

    index: dict[str, ir.Expr]
    exists: ir.Expr | None
    number: ir.Expr


Pending: TypeAlias = "tuple[Element, ir.Expr | None, ir.Expr]"
"""What is still to be stored: the element, under which condition, the value."""


class RoundLowering:
    """Writes the code of one round of a phase's job."""

    def __init__(self, frame: Frame, phase: Phase, evaluator: Evaluator) -> None:
        self.frame = frame
        self.code = frame.code
        self.phase = phase
        self.mapping: Mapping = phase.mapping
        self.evaluator = evaluator
        self.part: tuple[ir.Expr, ir.Expr] | None = None
        """The elements from .. to that a workgroup of a split sweep takes, None for all."""

    def lower(self, item: Round) -> None:
        if item.fence:
            self.code.emit(ir.Barrier(True))
            self.frame.shared_is_read = False
        if self.mapping.resident:
            self._preload([each for each in self.phase.items if isinstance(each, Round)], item)
        states = self.sweep(item) if item.wide else []
        if states:
            combine(self.frame, states, self.mapping)
        self.finish(item)

    def finish(self, item: Round) -> None:
        """The narrow work; what the round publishes can be read from now on."""
        if item.narrow:
            self._narrow(item.narrow)
        for sink in item.sinks:
            if sink.kind == "publish":
                self.frame.available.add(sink.value)

    # --- masks -----------------------------------------------------------------------------------------------

    def conditions(self, sink: Sink) -> set[Condition]:
        """What must hold for a lane of the sink: bounds, each with the role of the axis that it bounds."""
        found: set[Condition] = set()
        operand = sink.operand
        offset = len(sink.roles) - operand.type.rank
        for axis, bounds in enumerate(operand.type.active):
            role = sink.roles[offset + axis]
            is_stretched = operand.type.shape[axis].is_one and role != "."
            for bound in stretch(bounds) if is_stretched else bounds:
                found.add((bound, "." if bound.stretched else role))
        if sink.kind == "store":
            found |= self._span_bounds(sink)
        if sink.kind == "pick":
            found = {condition for condition in found if condition[1] != "s0"}
        return found

    def _span_bounds(self, sink: Sink) -> set[Condition]:
        """The store's spans inside the tensor, as far as that is not proved."""
        store = sink.value
        found: set[Condition] = set()
        axis = 0
        for index, dim in zip(store.indices, self.frame.kernel.tensor(store.tensor).dims, strict=True):
            if not isinstance(index, tile.SpanIndex):
                continue
            start = extent_of(index.start)
            if not (start.is_nonnegative and (dim - start - index.count).is_nonnegative):
                low = Extent.of(0) if start.is_nonnegative else -start
                found.add((Bound(low, dim - start), sink.roles[axis]))
            axis += 1
        return found

    def holds(self, conditions: set[Condition], index: dict[str, ir.Expr]) -> ir.Expr | None:
        ordered = sorted(conditions, key=str)
        return both([self.evaluator.bound(bound, index[role]) for bound, role in ordered])

    # --- the sweep -------------------------------------------------------------------------------------------

    def sweep(self, item: Round) -> list[State]:
        """The sweep itself; gives the lane's states, to be combined."""
        frame, code = self.frame, self.code
        sinks = item.wide
        states: dict[tile.Value, State] = {}
        reductions = [sink.value for sink in sinks if sink.kind == "reduce"]
        ordered: list[State] = make_states(reductions)
        for state in ordered:
            for reduction in state.reductions:
                states[reduction] = state
        picks = [sink for sink in sinks if sink.kind == "pick"]
        for sink in picks:
            states[sink.value] = PickState(sink.value)
            ordered.append(states[sink.value])
        levels = self._levels(item)
        for state in ordered:
            state.declare(code, levels)
        masks = {sink: self.conditions(sink) for sink in sinks}
        common = {c for c in set.intersection(*masks.values()) if not c[1].startswith("s")}
        alive = both([frame.valid, self.holds(common, frame.index)])
        with code.when(alive):
            for sink in picks:
                self._own_pick(sink, states[sink.value], masks[sink] - common, item)
            rest = [sink for sink in sinks if sink.kind != "pick"]
            if rest:
                self._hoist(rest, masks, common)
                self._elements(item, rest, states, {sink: masks[sink] - common for sink in rest})
        return ordered

    def _hoist(self, sinks: list[Sink], masks: dict[Sink, set[Condition]], common: set[Condition]) -> None:
        """Computes before the loops what does not change in them."""
        marker = {role: ir.Local(role, DType.I32) for role in ("s0", "s1", "s2", "s3")}
        swept = {local.number for local in marker.values()}
        index = {**self.frame.index, **marker}
        for sink in sinks:
            if any(not role.startswith("s") for _, role in masks[sink] - common):
                continue
            stack = [(sink.operand, aligned(sink.operand, tuple(index[role] for role in sink.roles)))]
            if sink.kind == "store":
                stack += [(_scalar(i), ()) for i in sink.value.indices]
            seen: set[tile.Value] = set()
            while stack:
                value, own = stack.pop()
                if value in seen:
                    continue
                seen.add(value)
                if any(isinstance(i, ir.Local) and i.number in swept for i in own):
                    stack.extend(self.evaluator.children(value, own))
                elif not isinstance(value, (tile.Const, tile.Scalar, tile.Dim)):
                    self.evaluator.at(value, own)

    def _elements(
        self, item: Round, sinks: list[Sink], states: dict[tile.Value, State], masks: dict[Sink, set[Condition]]
    ) -> None:
        total = Extent.of(1)
        for extent in item.swept:
            total = total * extent
        if self.mapping.resident:
            self._emit(sinks, states, self.resident_elements(item), masks)
        else:
            self._streamed(item, total, sinks, states, masks)

    def _preload(self, rounds: list[Round], item: Round) -> None:
        """Loads what this round is the first of several to read into registers of the job."""
        readers: dict[tuple[tile.Load, tuple[str, ...]], list[Round]] = {}
        for each in rounds:
            for key in dict.fromkeys(key for sink in each.wide for key in self._loads(sink)):
                readers.setdefault(key, []).append(each)
        kept = [key for key, several in readers.items() if several[0] is item and len(several) > 1]
        if not kept:
            return
        elements = self.resident_elements(item)
        for load, roles in kept:
            own = [
                tuple({**self.frame.index, **element.index}[role] for role in roles) for element in elements
            ]
            zero = zero_of(load.type.dtype)
            registers = [self.code.declare(load.name or load.tensor, zero) for _ in elements]
            bounds = {(b, "." if b.stretched else roles[axis]) for axis, bs in enumerate(load.type.active) for b in bs}
            common = {bound for bound in bounds if not bound[1].startswith("s")}
            with self.code.when(both([self.frame.valid, self.holds(common, self.frame.index)])):
                swept = bounds - common
                size = self.mapping.granule if self.mapping.is_whole and not swept else 1
                places = list(zip(elements, own, registers, strict=True))
                for first in range(0, len(places), size):
                    element = places[first][0]
                    index = {**self.frame.index, **element.index}
                    with self.code.when(both([element.exists, self.holds(swept, index)])):
                        for _, indices, register in places[first : first + size]:
                            self.code.assign(register, self.evaluator.at(load, indices))
            for indices, register in zip(own, registers, strict=True):
                self.code.remember(self.evaluator.key(load, indices), register)

    def _loads(self, sink: Sink) -> list[tuple[tile.Load, tuple[str, ...]]]:
        """The loads that vary along the sweep, with the roles of their axes."""
        marker = {role: ir.Local(role, DType.I32) for role in {*sink.roles, "."}}
        names = {local.number: role for role, local in marker.items()}
        found: list[tuple[tile.Load, tuple[str, ...]]] = []
        stack = [(sink.operand, aligned(sink.operand, tuple(marker[role] for role in sink.roles)))]
        seen: set[object] = set()
        while stack:
            value, own = stack.pop()
            key = self.evaluator.key(value, own)
            if key in seen:
                continue
            seen.add(key)
            roles = tuple(names.get(getattr(index, "number", -1), ".") for index in own)
            if isinstance(value, tile.Load) and value not in self.frame.available and "s0" in roles:
                found.append((value, roles))
            stack.extend(self.evaluator.children(value, own))
        return found

    def resident_elements(self, item: Round) -> list[Element]:
        """The lane's elements of a sweep that is unrolled as a whole, made once a job."""
        total = item.swept[0]
        lanes, granule = self.mapping.lanes, self.mapping.granule
        found: list[Element] = []
        base: ir.Expr = ZERO
        for number in range(self.mapping.resident):
            for part in range(granule):
                first = number * lanes * granule + part
                key = ("resident", item.swept, number, part)
                position = self.code.find(key)
                if position is None:
                    position = self.code.let("c", add(multiply(self.frame.lane, const(granule)), const(first)))
                    self.code.remember(key, position)
                base = position if part == 0 else base
                self._is_part(position, base, part)
                last = first + (lanes - 1) * granule
                exists = None
                if total.constant is None or last >= total.constant:
                    exists = self._exists(base if self.mapping.is_whole else position, total)
                found.append(Element({"s0": position}, exists, position))
        return found

    def _exists(self, position: ir.Expr, total: Extent) -> ir.Expr:
        extent = self.evaluator.extent(total)
        key = ("exists", atom_key(position), atom_key(extent))
        found = self.code.find(key)
        if found is None:
            found = self.code.let("exists", compare("lt", position, extent))
            self.code.remember(key, found)
        return found

    def _streamed(
        self,
        item: Round,
        total: Extent,
        sinks: list[Sink],
        states: dict[tile.Value, State],
        masks: dict[Sink, set[Condition]],
    ) -> None:
        code, mapping = self.code, self.mapping
        stride = mapping.lanes * mapping.granule
        chunk = stride * mapping.unroll
        offset = code.let("offset", multiply(self.frame.lane, const(mapping.granule)))
        first, end = self.part or (ZERO, self.evaluator.extent(total))
        if self.part is None:
            rounds = self.evaluator.extent(apply("div", total, Extent.of(chunk)))
        else:
            rounds = divide(subtract(end, first), const(chunk))
        done = first
        if self.part is not None or total.constant is None or total.constant >= chunk:
            rounds = code.let("rounds", rounds)
            number = ir.Local("round", DType.I32)
            with code.block() as body:
                start = code.let("start", add(add(first, multiply(number, const(chunk))), offset))
                elements = [
                    element for u in range(mapping.unroll) for element in self._granule(item, start, u * stride, None)
                ]
                self._emit(sinks, states, elements, masks)
                self._settle(item, sinks, states, number)
            code.emit(ir.Loop(number, ZERO, rounds, const(1), tuple(body)))
            done = code.let("done", add(first, multiply(rounds, const(chunk))))
        if self.part is None and total.constant is not None and total.constant % chunk == 0:
            return
        self._tail(item, total, end, add(done, offset), sinks, states, masks)

    def _tail(self, item, total, extent, start, sinks, states, masks) -> None:
        """What is left, a granule at a time."""
        code, mapping = self.code, self.mapping
        position = ir.Local("c", DType.I32)
        with code.block() as body:
            elements = self._granule(item, position, 0, None if mapping.is_whole else total)
            self._emit(sinks, states, elements, masks)
        stride = const(mapping.lanes * mapping.granule)
        code.emit(ir.Loop(position, code.let("first", start), extent, stride, tuple(body)))

    def _levels(self, item: Round) -> int:
        """How many levels of sums above the running one keep each of them to about 16 terms."""
        if self.mapping.resident:
            return 0
        total = 1
        for extent in item.swept:
            total = 1 << 31 if extent.constant is None else total * extent.constant
        rounds = min(total, 1 << 31) // (self.mapping.lanes * self.mapping.granule * self.mapping.unroll)
        levels = 0
        while rounds >= _ROUNDS_A_BLOCK and levels < _MOST_LEVELS:
            rounds //= _ROUNDS_A_BLOCK
            levels += 1
        return levels

    def _settle(self, item: Round, sinks: list[Sink], states: dict[tile.Value, State], number: ir.Local) -> None:
        """At the end of every 16th round the running sums go one level up, every 256th the next, and so on."""
        distinct = list(dict.fromkeys(states[sink.value] for sink in sinks if sink.kind == "reduce"))
        self._settle_level(distinct, number, 0, self._levels(item))

    def _settle_level(self, states: list[State], number: ir.Local, level: int, levels: int) -> None:
        if level == levels:
            return
        with self.code.block() as body:
            for state in states:
                state.settle(self.code, level)
            if body:
                self._settle_level(states, number, level + 1, levels)
        if body:
            mask = const(_ROUNDS_A_BLOCK ** (level + 1) - 1)
            self.code.emit(ir.If(compare("eq", ir.Bits("and", (number, mask), DType.I32), mask), tuple(body)))

    def _granule(self, item: Round, start: ir.Expr, offset: int, total: Extent | None) -> list[Element]:
        """The elements of a granule at `start + offset`, of which the first exists; the others if below `total`."""
        code = self.code
        base = code.let("c", add(start, const(offset)))
        found: list[Element] = []
        for part in range(self.mapping.granule):
            place = code.let("c", add(base, const(part)))
            self._is_part(place, base, part)
            exists = self._exists(place, total) if part and total is not None else None
            found.append(self._element(item, place, exists))
        return found

    def _is_part(self, place: ir.Expr, base: ir.Expr, part: int) -> None:
        if self.mapping.granule > 1 and isinstance(place, ir.Local):
            self.frame.parts[place.number] = (base, part)

    def _element(self, item: Round, number: ir.Expr, exists: ir.Expr | None) -> Element:
        """The element with this number in the order of the swept axes, the last fastest."""
        index: dict[str, ir.Expr] = {}
        rest = number
        for axis in range(len(item.swept) - 1, 0, -1):
            extent = self.evaluator.extent(item.swept[axis])
            index[f"s{axis}"] = self.code.let("index", remainder(rest, extent))
            rest = self.code.let("rest", divide(rest, extent))
        if item.swept:
            index["s0"] = rest
        return Element(index, exists, number)

    # --- elements --------------------------------------------------------------------------------------------

    def _emit(
        self,
        sinks: list[Sink],
        states: dict[tile.Value, State],
        elements: list[Element],
        masks: dict[Sink, set[Condition]],
    ) -> None:
        """Evaluates the sinks at the elements. Sinks of one mask share a block; stores come after every read."""
        groups: dict[frozenset[Condition], list[Sink]] = {}
        for sink in sinks:
            groups.setdefault(frozenset(masks[sink]), []).append(sink)
        pending: list[tuple[Sink, list[Pending]]] = []
        for mask, group in groups.items():
            size = self.mapping.granule if self.mapping.is_whole and all(sink.is_whole for sink in group) else 1
            chunks = [elements[first : first + size] for first in range(0, len(elements), size)]
            conditions = [
                both([chunk[0].exists, self.holds(set(mask), {**self.frame.index, **chunk[0].index})])
                for chunk in chunks
            ]
            if all(condition is None for condition in conditions):
                pending += self._unmasked(group, states, elements)
            elif len(groups) == 1 and (size > 1 or not any(sink.granular for sink in group)):
                self._masked_alone(group, states, chunks, conditions)
            else:
                pending += self._masked(group, states, chunks, conditions)
        for sink, stores in pending:
            self._store(sink, stores)

    def _unmasked(
        self, group: list[Sink], states: dict[tile.Value, State], elements: list[Element]
    ) -> list[tuple[Sink, list[Pending]]]:
        pending: list[tuple[Sink, list[Pending]]] = []
        for sink in group:
            values = [self._operand(sink, element) for element in elements]
            if sink.kind == "reduce":
                self._update(states[sink.value], sink, values, elements)
            else:
                pending.append((sink, [(e, None, v) for e, v in zip(elements, values, strict=True)]))
        return pending

    def _masked_alone(
        self,
        group: list[Sink],
        states: dict[tile.Value, State],
        chunks: list[list[Element]],
        conditions: list[ir.Expr | None],
    ) -> None:
        """One block a chunk of elements with all reads, updates and stores of it."""
        for chunk, condition in zip(chunks, conditions, strict=True):
            with self.code.when(None if condition is None else self.code.let("is_active", condition)):
                for sink, stores in self._unmasked(group, states, chunk):
                    self._store(sink, stores)

    def _masked(
        self,
        group: list[Sink],
        states: dict[tile.Value, State],
        chunks: list[list[Element]],
        conditions: list[ir.Expr | None],
    ) -> list[tuple[Sink, list[Pending]]]:
        """As above, but what is stored is held until the other sinks have read what they need."""
        held: dict[Sink, list[Pending]] = {sink: [] for sink in group if sink.kind != "reduce"}
        for chunk, condition in zip(chunks, conditions, strict=True):
            condition = None if condition is None else self.code.let("is_active", condition)
            locals_ = {
                sink: [self.code.declare("held", zero_of(sink.operand.type.dtype)) for _ in chunk] for sink in held
            }
            with self.code.when(condition):
                for sink, stores in self._unmasked(group, states, chunk):
                    for local, (_, _, value) in zip(locals_[sink], stores, strict=True):
                        self.code.assign(local, value)
            for sink, several in locals_.items():
                held[sink] += [(element, condition, local) for element, local in zip(chunk, several, strict=True)]
        return list(held.items())

    def _operand(self, sink: Sink, element: Element) -> ir.Expr:
        index = {**self.frame.index, **element.index}
        return self.evaluator.at(sink.operand, aligned(sink.operand, tuple(index[role] for role in sink.roles)))

    def _update(self, state: State, sink: Sink, values: list[ir.Expr], elements: list[Element]) -> None:
        if state.reductions[0] is not sink.value:
            return
        positions = [self._reduced_position(sink, element) for element in elements]
        state.update(self.code, values, positions)

    def _reduced_position(self, sink: Sink, element: Element) -> ir.Expr:
        """The index that argmax gives: along the reduced axis, or in row-major order over several."""
        position: ir.Expr = ZERO
        for axis in sink.value.axes:
            role = sink.roles[axis]
            extent = self.evaluator.extent(sink.shape[axis])
            position = add(multiply(position, extent), ZERO if role == "." else element.index[role])
        return self.code.let("position", position)

    def _store(self, sink: Sink, stores: list[Pending]) -> None:
        is_vector = sink.kind == "store" and sink.value.tensor in self.frame.vectors
        if sink.granular or is_vector:
            granule = self.mapping.granule
            for first in range(0, len(stores), granule):
                self._store_granule(sink, stores[first : first + granule], is_vector)
            return
        for element, condition, value in stores:
            with self.code.when(condition):
                self.write(sink, {**self.frame.index, **element.index}, value)

    def _store_granule(self, sink: Sink, stores: list[Pending], is_vector: bool) -> None:
        coordinates = [self._coordinates(sink, element) for element, _, _ in stores]
        parts = [(condition, value) for _, condition, value in stores]
        parameter = self.frame.kernel.tensor(sink.value.tensor)
        with self.code.when(self.evaluator.inside(sink.value, coordinates[0], False)):
            if is_vector:
                with self.code.when(parts[0][0]):
                    store_vectors(self.frame, parameter, coordinates[0], [v for _, v in parts], sink.value.span)
            else:
                store_granule(self.frame, parameter, coordinates, parts, sink.value.span)

    def _coordinates(self, sink: Sink, element: Element) -> list[ir.Expr]:
        index = {**self.frame.index, **element.index}
        return self.evaluator.coordinates(sink.value, tuple(index[role] for role in sink.roles))

    def write(self, sink: Sink, index: dict[str, ir.Expr], value: ir.Expr) -> None:
        """One element of a store, or of a slot."""
        indices = tuple(index[role] for role in sink.roles)
        if sink.kind == "store":
            store = sink.value
            coordinates = self.evaluator.coordinates(store, indices)
            with self.code.when(self.evaluator.inside(store, coordinates, False)):
                parameter = self.frame.kernel.tensor(store.tensor)
                write_element(self.frame, parameter, coordinates, value, self.evaluator.scalar, store.span)
        else:
            write_slot(self.frame, sink.slot, indices, value, self.evaluator.scalar, sink.value.span)

    # --- picks and narrow work -------------------------------------------------------------------------------

    def _own_pick(self, sink: Sink, state: State, mask: set[Condition], item: Round) -> None:
        """The lane that the sweep gives the picked element to reads it, before it may overwrite it."""
        pick, code = sink.value, self.code
        with code.when(self.holds(mask, self.frame.index)):
            indices = tuple(ZERO if role == "s0" else self.frame.index[role] for role in sink.roles)
            index = self.evaluator.at(pick.index, aligned(pick.index, indices))
            own = (*aligned(pick.operand, indices)[:-1], index)
            granule, lanes = self.mapping.granule, self.mapping.lanes
            owner = remainder(divide(unsigned(index), const(granule, DType.U32)), const(lanes, DType.U32))
            mine = compare("eq", owner, unsigned(self.frame.lane))
            with (
                code.when(code.let("exists", self.evaluator.picks(pick, index, own))),
                code.when(code.let("is_mine", mine) if lanes > 1 else None),
            ):
                code.assign(state.value, self.evaluator.at(pick.operand, own))

    def _first_job(self) -> ir.Expr | None:
        return both(
            [
                compare("eq", self.frame.index[f"k{number}"], ZERO)
                for number, extent in enumerate(self.phase.kept)
                if not extent.is_one
            ]
        )

    def _narrow(self, sinks: list[Sink]) -> None:
        """What the first lane of the job does once."""
        first = compare("eq", self.frame.lane, ZERO) if self.mapping.lanes > 1 else None
        groups: list[tuple[tuple[set[Condition], bool], list[Sink]]] = []
        for sink in sinks:
            mask = (self.conditions(sink), sink.is_once)
            if groups and groups[-1][0] == mask:
                groups[-1][1].append(sink)
            else:
                groups.append((mask, [sink]))
        for (mask, is_once), group in groups:
            first_job = self._first_job() if is_once else None
            condition = both([first, self.frame.valid, first_job, self.holds(mask, self.frame.index)])
            with self.code.when(condition):
                for sink in group:
                    indices = tuple(self.frame.index[role] for role in sink.roles)
                    value = self.evaluator.at(sink.operand, aligned(sink.operand, indices))
                    self.write(sink, self.frame.index, value)


def _scalar(index: tile.AxisIndex) -> tile.Value:
    return index.start if isinstance(index, tile.SpanIndex) else index.index
