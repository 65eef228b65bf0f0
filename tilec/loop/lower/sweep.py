"""One round: its sweep over the swept axes, the combine, the narrow sinks."""

from __future__ import annotations

from tilec.loop import ir
from tilec.loop.lower.arith import add, both, compare, const, divide, multiply, subtract
from tilec.loop.lower.code import ZERO
from tilec.loop.lower.combine import EvaluateFor, combine
from tilec.loop.lower.decisions import aligned
from tilec.loop.lower.elements import Elements
from tilec.loop.lower.evaluate import Evaluator
from tilec.loop.lower.frame import Frame
from tilec.loop.lower.masks import Condition, Masks
from tilec.loop.lower.moments import make_states
from tilec.loop.lower.needed import NeededRows
from tilec.loop.lower.resident import Resident
from tilec.loop.lower.sinks import SinkLowering
from tilec.loop.lower.states import PickState, State
from tilec.plan.ir import Mapping, Phase, Round, Sink
from tilec.tile import ir as tile
from tilec.tile.walk import scalar_of
from tilec.types import DType, Extent, Opaque, apply, element_count

_ROUNDS_A_BLOCK = 16
_MOST_LEVELS = 4


class RoundLowering:
    """Writes the code of one round of a phase's job."""

    def __init__(self, frame: Frame, phase: Phase, evaluator: Evaluator) -> None:
        self.frame = frame
        self.code = frame.code
        self.phase = phase
        self.mapping: Mapping = phase.mapping
        self.evaluator = evaluator
        self.masks = Masks(frame, evaluator)
        self.rows = NeededRows(frame, evaluator)
        self.elements = Elements(frame, evaluator, self.mapping)
        self.sinks = SinkLowering(frame, evaluator, self.mapping, self.masks)
        self.part: tuple[ir.Expr, ir.Expr] | None = None
        """The elements from .. to that a workgroup of a split sweep takes, or that are whole granules; None for all."""

    def lower(self, item: Round) -> None:
        if item.fence:
            self.code.emit(ir.Barrier(True))
            self.frame.shared_is_read = False
        if self.phase.rows is not None:
            self.part = self.elements.part = self.elements.whole_granules(self.phase.rows)
        if self.mapping.resident:
            rounds = [each for each in self.phase.items if isinstance(each, Round)]
            Resident(self.frame, self.evaluator, self.masks, self.rows, self.elements).preload(rounds, item)
        states = self.sweep(item) if item.wide else []
        if states:
            combine(self.frame, states, self.mapping, self.evaluate_for(item))
        if item.narrow:
            self.narrow(item.narrow)
        self.publish(item.wide)

    def publish(self, sinks: list[Sink]) -> None:
        """From now on what the sinks have published is read from its slots."""
        for sink in sinks:
            if sink.kind == "publish":
                self.frame.available.add(sink.value)

    def evaluate_for(self, item: Round) -> EvaluateFor:
        """Gives values at the job's own position for states of the round."""
        roles = {sink.value: sink.roles for sink in item.wide}

        def evaluate(state: State, value: tile.Value) -> ir.Expr:
            own = roles[state.reductions[0]]
            indices = tuple(ZERO if role.startswith("s") else self.frame.index[role] for role in own)
            return self.evaluator.at(value, aligned(value, indices))

        return evaluate

    # --- the sweep -------------------------------------------------------------------------------------------

    def sweep(self, item: Round) -> list[State]:
        """The sweep itself; gives the lane's states, to be combined."""
        frame, code = self.frame, self.code
        sinks = item.wide
        ordered = make_states(item, frame.plan.trusts_exp)
        states: dict[tile.Value, State] = {one: state for state in ordered for one in state.reductions}
        picked = {state.pick: state for state in ordered if isinstance(state, PickState)}
        levels = self._levels(item)
        for state in ordered:
            state.declare(code, levels)
        masks = {sink: self.masks.conditions(sink) for sink in sinks}
        common = {c for c in set.intersection(*masks.values()) if not c[1].startswith("s")}
        alive = both([frame.valid, self.masks.holds(common, frame.index)])
        with code.when(alive):
            for sink in item.picks:
                with self.rows.where_needed(self.rows.needs_of(sink, common)):
                    mask = masks[sink] - common
                    lanes = None if self.phase.rows is None else self.elements.end_lanes(self.phase.rows)
                    self.sinks.own_pick(sink, picked[sink.pick], mask, self.part, lanes)
            rest = [sink for sink in sinks if sink.kind != "pick"]
            if rest:
                self._by_needs(item, rest, states, masks, common)
        return ordered

    def _by_needs(
        self,
        item: Round,
        sinks: list[Sink],
        states: dict[tile.Value, State],
        masks: dict[Sink, set[Condition]],
        common: set[Condition],
    ) -> None:
        """The elements, without the reductions whose results the row does not need."""
        needs = {sink: self.rows.needs_of(sink, common) for sink in sinks if sink.needs}
        always = {states[sink.value] for sink in sinks if sink.kind == "reduce" and sink not in needs}
        needs = {sink: each for sink, each in needs.items() if states[sink.value] not in always}
        first = next(iter(needs.values()), [])
        shared = [need for need in first if all(need in each for each in needs.values())]
        inner = {sink: masks[sink] - common for sink in sinks}
        if not shared:
            self._by_row(item, sinks, states, inner, masks, common)
            return
        others = [sink for sink in sinks if sink not in needs]
        test = self.rows.all_hold(shared)
        assert test is not None
        branches: list[tuple[ir.Statement, ...]] = []
        opposite = [(value, indices, not is_true) for value, indices, is_true in shared] if len(shared) == 1 else []
        for assumed, several in ((shared, sinks), (opposite, others)):
            with self.code.block() as body, self.evaluator.decisions.assuming(assumed):
                if several:
                    self._by_row(item, several, states, inner, masks, common)
            branches.append(tuple(body))
        self.code.emit(ir.If(test, branches[0], branches[1]))

    def _by_row(
        self,
        item: Round,
        sinks: list[Sink],
        states: dict[tile.Value, State],
        inner: dict[Sink, set[Condition]],
        masks: dict[Sink, set[Condition]],
        common: set[Condition],
    ) -> None:
        """The elements, in two loops where a condition of the row decides what is read."""
        found = None
        marker = {f"s{number}": ir.Local("s", DType.I32) for number in range(len(item.swept))}
        swept = frozenset(local.number for local in marker.values())
        index = {**self.frame.index, **marker}
        for sink in sinks:
            if found is None and all(role.startswith("s") for _, role in inner[sink]):
                for root in _roots(sink, states):
                    own = aligned(root, tuple(index[role] for role in sink.roles))
                    found = found or self.evaluator.operands.row_condition(root, own, swept)
        if found is None:
            self._hoist(sinks, states, masks, common)
            self._elements(item, sinks, states, inner)
            return
        test = self.evaluator.at(*found)
        branches: list[tuple[ir.Statement, ...]] = []
        for is_true in (True, False):
            with self.code.block() as body, self.evaluator.decisions.assuming([(*found, is_true)]):
                self._hoist(sinks, states, masks, common)
                self._elements(item, sinks, states, inner)
            branches.append(tuple(body))
        self.code.emit(ir.If(test, branches[0], branches[1]))

    def _hoist(
        self,
        sinks: list[Sink],
        states: dict[tile.Value, State],
        masks: dict[Sink, set[Condition]],
        common: set[Condition],
    ) -> None:
        """Computes before the loops what does not change in them."""
        marker = {role: ir.Local(role, DType.I32) for role in ("s0", "s1", "s2", "s3")}
        swept = {local.number for local in marker.values()}
        index = {**self.frame.index, **marker}
        for sink in sinks:
            if any(not role.startswith("s") for _, role in masks[sink] - common):
                continue
            place = tuple(index[role] for role in sink.roles)
            stack = [(root, aligned(root, place)) for root in _roots(sink, states)]
            if sink.kind == "store":
                stack += [(scalar_of(i), ()) for i in sink.store.indices]
            seen: set[tile.Value] = set()
            while stack:
                value, own = stack.pop()
                if value in seen:
                    continue
                seen.add(value)
                if any(isinstance(i, ir.Local) and i.number in swept for i in own):
                    stack.extend(self.evaluator.operands.possible(value, own))
                elif not isinstance(value, (tile.Const, tile.Scalar, tile.Dim)):
                    self.evaluator.at(value, own)

    def _elements(
        self, item: Round, sinks: list[Sink], states: dict[tile.Value, State], masks: dict[Sink, set[Condition]]
    ) -> None:
        total = element_count(item.swept)
        keeps = self.mapping.resident and item.swept  # a reduction over axes of extent 1 sweeps nothing
        if self.phase.rows is not None:  # first, so that their loads are under way together with others
            self._ends(item, total, sinks, states, masks)
        if keeps and not item.is_backwards:
            self._resident(item, sinks, states, masks)
        if not keeps or self.mapping.streams_rest:
            self._streamed(item, total, sinks, states, masks)
        if keeps and item.is_backwards:
            self._resident(item, sinks, states, masks)

    def _resident(
        self, item: Round, sinks: list[Sink], states: dict[tile.Value, State], masks: dict[Sink, set[Condition]]
    ) -> None:
        """What stays in registers; packed values a few granules at a time, so that few are unpacked at once."""
        elements, mapping = self.elements.resident(item), self.mapping
        size = mapping.granule * mapping.unroll if mapping.granule > 4 else len(elements)
        for first in range(0, len(elements), size):
            self.sinks.emit(sinks, states, elements[first : first + size], masks)

    def _ends(
        self,
        item: Round,
        total: Extent,
        sinks: list[Sink],
        states: dict[tile.Value, State],
        masks: dict[Sink, set[Condition]],
    ) -> None:
        """What a row has before and behind its whole granules: one lane takes each end."""
        code = self.code
        assert self.part is not None
        assert self.phase.rows is not None
        first, end = self.part
        first_lane, _ = self.elements.end_lanes(self.phase.rows)
        number = ir.Local("end", DType.I32)
        with code.block() as body:
            before = subtract(first, const(self.mapping.granule))
            start = code.let("c", ir.Select(compare("eq", number, first_lane), before, end))
            self.sinks.emit_end(sinks, states, self.elements.end(item, start, total), masks)
        code.emit(ir.Loop(number, self.frame.lane, const(2), const(self.mapping.lanes), tuple(body)))

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
        is_kept = self.mapping.streams_rest and (self.part is None or self.phase.rows is not None)
        kept = self.mapping.width if is_kept else 0
        first, end = self.part or (ZERO, self.evaluator.extent(total))
        first, rest = add(first, const(kept)), total - kept
        if self.part is None:
            rounds = self.evaluator.extent(apply("div", rest, Extent.of(chunk)))
        else:
            rounds = divide(subtract(end, first), const(chunk))
        has_rounds = self.part is not None or rest.constant is None or rest.constant >= chunk
        has_tail = self.part is not None or rest.constant is None or rest.constant % chunk != 0
        done = first
        if has_rounds:
            rounds = code.let("rounds", rounds)
            done = code.let("done", add(first, multiply(rounds, const(chunk))))
        if has_tail and item.is_backwards:
            self._tail(item, total, end, add(done, offset), sinks, states, masks)
        if has_rounds:
            number = ir.Local("round", DType.I32)
            place = subtract(subtract(rounds, const(1)), number) if item.is_backwards else number
            with code.block() as body:
                start = code.let("start", add(add(first, multiply(place, const(chunk))), offset))
                granules = [self.elements.granule(item, start, u * stride, None) for u in range(mapping.unroll)]
                elements = [element for granule in granules for element in granule]
                self.sinks.emit(sinks, states, elements, masks)
                self._settle(item, sinks, states, number)
            code.emit(ir.Loop(number, ZERO, rounds, const(1), tuple(body)))
        if has_tail and not item.is_backwards:
            self._tail(item, total, end, add(done, offset), sinks, states, masks)

    def _tail(
        self,
        item: Round,
        total: Extent,
        extent: ir.Expr,
        start: ir.Expr,
        sinks: list[Sink],
        states: dict[tile.Value, State],
        masks: dict[Sink, set[Condition]],
    ) -> None:
        """What is left, a granule at a time."""
        code, mapping = self.code, self.mapping
        position = ir.Local("c", DType.I32)
        with code.block() as body:
            elements = self.elements.granule(item, position, 0, None if mapping.is_whole else total)
            self.sinks.emit(sinks, states, elements, masks)
        stride = const(mapping.lanes * mapping.granule)
        code.emit(ir.Loop(position, code.let("first", start), extent, stride, tuple(body)))

    def _levels(self, item: Round) -> int:
        """How many levels of sums above the running one keep each of them to about 16 terms."""
        if self.mapping.resident and not self.mapping.streams_rest:
            return 0
        total = element_count(item.swept).constant
        longest = self.mapping.longest if total is None else min(total, self.mapping.longest)
        rounds = longest // (self.mapping.lanes * self.mapping.granule * self.mapping.unroll)
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

    # --- narrow work -----------------------------------------------------------------------------------------

    def _first_job(self) -> ir.Expr | None:
        return both(
            [
                compare("eq", self.frame.index[f"k{number}"], ZERO)
                for number, extent in enumerate(self.phase.kept)
                if not extent.is_one
            ]
        )

    def narrow(self, sinks: list[Sink]) -> None:
        """What the first lane of the job does once."""
        first = compare("eq", self.frame.lane, ZERO) if self.mapping.lanes > 1 else None
        groups: list[tuple[tuple[set[Condition], bool], list[Sink]]] = []
        for sink in sinks:
            mask = (self.masks.conditions(sink), sink.is_once)
            if groups and groups[-1][0] == mask:
                groups[-1][1].append(sink)
            else:
                groups.append((mask, [sink]))
        for (mask, is_once), group in groups:
            first_job = self._first_job() if is_once else None
            if any(map(_is_read, mask)):
                # What the first lane alone reads, another round may overwrite without a barrier: the plan says so.
                alone = both([first, self.frame.valid, first_job])
                with self.code.when(alone), self.code.when(self.masks.holds(mask, self.frame.index)):
                    self._narrow_sinks(group)
                continue
            condition = both([first, self.frame.valid, first_job, self.masks.holds(mask, self.frame.index)])
            with self.code.when(condition):
                self._narrow_sinks(group)

    def _narrow_sinks(self, group: list[Sink]) -> None:
        reports: list[Sink] = []
        for sink in group:
            if sink.kind == "report":
                reports.append(sink)
                continue
            self.sinks.reports.emit(reports, [self.frame.index])
            reports = []
            indices = tuple(self.frame.index[role] for role in sink.roles)
            value = self.evaluator.at(sink.operand, aligned(sink.operand, indices))
            self.sinks.write(sink, self.frame.index, value)
            self.publish([sink])
        self.sinks.reports.emit(reports, [self.frame.index])


def _is_read(condition: Condition) -> bool:
    """Whether a bound is made of values that memory may be read for."""
    bound, _ = condition
    return any(isinstance(atom, Opaque) for extent in (bound.start, bound.limit) for atom in extent.atoms)


def _roots(sink: Sink, states: dict[tile.Value, State]) -> list[tile.Value]:
    """What a sweep evaluates at each element for the sink."""
    return states[sink.value].inputs if sink.kind == "reduce" else [sink.operand]
