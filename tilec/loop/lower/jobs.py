"""Phases: the loop over jobs, and the control flow around and inside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tilec.loop import ir
from tilec.loop.lower.arith import add, both, compare, const, divide, multiply, remainder, signed, subtract, unsigned
from tilec.loop.lower.code import WORKGROUP, ZERO
from tilec.loop.lower.combine import may_alternate
from tilec.loop.lower.decisions import aligned
from tilec.loop.lower.evaluate import Evaluator, zero_of
from tilec.loop.lower.frame import Frame, store_shared, thread_number
from tilec.loop.lower.sweep import RoundLowering
from tilec.plan.ir import ForItem, IfItem, Item, Phase, Round, Slot, WhileItem
from tilec.plan.schedule import phase_rounds
from tilec.tile import ir as tile
from tilec.types import DType, Extent, apply, element_count


class ItemLowering:
    """Writes items one after the other: phases with barriers between them, or a job's rounds; and control flow."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.code = frame.code
        self.evaluator = Evaluator(frame)
        self.phase: Phase | None = None

    def lower(self, items: list[Item]) -> None:
        for item in items:
            match item:
                case Round():
                    assert self.phase is not None
                    RoundLowering(self.frame, self.phase, self.evaluator).lower(item)
                case Phase():
                    self.in_block(item)
                    self.code.emit(ir.Barrier(True))
                    self.frame.shared_is_read = False
                case IfItem():
                    self._if(item)
                case ForItem():
                    self._for(item)
                case WhileItem():
                    self._while(item)

    # --- phases ----------------------------------------------------------------------------------------------

    def lanes(self, phase: Phase) -> None:
        """Which lane of which job at once the thread is."""
        frame, mapping = self.frame, phase.mapping
        thread = thread_number()
        if mapping.jobs == 1:
            frame.lane, frame.slot = self.code.let("lane", thread), ZERO
        elif mapping.lanes == 1:
            frame.lane, frame.slot = ZERO, self.code.let("slot", thread)
        elif mapping.jobs_fastest:
            frame.lane = self.code.let("lane", divide(thread, const(mapping.jobs)))
            frame.slot = self.code.let("slot", remainder(thread, const(mapping.jobs)))
        else:
            frame.slot = self.code.let("slot", divide(thread, const(mapping.lanes)))
            frame.lane = self.code.let("lane", remainder(thread, const(mapping.lanes)))

    def _job(self, phase: Phase, job: ir.Expr, valid: ir.Expr | None) -> None:
        with self.job(phase, job, valid):
            self._predeclare([item for item in phase.items if isinstance(item, (IfItem, ForItem, WhileItem))])
            self.lower(phase.items)

    @contextmanager
    def job(self, phase: Phase, job: ir.Expr, valid: ir.Expr | None) -> Iterator[None]:
        """The body of one job with number `job` among the block's."""
        frame, code = self.frame, self.code
        saved, registers = dict(frame.index), dict(frame.registers)
        frame.valid = valid
        rest = job
        for axis in range(len(phase.kept) - 1, -1, -1):
            extent = self.evaluator.extent(phase.kept[axis])
            if axis == 0:
                frame.index["k0"] = code.let("row", rest)
            else:
                frame.index[f"k{axis}"] = code.let("row", remainder(rest, extent))
                rest = code.let("rest", divide(rest, extent))
        outer, self.phase = self.phase, phase
        yield
        self.phase, frame.index, frame.registers, frame.valid = outer, saved, registers, None

    def _predeclare(self, items: list[Item]) -> None:
        """Registers that are made inside control flow and may be read behind it."""
        for item in phase_rounds(items):
            for sink in item.wide:
                if sink.kind in ("reduce", "pick"):
                    hint = sink.value.name or getattr(sink.value, "op", "picked")
                    local = self.code.declare(hint, zero_of(sink.value.type.dtype))
                    self.frame.predeclared[sink.value] = local

    def in_block(self, phase: Phase) -> None:
        """All jobs of the block, by one workgroup."""
        frame, code = self.frame, self.code
        with code.block(is_open=True) as body:
            self.lanes(phase)
            count = element_count(phase.kept)
            at_once = phase.mapping.jobs
            extent = self.evaluator.extent(count)
            if count.constant is not None and count.constant <= at_once:
                job = frame.slot
                valid = None if count.constant == at_once else code.let("valid", compare("lt", job, extent))
                self._job(phase, job, valid)
            else:
                turn = ir.Local("turn", DType.I32)
                code.mark_uniform(turn)
                turns = self.uniform(code.let("turns", divide(add(extent, const(at_once - 1)), const(at_once))))
                frame.shared_is_read = True
                with code.block() as inner:
                    job = code.let("job", add(multiply(turn, const(at_once)), frame.slot))
                    valid = code.let("valid", compare("lt", job, extent)) if at_once > 1 else None
                    self._job(phase, job, valid)
                code.emit(ir.Loop(turn, ZERO, turns, const(1), tuple(inner)))
        code.splice(body)

    def spread(self, phase: Phase, merges_blocks: bool) -> Extent:
        """The jobs of all blocks over workgroups; gives the number of workgroups."""
        frame, code = self.frame, self.code
        blocks = element_count(frame.kernel.grid)
        kept = element_count(phase.kept)
        at_once = phase.mapping.jobs
        self.lanes(phase)
        workgroup = signed(WORKGROUP)
        if merges_blocks and phase.mapping.turns > 1:
            return self._jobs_in_turn(phase, workgroup, phase.mapping.turns)
        if merges_blocks:
            _, job, valid = self.numbered(phase, workgroup)
            self._job(phase, job, valid)
            return ceildiv(self.all_jobs(phase), at_once)
        groups = ceildiv(kept, at_once)
        extent = frame.bindings.extent(groups)
        frame.set_block(divide(workgroup, extent) if not blocks.is_one else ZERO)
        turn = code.let("turn", remainder(workgroup, extent)) if not blocks.is_one else workgroup
        job = code.let("job", add(multiply(turn, const(at_once)), frame.slot))
        valid = code.let("valid", compare("lt", job, frame.bindings.extent(kept))) if at_once > 1 else None
        self._job(phase, job, valid)
        return blocks * groups

    def _jobs_in_turn(self, phase: Phase, workgroup: ir.Expr, turns: int) -> Extent:
        """Neighbouring jobs by the same lanes, one after the other."""
        code, at_once = self.code, phase.mapping.jobs
        turn = ir.Local("turn", DType.I32)
        code.mark_uniform(turn)
        self.frame.shared_is_read = True
        self.frame.turn = turn if may_alternate(self.frame, phase) else None
        with code.block() as body:
            first = multiply(add(multiply(workgroup, const(at_once)), self.frame.slot), const(turns))
            _, job, valid = self._at_number(phase, add(first, turn), True)
            self._job(phase, job, valid)
        code.emit(ir.Loop(turn, ZERO, const(turns), const(1), tuple(body)))
        self.frame.turn = None
        return ceildiv(self.all_jobs(phase), at_once * turns)

    def all_jobs(self, phase: Phase) -> Extent:
        """How many jobs all blocks have."""
        return element_count(self.frame.kernel.grid) * element_count(phase.kept)

    def numbered(self, phase: Phase, group: ir.Expr) -> tuple[ir.Expr, ir.Expr, ir.Expr | None]:
        """The thread's job in this group of those that run at once: its number among those of all blocks and of its
        own, which becomes the one at hand, and whether there is such a job."""
        at_once = phase.mapping.jobs
        return self._at_number(phase, add(multiply(group, const(at_once)), self.frame.slot), at_once > 1)

    def _at_number(self, phase: Phase, number: ir.Expr, may_miss: bool) -> tuple[ir.Expr, ir.Expr, ir.Expr | None]:
        frame, code = self.frame, self.code
        blocks = element_count(frame.kernel.grid)
        number = code.let("job", number)
        total = frame.bindings.extent(self.all_jobs(phase))
        valid = code.let("valid", compare("lt", number, total)) if may_miss else None
        extent = frame.bindings.extent(element_count(phase.kept))
        frame.set_block(divide(number, extent) if not blocks.is_one else ZERO)
        job = code.let("job", remainder(number, extent)) if not blocks.is_one else number
        return number, job, valid

    # --- control flow ----------------------------------------------------------------------------------------

    def _fence(self, item: IfItem | ForItem | WhileItem) -> None:
        if item.fence:
            self.code.emit(ir.Barrier(True))
            self.frame.shared_is_read = False

    def uniform(self, value: ir.Expr) -> ir.Expr:
        """The value in a form that a shader compiler knows to be the same for the whole workgroup."""
        if self.code.is_uniform(value):
            return value
        array = self.frame.shared_array(("uniform", value.dtype), f"uniform_{value.dtype}", value.dtype, 1)
        with self.code.when(compare("eq", thread_number(), ZERO)):
            store_shared(self.frame, array, const(0), value)
        shared = self.code.let("uniform", ir.UniformLoad(array))
        if value.dtype is not DType.BOOL:
            return shared
        return self.code.let("test", compare("ne", shared, const(0, DType.U32)))

    def _if(self, item: IfItem) -> None:
        self._fence(item)
        test = self.uniform(self.evaluator.at(item.node.condition, ()))
        self._declare_carried([*item.then, *item.otherwise])
        branches = []
        for items, is_true in ((item.then, True), (item.otherwise, False)):
            self.frame.shared_is_read = True
            with self.code.block() as body, self.evaluator.decisions.assuming([(item.node.condition, (), is_true)]):
                self.lower(items)
            branches.append(tuple(body))
        self.frame.shared_is_read = True
        self.code.emit(ir.If(test, branches[0], branches[1]))

    def _declare_carried(self, items: list[Item]) -> None:
        """Registers of loops in a branch, which may be read behind the branch."""
        for item in items:
            if isinstance(item, IfItem):
                self._declare_carried([*item.then, *item.otherwise])
            if not isinstance(item, ForItem | WhileItem):
                continue
            for number, (argument, slot) in enumerate(zip(item.node.carried, item.carried, strict=True)):
                if slot is None and (item.node, number) not in self.frame.results:
                    hint = argument.name or "carried"
                    local = self.code.declare(hint, zero_of(argument.type.dtype))
                    self.frame.results[item.node, number] = local

    @contextmanager
    def _active(self, value: tile.Value) -> Iterator[tuple[ir.Expr, ...]]:
        """A block for a register's value: only where the job and the value's lanes are active. A scalar always is."""
        indices = self._narrow_indices(value)
        valid = self.frame.valid if value.type.rank else None
        alive = both([valid, self.evaluator.active(value.type, indices)])
        with self.code.when(alive):
            yield indices

    def _narrow_indices(self, value: tile.Value) -> tuple[ir.Expr, ...]:
        """The job's own position of a narrow value: kept axes in order, 0 on axes of extent 1."""
        number = 0
        indices: list[ir.Expr] = []
        for extent in value.type.shape:
            if extent.is_one:
                indices.append(ZERO)
            else:
                indices.append(self.frame.index[f"k{number}"])
                number += 1
        return tuple(indices)

    def _carry(self, node: tile.For | tile.While, slots: tuple[Slot | None, ...]) -> dict[int, ir.Local]:
        """Declares the registers of carried values and gives what is carried in slots its name."""
        frame, code = self.frame, self.code
        registers: dict[int, ir.Local] = {}
        for number, (argument, initial) in enumerate(zip(node.carried, node.initial, strict=True)):
            if slots[number] is not None:
                frame.available.add(argument)
                continue
            local = frame.results.get((node, number))
            if local is None:
                local = code.declare(argument.name or "carried", zero_of(argument.type.dtype))
            with self._active(argument) as indices:
                code.assign(local, self.evaluator.at(initial, aligned(initial, indices)))
            registers[number] = local
        for number, local in registers.items():
            frame.registers[node.carried[number]] = local
        return registers

    def _next(self, node: tile.For | tile.While, registers: dict[int, ir.Local], until: int | None = None) -> None:
        """At the end of a round: the yielded values, all computed before any is assigned; number `until` ends the
        loop."""
        code = self.code
        new: list[tuple[ir.Local, ir.Expr]] = []
        for number, local in registers.items():
            value = node.body.yields[number]
            if value is node.carried[number]:
                continue
            argument = node.carried[number]
            if number == until:
                new.append((local, self.uniform(self.evaluator.scalar(value))))
                continue
            held = code.declare("next", local)
            with self._active(argument) as indices:
                code.assign(held, self.evaluator.at(value, aligned(value, indices)))
            new.append((local, held))
        for local, held in new:
            code.assign(local, held)

    def _results(self, node: tile.For | tile.While, registers: dict[int, ir.Local]) -> None:
        for value in self.frame.plan.homes:
            if isinstance(value, tile.Result) and value.producer is node:
                self.frame.available.add(value)
        for number, local in registers.items():
            self.frame.results[node, number] = local

    def _for(self, item: ForItem) -> None:
        node, code, frame = item.node, self.code, self.frame
        self._fence(item)
        start = self.uniform(self.evaluator.at(node.start, ()))
        stop = self.uniform(self.evaluator.at(node.stop, ()))
        registers = self._carry(node, item.carried)
        until = registers[node.until] if node.until is not None else None
        distance = code.let("distance", subtract(unsigned(stop), unsigned(start)))
        step = const(node.step, DType.U32)
        rounds = add(divide(subtract(distance, const(1, DType.U32)), step), const(1, DType.U32))
        count = code.let("count", ir.Select(compare("lt", start, stop), rounds, const(0, DType.U32)))
        number = ir.Local("turn", DType.U32)
        code.mark_uniform(number)
        frame.shared_is_read = True
        saved = dict(frame.registers)
        with code.block() as body:
            name = node.index.name.partition(".")[0]  # behind the point stands a number of this process
            index = code.let(name or "i", add(start, multiply(signed(number), const(node.step))))
            frame.registers[node.index] = index
            frame.loops[node.index.name] = index
            self.lower(item.body)
            self._next(node, registers, node.until)
            if item.fences_rounds or self.phase is None:
                code.emit(ir.Barrier(True))
        frame.registers = saved
        frame.shared_is_read = True
        code.emit(ir.Loop(number, const(0, DType.U32), count, const(1, DType.U32), tuple(body), until))
        self._results(node, registers)

    def _while(self, item: WhileItem) -> None:
        node, code, frame = item.node, self.code, self.frame
        self._fence(item)
        registers = self._carry(node, item.carried)
        frame.shared_is_read = True
        saved = dict(frame.registers)
        with code.block() as prelude:
            self.lower(item.condition)
            test = self.uniform(self.evaluator.at(node.condition.yields[0], ()))
        with code.block() as body:
            self.lower(item.body)
            self._next(node, registers)
            if item.fences_rounds or self.phase is None:
                code.emit(ir.Barrier(True))
        frame.registers = saved
        frame.shared_is_read = True
        code.emit(ir.While(tuple(prelude), test, tuple(body), node.bound))
        self._results(node, registers)


def ceildiv(extent: Extent, divisor: int) -> Extent:
    return apply("ceildiv", extent, Extent.of(divisor))
