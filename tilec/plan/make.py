"""From a kernel to its plan: which values need homes, which control flow runs inside a job, how phases become
dispatches."""

from __future__ import annotations

from tilec.errors import InternalError
from tilec.facts import Facts
from tilec.options import Options
from tilec.plan.control import Controls
from tilec.plan.ir import Dispatch, Item, Phase, Plan, Sink, Slot
from tilec.plan.mapping import choose_mappings
from tilec.plan.needs import attach_needs
from tilec.plan.order import ordered
from tilec.plan.packed import place_packed
from tilec.plan.recompute import often_recomputed
from tilec.plan.rows import choose_rows
from tilec.plan.schedule import NeedsHome, Scheduler
from tilec.plan.slots import Slots
from tilec.plan.split import split_long_sweeps
from tilec.plan.vectors import choose_vectors
from tilec.plan.walk import Walker
from tilec.tile import ir as tile
from tilec.tile.reports import layout_of
from tilec.tile.walk import opaque_of, operands_of, regions_of, walk

_ATTEMPTS = 10_000


def make_plan(kernel: tile.Kernel, facts: Facts, options: Options) -> Plan:
    """The plan of `kernel` under what `facts` knows; with `options.fusion` False the naive one.

    Needs: a verified kernel after the tile passes. Gives: a plan that lowering can follow without a question.
    """
    planner = _Planner(kernel, options.fusion)
    for _ in range(_ATTEMPTS):
        try:
            items = planner.attempt()
            break
        except NeedsHome as need:
            planner.publish(need.values)
    else:
        raise InternalError("plan", "no schedule found")
    needed = attach_needs(kernel, items, planner.walker) if options.fusion else {}
    log = layout_of(kernel)
    if options.fusion and log is None:
        choose_rows(kernel, items, planner.homes, facts, options)
    shadows = place_packed(kernel, items, facts)
    dispatches = _dispatches(kernel, items, options.fusion)
    if log is None:  # what a report tells is long code, once for each element that a lane takes together
        choose_vectors(kernel, dispatches, planner.homes, shadows, facts)
    choose_mappings(kernel, dispatches, facts, options)
    dispatches = split_long_sweeps(kernel, dispatches, facts, options)
    for tensor in shadows:
        dispatches.insert(0, Dispatch("unpack", min(256, options.limits.invocations), tensor=tensor))
        dispatches.append(Dispatch("pack", min(256, options.limits.invocations), tensor=tensor))
    partials = [slot for dispatch in dispatches for slot in dispatch.partials]
    slots = [*dict.fromkeys(planner.homes.values()), *shadows.values(), *partials]
    words = options.limits.workgroup_bytes // 4 - 16
    return Plan(
        dispatches, slots, planner.homes, shadows, facts.guards, needed, words, options.limits.subgroup,
        trusts_exp="exp" in options.trusted, skips_branches=not options.limits.is_cpu, log=log,
    )  # fmt: skip


def _dispatches(kernel: tile.Kernel, items: list[Item], is_grouped: bool) -> list[Dispatch]:
    """One phase: its jobs are spread over workgroups. Several, in a kernel of one block: a dispatch each. Else a
    workgroup runs a block."""
    if not items:
        return []
    is_one_block = all(extent.is_one for extent in kernel.grid)
    all_phases = all(isinstance(item, Phase) for item in items)
    # A launch must know how many workgroups there are; a workgroup alone counts its jobs itself.
    is_known = all(extent.is_for_host for item in items if isinstance(item, Phase) for extent in item.kept)
    if all_phases and is_known and (len(items) == 1 or (is_one_block and is_grouped)):
        return [Dispatch("jobs", 0, [item]) for item in items]
    return [Dispatch("block", 0, items)]


