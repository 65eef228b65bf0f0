"""Sinks at elements: states that are updated, elements and granules that are stored."""

from __future__ import annotations

from typing import TypeAlias

from tilec.loop import ir
from tilec.loop.lower.arith import add, both, compare, const, divide, multiply, remainder, subtract, unsigned
from tilec.loop.lower.code import ZERO
from tilec.loop.lower.decisions import aligned
from tilec.loop.lower.elements import Element
from tilec.loop.lower.evaluate import Evaluator, zero_of
from tilec.loop.lower.frame import Frame
from tilec.loop.lower.masks import Condition, Masks
from tilec.loop.lower.memory import write_element, write_slot
from tilec.loop.lower.packed import store_end, store_granule, store_vectors
from tilec.loop.lower.reports import ReportLowering
from tilec.loop.lower.screen import Screen
from tilec.loop.lower.states import PickState, State
from tilec.plan.ir import Mapping, Sink
from tilec.tile import ir as tile
from tilec.types import DType

Bounds: TypeAlias = "tuple[ir.Expr, ir.Expr]"
Pending: TypeAlias = "tuple[Element, ir.Expr | None, ir.Expr]"
"""What is still to be stored: the element, under which condition, the value."""


class SinkLowering:
    """Writes what sinks do at given elements of a sweep."""

    def __init__(self, frame: Frame, evaluator: Evaluator, mapping: Mapping, masks: Masks) -> None:
        self.frame = frame
        self.code = frame.code
        self.evaluator = evaluator
        self.mapping = mapping
        self.masks = masks
        self.reports = ReportLowering(frame, evaluator)
        self.screen = Screen(frame, evaluator, mapping)

    def emit(
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
                both([chunk[0].exists, self.masks.holds(set(mask), {**self.frame.index, **chunk[0].index})])
                for chunk in chunks
            ]
            if all(condition is None for condition in conditions):
                if len(groups) == 1 and not any(sink.kind == "reduce" for sink in group):
                    self._in_turn(group, elements)
                else:
                    pending += self._unmasked(group, states, elements)
            elif len(groups) == 1 and (size > 1 or not any(map(self._stores_granules, group))):
                self._masked_alone(group, states, chunks, conditions)
            else:
                pending += self._masked(group, states, chunks, conditions)
        order = {sink: number for number, sink in enumerate(sinks)}
        for sink, stores in sorted(pending, key=lambda each: order[each[0]]):
            self._store(sink, stores)

    def _unmasked(
        self, group: list[Sink], states: dict[tile.Value, State], elements: list[Element]
    ) -> list[tuple[Sink, list[Pending]]]:
        pending: list[tuple[Sink, list[Pending]]] = []
        reports = [sink for sink in group if sink.kind == "report"]
        self.reports.emit(reports, [{**self.frame.index, **element.index} for element in elements])
        for sink in group:
            if sink.kind == "report":
                continue
            if sink.kind == "reduce":
                self._update(states[sink.value], sink, elements)
            else:
                values = [self._at(sink.operand, sink, element) for element in elements]
                pending.append((sink, [(e, None, v) for e, v in zip(elements, values, strict=True)]))
        return pending

    def _in_turn(self, group: list[Sink], elements: list[Element]) -> None:
        """A granule is stored before the next is computed, so that few values live at once; but all loads come first,
        to be in flight together."""
        size = max(1, self.mapping.granule)
        if len(elements) > size:
            for sink in group:
                for element in elements:
                    self._load(sink, element)
        step = max(size, self.mapping.screened)
        for first in range(0, len(elements), step):
            self._screened(group, elements[first : first + step])

    def _screened(self, group: list[Sink], elements: list[Element]) -> None:
        """Stores of unmasked elements; apart for blocks of which no element is singled out, where the plan says so."""
        singles = self.screen.singles(group) if self.mapping.screened and len(elements[0].index) == 1 else []
        if not singles:
            self._granules(group, elements)
            return
        test = self.screen.meets(singles, elements)
        branches: list[tuple[ir.Statement, ...]] = []
        for assumed in ([], self.screen.assumptions(singles, elements)):
            with self.code.block() as body, self.evaluator.decisions.assuming(assumed):
                self._granules(group, elements)
            branches.append(tuple(body))
        self.code.emit(ir.If(test, branches[0], branches[1]))

    def _granules(self, group: list[Sink], elements: list[Element]) -> None:
        size = max(1, self.mapping.granule)
        for first in range(0, len(elements), size):
            for sink, stores in self._unmasked(group, {}, elements[first : first + size]):
                self._store(sink, stores)

    def _load(self, sink: Sink, element: Element, only_vectors: bool = False) -> None:
        """Reads what the sink needs at the element, whatever conditions hold: all of it, or what comes from memory in
        one vector with all the granule, of which any element may be missing."""
        index = {**self.frame.index, **element.index}
        stack = [(sink.operand, aligned(sink.operand, tuple(index[role] for role in sink.roles)))]
        seen: set[object] = set()
        while stack:
            value, own = stack.pop()
            if value in seen:
                continue
            seen.add(value)
            if isinstance(value, tile.Load):
                if not only_vectors or self._is_vector(value):
                    self.evaluator.at(value, own)
            else:
                stack.extend(self.evaluator.operands.children(value, own))

    def _is_vector(self, load: tile.Load) -> bool:
        """Whether a granule of what is loaded lies in one vector of memory."""
        size = 4 * self.frame.kernel.tensor(load.tensor).dtype.elements_per_word
        is_bound = load.tensor in self.frame.vectors and load not in self.frame.available
        return is_bound and size == self.mapping.granule

    def own_pick(
        self, sink: Sink, state: PickState, mask: set[Condition], part: Bounds | None, end_lanes: Bounds | None
    ) -> None:
        """The lane that the sweep gives the picked element to reads it, before it may overwrite it.

        `part`: the elements that are swept here; `end_lanes` take what lies before them, and behind.
        """
        pick, code = sink.pick, self.code
        with code.when(self.masks.holds(mask, self.frame.index)):
            indices = tuple(ZERO if role == "s0" else self.frame.index[role] for role in sink.roles)
            index = self.evaluator.at(pick.index, aligned(pick.index, indices))
            own = (*aligned(pick.operand, indices)[:-1], index)
            granule, lanes = self.mapping.granule, self.mapping.lanes
            place = subtract(index, part[0]) if end_lanes is not None and part is not None else index
            owner = remainder(divide(unsigned(place), const(granule, DType.U32)), const(lanes, DType.U32))
            if end_lanes is not None and part is not None:
                before, behind = map(unsigned, end_lanes)
                owner = ir.Select(compare("ge", index, part[1]), behind, owner)
                owner = ir.Select(compare("lt", index, part[0]), before, owner)
            mine = compare("eq", owner, unsigned(self.frame.lane)) if lanes > 1 else None
            if end_lanes is None and part is not None:
                first, end = part
                mine = both([compare("le", first, index), compare("lt", index, end), mine])
            with (
                code.when(code.let("exists", self.evaluator.picks(pick, index, own))),
                code.when(None if mine is None else code.let("is_mine", mine)),
            ):
                code.assign(state.value, self.evaluator.at(pick.operand, own))

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
                if any(sink.kind in ("reduce", "report") for sink in group):
                    for sink, stores in self._unmasked(group, states, chunk):
                        self._store(sink, stores)
                else:
                    self._screened(group, chunk)

    def _masked(
        self,
        group: list[Sink],
        states: dict[tile.Value, State],
        chunks: list[list[Element]],
        conditions: list[ir.Expr | None],
    ) -> list[tuple[Sink, list[Pending]]]:
        """As above, but what is stored is held until the other sinks have read what they need."""
        held: dict[Sink, list[Pending]] = {sink: [] for sink in group if sink.kind not in ("reduce", "report")}
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

    def emit_end(
        self,
        sinks: list[Sink],
        states: dict[tile.Value, State],
        elements: list[Element],
        masks: dict[Sink, set[Condition]],
    ) -> None:
        """The same for a granule of which only some elements exist, if any: they join states together, the others as
        what is neutral, or one by one."""
        any_exists: ir.Expr | None = None
        for element in elements:
            assert element.exists is not None
            either = element.exists if any_exists is None else ir.Op("or", (any_exists, element.exists), DType.BOOL)
            any_exists = either
        with self.code.when(any_exists):
            for sink in sinks:
                for element in elements if not masks[sink] else ():
                    self._load(sink, element, True)
            self._emit_end(sinks, states, elements, masks)

    def _emit_end(
        self,
        sinks: list[Sink],
        states: dict[tile.Value, State],
        elements: list[Element],
        masks: dict[Sink, set[Condition]],
    ) -> None:
        several = [s for s in sinks if s.kind != "reduce" or states[s.value].reductions[0] is s.value]
        held: dict[Sink, list[Pending]] = {}
        for element in elements:
            index = {**self.frame.index, **element.index}
            for mask in dict.fromkeys(frozenset(masks[sink]) for sink in several):
                group = [sink for sink in several if masks[sink] == mask]
                condition = both([element.exists, self.masks.holds(set(mask), index)])
                condition = None if condition is None else self.code.let("is_active", condition)
                self._hold(group, states, element, condition, held)
        for sink, pending in held.items():
            if sink.kind == "reduce":
                state = states[sink.value]
                state.update(self.code, [[value for _, _, value in pending]], [e.number for e, _, _ in pending])
        for sink in several:
            if sink.kind != "reduce":
                self._store(sink, held[sink], True)

    def _hold(
        self,
        group: list[Sink],
        states: dict[tile.Value, State],
        element: Element,
        condition: ir.Expr | None,
        held: dict[Sink, list[Pending]],
    ) -> None:
        """Evaluates sinks of one mask at an element; all but the states that take it at once are held."""
        locals_: dict[Sink, ir.Local] = {}
        for sink in group:
            neutral = zero_of(sink.operand.type.dtype)
            if sink.kind == "reduce":
                if states[sink.value].neutral is None:
                    continue
                neutral = states[sink.value].neutral or neutral
            locals_[sink] = self.code.declare("held", neutral)
            held.setdefault(sink, []).append((element, condition, locals_[sink]))
        with self.code.when(condition):
            for sink in group:
                if sink in locals_:
                    self.code.assign(locals_[sink], self._at(sink.operand, sink, element))
                else:
                    self._update(states[sink.value], sink, [element])

    def _at(self, value: tile.Value, sink: Sink, element: Element) -> ir.Expr:
        index = {**self.frame.index, **element.index}
        return self.evaluator.at(value, aligned(value, tuple(index[role] for role in sink.roles)))

    def _update(self, state: State, sink: Sink, elements: list[Element]) -> None:
        if state.reductions[0] is not sink.value:
            return
        values = [[self._at(each, sink, element) for element in elements] for each in state.inputs]
        positions = [self._reduced_position(sink, element) for element in elements]
        state.update(self.code, values, positions)

    def _reduced_position(self, sink: Sink, element: Element) -> ir.Expr:
        """The index that argmax gives: along the reduced axis, or in row-major order over several."""
        position: ir.Expr = ZERO
        for axis in sink.reduction.axes:
            role = sink.roles[axis]
            extent = self.evaluator.extent(sink.shape[axis])
            position = add(multiply(position, extent), ZERO if role == "." else element.index[role])
        return self.code.let("position", position)

    def _store(self, sink: Sink, stores: list[Pending], is_end: bool = False) -> None:
        if self._stores_granules(sink):
            granule = self.mapping.granule
            for first in range(0, len(stores), granule):
                self._store_granule(sink, stores[first : first + granule], is_end)
            return
        for element, condition, value in stores:
            with self.code.when(condition):
                self.write(sink, {**self.frame.index, **element.index}, value)

    def _stores_granules(self, sink: Sink) -> bool:
        return sink.granular or self._stores_vectors(sink)

    def _stores_vectors(self, sink: Sink) -> bool:
        return sink.kind == "store" and sink.store.tensor in self.frame.vectors

    def _store_granule(self, sink: Sink, stores: list[Pending], is_end: bool) -> None:
        store, is_vector = sink.store, self._stores_vectors(sink)
        coordinates = [self._coordinates(sink, element) for element, _, _ in stores]
        parts = [(condition, value) for _, condition, value in stores]
        parameter = self.frame.kernel.tensor(store.tensor)
        with self.code.when(self.evaluator.inside(store, coordinates[0], False)):
            if is_end and is_vector:
                store_end(self.frame, parameter, coordinates[0], parts, store.span)
            elif is_vector:
                with self.code.when(parts[0][0]):
                    store_vectors(self.frame, parameter, coordinates[0], [v for _, v in parts], store.span)
            else:
                store_granule(self.frame, parameter, coordinates, parts, store.span)

    def _coordinates(self, sink: Sink, element: Element) -> list[ir.Expr]:
        index = {**self.frame.index, **element.index}
        return self.evaluator.coordinates(sink.store, tuple(index[role] for role in sink.roles))

    def write(self, sink: Sink, index: dict[str, ir.Expr], value: ir.Expr) -> None:
        """One element of a store, or of a slot."""
        indices = tuple(index[role] for role in sink.roles)
        if sink.kind == "store":
            store = sink.store
            coordinates = self.evaluator.coordinates(store, indices)
            with self.code.when(self.evaluator.inside(store, coordinates, False)):
                parameter = self.frame.kernel.tensor(store.tensor)
                write_element(self.frame, parameter, coordinates, value, store.span)
        else:
            write_slot(self.frame, sink.target, indices, value, sink.value.span)
