"""From a plan and sizes to its costs: what each sweep's streams move, what is in the cache or in registers already, and
how long a device takes for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tilec.plan.cost import DispatchCost, Lowered, PlanCost, RoundCost, Stream, UnknownSize
from tilec.plan.ir import Dispatch, ForItem, IfItem, Item, Phase, Plan, Round, Sink, Slot, WhileItem
from tilec.plan.print import PlanNames
from tilec.plan.profile import Profile
from tilec.plan.schedule import phase_rounds
from tilec.plan.walk import Access, Walker
from tilec.plan.work import Work, work_of
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.types import Apply, Extent, Symbol

_CACHE_SHARE = 0.75
"""How much of the cache a stream can count on."""
_DEFAULT_CACHE = 4 << 20
_CACHE_SPEED = 2.0
"""How many times as fast the cache gives bytes as memory."""
_BASE_REGISTERS = 24
"""Addresses, indices, loop counters, sizes."""


def estimate(
    kernel: tile.Kernel,
    plan: Plan,
    dims: Mapping[str, int],
    profile: Profile | None = None,
    lowered: Sequence[Lowered] = (),
    trusted: Sequence[str] = (),
) -> PlanCost:
    """The costs of a launch with these sizes. `lowered` is one entry a dispatch, or nothing; `trusted` the built-ins
    that the code relies on. Raises UnknownSize."""
    missing = [name for name in kernel.dims if name not in dims]
    if missing:
        raise UnknownSize(missing[0])
    return _Estimator(kernel, plan, dims, profile, trusted).plan_cost(lowered)


@dataclass(slots=True)
class _Touch:
    """An access with the sizes of the axes that it runs over, by role."""

    access: Access
    place: str
    sizes: list[tuple[str, int]]
    element_bytes: int

    @property
    def key(self) -> object:
        return self.access.memory, self.access.starts, self.access.roles

    def elements(self, kinds: str) -> int:
        """How many elements the axes of these kinds of roles hold together."""
        return prod(size for role, size in self.sizes if role[0] in kinds)


class _Estimator:
    def __init__(
        self,
        kernel: tile.Kernel,
        plan: Plan,
        dims: Mapping[str, int],
        profile: Profile | None,
        trusted: Sequence[str],
    ) -> None:
        self.kernel, self.plan, self.profile, self.trusted = kernel, plan, profile, trusted
        self.dims = {name: dims[name] for name in kernel.dims}
        self.values = dict(dims)
        self.names = PlanNames(kernel)
        self.is_exact = True
        self.blocks = prod(self.size(extent) for extent in kernel.grid)
        for axis, extent in zip("xyz", kernel.grid, strict=True):  # a block in the middle stands for all
            self.values[f"ctx.block.{axis}"] = max(0, self.size(extent) - 1) // 2
        self.seen: dict[object, tuple[Dispatch, Phase, int]] = {}
        """Where an access was last made, and the bytes that all jobs of the phase touch by it."""

    def size(self, extent: Extent) -> int:
        """The extent's value, that of a middle block. Raises UnknownSize."""
        try:
            return extent.evaluate(self.values)
        except KeyError as missing:
            raise UnknownSize(str(missing.args[0])) from None

    # --- the plan --------------------------------------------------------------------------------------------

    def plan_cost(self, lowered: Sequence[Lowered]) -> PlanCost:
        costs = [self._dispatch(dispatch) for dispatch in self.plan.dispatches]
        for cost, counted in zip(costs, lowered, strict=False):
            cost.lowered = counted
        if self.profile is not None:
            for cost in costs:
                self._time(cost, self.profile)
        scratch = sum(
            4 * self.size(slot.size) * (1 if slot.is_shared else self.blocks) for slot in self.plan.slots
        )
        return PlanCost(costs, self.dims, self._ideal(), scratch, self.is_exact, self.profile)

    def _ideal(self) -> dict[str, tuple[int, int]]:
        """Bytes that have to be read and written, by tensor: of several accesses of one the largest."""
        result: dict[str, list[int]] = {}
        for dispatch in self.plan.dispatches:
            for phase, item, turns in _rounds(dispatch.items, None, 1, self._turns):
                for touch in self._touches(phase, item):
                    name = touch.access.memory
                    if isinstance(name, str):
                        found = result.setdefault(name, [0, 0])
                        touch.element_bytes = self.kernel.tensor(name).dtype.size
                        found[touch.access.writes] = max(found[touch.access.writes], self._footprint(touch, turns))
        made_here = {tensor.name for tensor in self.kernel.tensors if tensor.access == "out"}
        return {name: (0 if name in made_here else read, written) for name, (read, written) in result.items()}

    def _turns(self, item: ForItem | WhileItem) -> int:
        """How often a loop's body runs; 1 if only the launch knows."""
        if isinstance(item, ForItem):
            try:
                distance = self.size(extent_of(item.node.stop)) - self.size(extent_of(item.node.start))
            except UnknownSize:
                self.is_exact = False
                return 1
            name = item.node.index.name
            self.values[name] = self.size(extent_of(item.node.start)) + max(0, distance - 1) // 2
            return max(0, -(-distance // item.node.step))
        self.is_exact = False
        return 1

    # --- dispatches ------------------------------------------------------------------------------------------

    def _dispatch(self, dispatch: Dispatch) -> DispatchCost:
        if dispatch.kind in ("pack", "unpack"):
            return self._copy(dispatch)
        cost = DispatchCost(dispatch, self._workgroups(dispatch))
        if dispatch.kind in ("split", "finish"):
            cost.copied = self._partial_results(dispatch, cost.workgroups)
        for phase, item, turns in _rounds(dispatch.items, None, 1, self._turns):
            if dispatch.kind in ("split", "finish") and item is not dispatch.sweep:
                continue
            round_cost = self._round(dispatch, phase, item, turns, cost.workgroups)
            cost.rounds[item] = round_cost
            cost.registers = max(cost.registers, self._registers(phase, item, round_cost.work))
        return cost

    def _partial_results(self, dispatch: Dispatch, workgroups: int) -> list[Stream]:
        """The states of parts: those that every workgroup reads, and its own."""
        read = sum(4 * self.size(slot.size) for _, slots in dispatch.combined for slot in slots)
        written = sum(4 * self.size(slot.size) for slot in dispatch.partials)
        groups = max(1, workgroups // max(1, self.size(dispatch.parts)))
        name, again = "partial results", read * workgroups // groups
        streams = [
            Stream(name, name, False, again, read, "memory", False, True),
            Stream(name, name, True, written, written, "memory", False, True),
        ]
        return [stream for stream in streams if stream.moved]

    def _copy(self, dispatch: Dispatch) -> DispatchCost:
        assert dispatch.tensor is not None
        parameter = self.kernel.tensor(dispatch.tensor)
        count = prod(self.size(dim) for dim in parameter.dims)
        packed, wide = count * parameter.dtype.size, 4 * count
        packs = dispatch.kind == "pack"
        shadow = self.plan.shadows[dispatch.tensor].name
        words = -(-count // parameter.dtype.elements_per_word)
        cost = DispatchCost(dispatch, -(-words // dispatch.threads), registers=_BASE_REGISTERS)
        cost.copied = [
            Stream(dispatch.tensor, dispatch.tensor, packs, packed, packed, "memory", False, False),
            Stream(shadow, f"scratch {shadow}", not packs, wide, wide, "memory", False, True),
        ]
        return cost

    def _workgroups(self, dispatch: Dispatch) -> int:
        match dispatch.kind:
            case "jobs":
                phase = dispatch.phase
                kept = prod(self.size(extent) for extent in phase.kept)
                at_once = phase.mapping.jobs * phase.mapping.turns
                if dispatch.merges_blocks:
                    return -(-self.blocks * kept // at_once)
                return self.blocks * -(-kept // at_once)
            case "split" | "finish":
                jobs = -(-self._jobs(dispatch.phase) // dispatch.phase.mapping.jobs)
                return jobs * self.size(dispatch.parts)
        return self.blocks

    def _registers(self, phase: Phase, item: Round, work: Work) -> int:
        """Elements kept or in flight, the states, and a base."""
        mapping = phase.mapping
        loads = max(1, sum(not each.access.writes and each.elements("s") > 1 for each in self._touches(phase, item)))
        in_flight = min(mapping.unroll, mapping.resident or mapping.unroll) * mapping.granule * loads
        is_packed = mapping.granule > 4  # two values a register while they are kept
        kept = mapping.resident * mapping.granule // (2 if is_packed else 1) if mapping.resident else in_flight
        return _BASE_REGISTERS + kept + work.state_words

    # --- rounds ----------------------------------------------------------------------------------------------

    def _round(self, dispatch: Dispatch, phase: Phase, item: Round, turns: int, workgroups: int) -> RoundCost:
        jobs = self._jobs(phase) * turns
        swept = prod(self.size(extent) for extent in item.swept) if item.wide else 0
        touches = self._touches(phase, item)
        streams = [self._stream(dispatch, phase, item, touch, turns, workgroups) for touch in touches]
        for touch, stream in zip(touches, streams, strict=True):
            self.seen[touch.key] = dispatch, phase, stream.touched
        asked = [touch.elements("s") * jobs * touch.element_bytes for touch in touches]
        new = [(one.touched, a) for one, a in zip(streams, asked, strict=True) if a and one.source != "registers"]
        filled = max((one / a for one, a in new), default=1.0)
        filled = min(1.0, filled)
        work = work_of(self.kernel, self.plan, phase, item, dispatch.vectors, self.trusted)
        shown = [one for one in streams if one.touched or one.source == "registers"]
        return RoundCost(int(jobs * swept * filled), shown, work, filled)

    def _jobs(self, phase: Phase) -> int:
        return self.blocks * prod(max(0, self.size(extent)) for extent in phase.kept)

    def _touches(self, phase: Phase, item: Round) -> list[_Touch]:
        """What the round's sinks touch, each once."""
        names = {tensor.name for tensor in self.kernel.tensors}
        sinks = [sink for each in phase_rounds(phase.items) for sink in each.sinks]
        walker = Walker(self.plan.homes, {sink.value for sink in sinks if sink.kind in ("reduce", "pick")}, names)
        found: dict[object, _Touch] = {}
        for sink in item.sinks:
            for access in walker.needs(sink, sink.roles).accesses:
                touch = self._touch(sink, access)
                found.setdefault((touch.key, access.writes), touch)
        return list(found.values())

    def _touch(self, sink: Sink, access: Access) -> _Touch:
        if isinstance(access.memory, Slot):
            shape, size, place = access.memory.shape, 4, f"scratch {access.memory.name}"
        else:
            value = access.load if isinstance(access.load, tile.Load) else sink.store
            place = self.names.access(value)
            shape = tuple(Extent.of(1) if isinstance(i, tile.PointIndex) else i.count for i in value.indices)
            size = 4 if access.memory in self.plan.shadows else self.kernel.tensor(access.memory).dtype.size
        sizes = [max(0, self.size(extent)) for extent in shape]
        return _Touch(access, place, list(zip(access.roles, sizes, strict=True)), size)

    def _footprint(self, touch: _Touch, turns: int) -> int:
        """Bytes that all jobs together touch, each once."""
        access = touch.access
        count = touch.elements("sk")
        if isinstance(access.memory, Slot):
            slot = access.memory
            whole = self.size(slot.size) * (1 if slot.is_shared else self.blocks)
            count *= 1 if slot.is_shared else self.blocks
        else:
            whole = prod(self.size(dim) for dim in self.kernel.tensor(access.memory).dims)
            count *= self.blocks if _varies(access, "block") else 1
            count *= turns if _varies(access, "loop") else 1
        return min(count, whole) * touch.element_bytes

    def _stream(
        self, dispatch: Dispatch, phase: Phase, item: Round, touch: _Touch, turns: int, workgroups: int
    ) -> Stream:
        access = touch.access
        footprint = self._footprint(touch, turns)
        touched = touch.elements("s") * self._jobs(phase) * turns * touch.element_bytes
        again = 1 if _varies(access, "loop") else turns
        if touched < 2 * footprint * again or self._is_exclusive(phase, access):  # the last block's missing rows
            touched = footprint * again
        is_scratch = isinstance(access.memory, Slot) or access.memory in self.plan.shadows
        name = access.memory.name if isinstance(access.memory, Slot) else access.memory
        stream = Stream(
            name, touch.place, access.writes, touched, footprint, "memory", access.memory in dispatch.vectors,
            is_scratch, touch.elements("s") > 1,
        )  # fmt: skip
        if access.writes:
            return stream
        cache = _CACHE_SHARE * (self.profile.cache_bytes if self.profile is not None else _DEFAULT_CACHE)
        before = self.seen.get(touch.key)
        if before is None:
            once = self._between(dispatch, (dispatch, phase, 0), footprint, workgroups) if again > 1 else footprint
            stream.moved = footprint if once <= cache else touched
            return stream
        is_same_phase = before[1] is phase and before[0] is dispatch
        kept = 0.0
        if is_same_phase and phase.mapping.resident and "s0" in access.roles:
            mapping = phase.mapping
            row = max(1, touch.elements("s"))
            kept = min(1.0, mapping.resident * mapping.lanes * mapping.granule / row)
            stream.source, stream.touched = "registers", int(touched * (1.0 - kept))
        stream.moved = stream.touched
        between = self._between(dispatch, before, int(footprint * (1.0 - kept)), workgroups)
        if between <= cache:
            stream.source, stream.moved = stream.source if kept else "cache", 0
        elif is_same_phase and item.is_backwards:  # what was read last is still in the cache
            stream.moved = int(stream.moved * (1.0 - cache / between))
        return stream

    def _is_exclusive(self, phase: Phase, access: Access) -> bool:
        """Whether every job touches elements of its own."""
        is_private = isinstance(access.memory, Slot) and not access.memory.is_shared
        blocks_differ = self.blocks == 1 or is_private or _varies(access, "block")
        return blocks_differ and all(f"k{axis}" in access.roles for axis in range(len(phase.kept)))

    def _between(
        self, dispatch: Dispatch, before: tuple[Dispatch, Phase, int], footprint: int, workgroups: int
    ) -> float:
        """Bytes that are touched until the same ones are touched again: what workgroups that run at once hold, or
        everything in another dispatch."""
        if before[0] is not dispatch or self.profile is None:
            return footprint
        at_once = min(workgroups, self.profile.resident(dispatch.threads))
        return footprint * at_once / max(1, workgroups)

    # --- time ------------------------------------------------------------------------------------------------

    def _time(self, cost: DispatchCost, profile: Profile) -> None:
        """Fills in the time and what bounds it. A GPU's units work side by side, a processor's threads do all."""
        filled = max((each.filled for each in cost.rounds.values()), default=1.0)
        share = min(1.0, max(1.0, cost.workgroups * filled) / profile.cores)
        cached = sum(stream.touched for stream in cost.streams if stream.source == "cache")
        moved = sum(s.moved / (1.0 if s.is_vector else profile.single_share) for s in cost.streams)
        parts = {
            "memory": (moved + cached / _CACHE_SPEED) / (profile.bandwidth * share),
            "arithmetic": cost.operations / (profile.operations * share),
            "functions": cost.functions / (profile.functions * share),
            "barriers": 0.0,
        }
        if cost.lowered is not None:
            met = cost.lowered.barriers * cost.dispatch.threads * cost.workgroups
            parts["barriers"] = met * profile.barrier_seconds / (profile.cores * share)
        if profile.limits.is_cpu:
            computing = parts["arithmetic"] + parts["functions"] + parts["barriers"]
            busy = max(parts["memory"], computing)
        else:
            busy = max(parts.values())
        cost.waiting_seconds = profile.round_seconds * len(cost.rounds)
        launch = profile.dispatch_seconds + cost.waiting_seconds
        cost.seconds = launch + busy
        cost.slowest = max(parts, key=lambda name: parts[name])
        cost.bound = "launch" if launch > busy else cost.slowest
        cost.memory_seconds, cost.busy_seconds = parts["memory"], busy


def _varies(access: Access, kind: str) -> bool:
    """Whether the access starts elsewhere in each block, or in each turn of a loop; so does what is not known."""
    atoms = [atom for start in access.starts for atom in start.atoms]
    return any(not isinstance(atom, Symbol) or atom.kind == kind for atom in atoms if not isinstance(atom, Apply))


def _rounds(
    items: Iterable[Item], phase: Phase | None, turns: int, count: Callable[[ForItem | WhileItem], int]
) -> Iterator[tuple[Phase, Round, int]]:
    """All rounds with their phase and how often they run; both sides of a branch."""
    for item in items:
        match item:
            case Phase():
                yield from _rounds(item.items, item, turns, count)
            case Round():
                assert phase is not None
                yield phase, item, turns
            case IfItem():
                yield from _rounds([*item.then, *item.otherwise], phase, turns, count)
            case ForItem():
                yield from _rounds(item.body, phase, turns * count(item), count)
            case WhileItem():
                yield from _rounds([*item.condition, *item.body], phase, turns * count(item), count)