class _Planner:
    """One kernel's planning: the homes found necessary so far, and attempts under them."""

    def __init__(self, kernel: tile.Kernel, is_grouped: bool) -> None:
        self.kernel = kernel
        self.is_grouped = is_grouped
        self.slots = Slots(kernel)
        self.homes: dict[tile.Value, Slot] = {}
        self.published: set[tile.Value] = set()
        self.outside: set[tile.Value] = set()
        """Control flow that must not run inside a job."""
        everything = list(walk(kernel.body))
        self.position = {value: number for number, value in enumerate(everything)}
        self.stores: dict[str, list[tile.Store]] = {}
        for value in everything:
            if isinstance(value, tile.Store):
                self.stores.setdefault(value.tensor, []).append(value)
        self.written = set(self.stores)
        self.loops = _enclosing_loops(kernel.body, ())
        self.used = _used(kernel)
        if is_grouped:
            wanted = often_recomputed(everything, self.used)
        else:
            wanted = {value for value in everything if value in self.used and _is_tile(value)}
        self.publish({value for value in wanted if self.slots.may_keep(value)})

    def publish(self, values: set[tile.Value]) -> None:
        """Gives every value a slot. The loop that a value comes out of goes around phases instead: it leaves the value
        in a register that all of them have, or in a slot."""
        for value in sorted(values, key=lambda one: one.number):  # slots lie in the same order in every process
            if isinstance(value, tile.Argument):
                raise InternalError("plan", f"no home for the carried value {value.name}")
            producer = value.producer if isinstance(value, tile.Result) else None
            if isinstance(producer, tile.For | tile.While) and producer not in self.outside:
                self.outside.add(producer)
                continue
            if value in self.homes:
                raise InternalError("plan", f"the published value %{value.number} is still missing")
            self.published.add(value)
            name = f"{value.name or 'value'}_{self.position[value]}"  # the same in every process
            self.homes[value] = self.slots.make(name, value)

    def attempt(self) -> list[Item]:
        """One try; NeedsHome says what to publish before the next."""
        self.walker = Walker(dict(self.homes), set(), self.written)
        for value in self.position:
            if value in self.used and (isinstance(value, tile.Reduce) or self.is_owned_pick(value)):
                self.walker.sink_values.add(value)
        self.controls = Controls(self)
        splits = self.is_grouped and all(extent.is_one for extent in self.kernel.grid) and not self._has_control()
        items = self.plan_region(self.kernel.body, Scheduler(self.walker, self.is_grouped, splits), []).items
        self.homes.update({value: slot for value, slot in self.walker.homes.items()})
        return items

    def _has_control(self) -> bool:
        return any(self.controls.is_control(value) for value in self.kernel.body.body)

    def is_owned_pick(self, value: tile.Value) -> bool:
        """A pick whose row is read from a tensor that the kernel also writes."""
        if not isinstance(value, tile.Pick):
            return False
        marks = ("a",) * value.operand.type.rank
        probe = Walker(self.homes, set(), self.written)
        sink = Sink("publish", value.operand, 0, Slot("", value.type.dtype, ()))
        return any(not access.writes and isinstance(access.memory, str) for access in probe.needs(sink, marks).accesses)

    def plan_region(self, region: tile.Region, scheduler: Scheduler, last: list[Sink]) -> Scheduler:
        """Schedules a region's sinks, then `last` (what a loop carries)."""
        segment: list[Sink] = []
        for value in region.body:
            if self.controls.is_control(value):
                self.flush(segment, scheduler)
                segment = []
                self.controls.place(value, scheduler)
            else:
                segment += self.sinks_of(value)
        self.flush(segment + last, scheduler)
        return scheduler

    def flush(self, segment: list[Sink], scheduler: Scheduler) -> None:
        self._require_versions(segment)
        sinks = ordered(segment, self.walker, self.position)
        scheduler.require_homes(sinks)
        for number, sink in enumerate(sinks):
            scheduler.place(sink, sinks[number + 1 :])

    def _require_versions(self, segment: list[Sink]) -> None:
        """A load that another segment's store, or a loop's next round, overwrites before its use is published."""
        missing: set[tile.Value] = set()
        own = {sink.value for sink in segment}
        for sink in segment:
            marks = tuple(f"a{axis}" for axis in range(len(sink.shape)))
            for access in self.walker.needs(sink, marks).accesses:
                load = access.load
                if not isinstance(access.memory, str) or load is None:
                    continue
                for store in self.stores[access.memory]:
                    around = set(self.loops[store]) & set(self.loops[sink.value]) - set(self.loops[load])
                    is_between = self.position[load] < self.position[store] < sink.position and store not in own
                    if around or is_between:
                        missing.add(load)
        if missing:
            raise NeedsHome(missing)

    def sinks_of(self, value: tile.Value) -> list[Sink]:
        position = self.position[value]
        sinks: list[Sink] = []
        if value in self.walker.sink_values and isinstance(value, (tile.Reduce, tile.Pick)):
            sinks.append(Sink("reduce" if isinstance(value, tile.Reduce) else "pick", value, position))
        if isinstance(value, tile.Store):
            sinks.append(Sink("store", value, position))
        if isinstance(value, tile.Report):
            sinks.append(Sink("report", value, position))
        if value in self.published and value not in self.controls.results:
            sinks.append(Sink("publish", value, position, self.homes[value]))
        return sinks

    def has_sinks(self, region: tile.Region) -> bool:
        """Whether anything in the region must happen at its place."""
        return any(
            isinstance(value, (tile.Store, tile.Report, tile.For, tile.While))
            or value in self.published
            or value in self.walker.sink_values
            or (isinstance(value, tile.If) and (self.has_sinks(value.then) or self.has_sinks(value.otherwise)))
            for value in region.body
        )


def _enclosing_loops(region: tile.Region, around: tuple[tile.Value, ...]) -> dict[tile.Value, tuple[tile.Value, ...]]:
    """The loops that each instruction stands in; arguments and yields included."""
    found: dict[tile.Value, tuple[tile.Value, ...]] = {}
    for value in region.body:
        found[value] = around
        inner = (*around, value) if isinstance(value, (tile.For, tile.While)) else around
        for argument in getattr(value, "carried", ()):
            found[argument] = inner
        for body in regions_of(value):
            found.update(_enclosing_loops(body, inner))
    return found


def _is_tile(value: tile.Value) -> bool:
    """Whether the naive plan keeps the value in scratch: tiles, and scalars that memory was read for."""
    if isinstance(value, (tile.Store, tile.Report, tile.If, tile.For, tile.While, tile.Argument, tile.Const)):
        return False
    if isinstance(value, tile.Result) and not isinstance(value.producer, tile.If):
        return False
    return value.type.rank > 0 or isinstance(value, (tile.Load, tile.Reduce, tile.Pick))


def _used(kernel: tile.Kernel) -> set[tile.Value]:
    """Instructions that a store, a report or control flow depends on."""
    used: set[tile.Value] = set()
    stack: list[tile.Value] = [
        value
        for value in walk(kernel.body)
        if isinstance(value, (tile.Store, tile.Report, tile.For, tile.While, tile.If))
    ]
    while stack:
        value = stack.pop()
        if value in used:
            continue
        used.add(value)
        stack.extend(operands_of(value))
        stack.extend(opaque_of(value))
        for region in regions_of(value):
            stack.extend(region.yields)
    return used
