"""A step of a phase whose jobs are each shared by several workgroups."""

from __future__ import annotations

from tilec.loop import ir
from tilec.loop.lower.arith import add, compare, const, divide, multiply, remainder, signed, unsigned
from tilec.loop.lower.code import WORKGROUP, ZERO
from tilec.loop.lower.combine import combined, over_lanes, settle_components
from tilec.loop.lower.jobs import ItemLowering, ceildiv
from tilec.loop.lower.memory import read_slot, write_slot
from tilec.loop.lower.moments import make_states
from tilec.loop.lower.sweep import RoundLowering
from tilec.plan.ir import Dispatch, Round, Slot
from tilec.types import DType, Extent, apply, element_count

_U32 = DType.U32


def lower_step(lowering: ItemLowering, dispatch: Dispatch) -> Extent:
    """The code of a "split" or "finish"; gives the number of workgroups."""
    return _Step(lowering, dispatch).lower()


class _Step:
    def __init__(self, lowering: ItemLowering, dispatch: Dispatch) -> None:
        self.lowering = lowering
        self.frame, self.code, self.evaluator = lowering.frame, lowering.code, lowering.evaluator
        self.dispatch, self.phase = dispatch, dispatch.phase
        self.parts = self.frame.bindings.extent(dispatch.parts)

    def lower(self) -> Extent:
        lowering, code, phase = self.lowering, self.code, self.phase
        lowering.lanes(phase)
        workgroup = signed(WORKGROUP)
        is_shared = not self.dispatch.parts.is_one
        part = code.let("part", remainder(workgroup, self.parts)) if is_shared else ZERO
        group = code.let("group", divide(workgroup, self.parts)) if is_shared else workgroup
        number, job, valid = lowering.numbered(phase, group)
        with lowering.job(phase, job, valid):
            rounds = RoundLowering(self.frame, phase, self.evaluator)
            for item, slots in self.dispatch.combined:
                self._combine(rounds, item, slots, number)
            if self.dispatch.narrow:
                with code.when(compare("eq", part, ZERO) if is_shared else None):
                    for item in self.dispatch.narrow:
                        rounds.narrow(item.narrow)
            if self.dispatch.sweep is not None:
                self._sweep(rounds, self.dispatch.sweep, number, part)
        return ceildiv(lowering.all_jobs(phase), phase.mapping.jobs) * self.dispatch.parts

    def _combine(self, rounds: RoundLowering, item: Round, slots: tuple[Slot, ...], number: ir.Expr) -> None:
        """Makes every lane of the job hold the results of a round from the states of its parts."""
        code, frame, mapping = self.code, self.frame, self.phase.mapping
        states = make_states(item, frame.plan.trusts_exp)
        held: list[list[ir.Local]] = []
        for state in states:
            state.declare(code, 0)
            held.append([code.declare("held", component) for component in state.components(code)])
        place = ir.Local("part", DType.I32)
        with code.block() as body:
            rest = iter(slots)
            for state, parts in zip(states, held, strict=True):
                loaded = [
                    code.let("loaded", read_slot(frame, next(rest), (number, place)))
                    for _ in parts
                ]
                for local, value in zip(parts, state.fold(code, [list(parts), loaded]), strict=True):
                    code.assign(local, value)
        count = frame.bindings.extent(slots[0].shape[1])
        with code.when(frame.valid):
            code.emit(ir.Loop(place, frame.lane, count, const(mapping.lanes), tuple(body)))
        components = over_lanes(frame, states, held, mapping)
        settle_components(frame, states, components, rounds.evaluate_for(item))

    def _sweep(self, rounds: RoundLowering, item: Round, number: ir.Expr, part: ir.Expr) -> None:
        """A part of a sweep; the job's first lane leaves the combined states among the partial results."""
        code, frame, mapping = self.code, self.frame, self.phase.mapping
        chunk = Extent.of(mapping.lanes * mapping.granule * mapping.unroll)
        total = element_count(item.swept)
        share = apply("ceildiv", apply("ceildiv", total, self.dispatch.parts), chunk) * chunk
        if not self.dispatch.parts.is_one:
            rounds.part = self._bounds(frame.bindings.extent(total, _U32), frame.bindings.extent(share, _U32), part)
        states = rounds.sweep(item)
        rounds.publish(item.wide)
        if not states:
            return
        components = [each for parts in combined(frame, states, mapping) for each in parts]
        with code.when(compare("eq", frame.lane, ZERO)), code.when(frame.valid):
            span = item.wide[0].value.span
            for slot, value in zip(self.dispatch.partials, components, strict=True):
                write_slot(frame, slot, (number, part), value, span)

    def _bounds(self, total: ir.Expr, share: ir.Expr, part: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
        """The first element of a part and the one behind its last; without a sign, since the last parts may lie
        beyond 2^31."""
        let = self.code.let

        def below(value: ir.Expr) -> ir.Expr:
            return let("bound", ir.Op("min", (value, total), _U32))

        first = below(multiply(unsigned(part), share))
        end = below(add(first, share))
        return let("first", signed(first)), let("end", signed(end))
