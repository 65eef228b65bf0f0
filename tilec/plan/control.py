"""Control flow in the plan: inside a job where everything in it suits one phase, else around whole phases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tilec.errors import InternalError
from tilec.plan.ir import ControlItem, ForItem, IfItem, Item, Phase, Roles, Round, Sink, Slot, WhileItem
from tilec.plan.schedule import NeedsHome, OpenPhase, Scheduler, assign_roles, natural_kept
from tilec.plan.touched import Touched
from tilec.plan.walk import Access, Needs, operand_roles, relation
from tilec.tile import ir as tile
from tilec.tile.walk import regions_of, walk
from tilec.types import Extent

if TYPE_CHECKING:
    from tilec.plan.make import _Planner


class _DoesNotFit(Exception):
    """The control flow cannot run inside the jobs of the phase."""


class _JobScheduler(Scheduler):
    """Places sinks into the one phase of the job that runs the control flow."""

    def __init__(self, parent: Scheduler, opened: OpenPhase) -> None:
        super().__init__(parent.walker, True)
        self.open = [opened]
        self.items = opened.phase.items

    def place(self, sink: Sink, following: list[Sink]) -> None:
        self.require_homes([sink])
        if not self._join(self.open[0], sink):
            raise _DoesNotFit


class Controls:
    """Plans the control flow of one attempt."""

    def __init__(self, planner: _Planner) -> None:
        self.planner = planner
        self.walker = planner.walker
        self.results: set[tile.Result] = {
            value
            for value in planner.position
            if isinstance(value, tile.Result) and isinstance(value.producer, (tile.For, tile.While))
        }

    def is_control(self, value: tile.Value) -> bool:
        """Whether the instruction needs control flow of its own (a pure `if` is evaluated lane by lane instead)."""
        if isinstance(value, tile.If):
            return self.planner.has_sinks(value.then) or self.planner.has_sinks(value.otherwise)
        return isinstance(value, (tile.For, tile.While))

    def place(self, node: tile.Value, scheduler: Scheduler) -> None:
        if self.planner.is_grouped and node not in self.planner.outside:
            homes, sink_values = dict(self.walker.homes), set(self.walker.sink_values)
            try:
                self._inside(node, scheduler)
                return
            except _DoesNotFit:
                self.walker.homes, self.walker.sink_values = homes, sink_values
        if isinstance(scheduler, _JobScheduler):
            raise _DoesNotFit
        self._outside(node, scheduler)

    # --- around phases ---------------------------------------------------------------------------------------

    def _outside(self, node: tile.Value, scheduler: Scheduler) -> None:
        for scalar in _uniform_scalars(node):
            self._require_homes(self._needs(scalar))
        slots = self._carry_slots(node, lambda argument: _is_wide(argument.type.shape))
        self._require_versions(node, [slot is None for slot in slots])
        for slot, initial in zip(slots, _initials(node), strict=True):
            if slot is not None:
                scheduler.place(Sink("carry", initial, self.planner.position[node], slot), [])
            else:
                self._require_homes(self._needs(initial))
        bodies: list[list[Item]] = []
        for region in regions_of(node):
            carries = [] if isinstance(node, tile.While) and region is node.condition else slots
            bodies.append(self._region(node, region, Scheduler(self.walker, self.planner.is_grouped), carries))
            for number, value in enumerate(region.yields):
                if number >= len(carries) or carries[number] is None:
                    self._require_homes(self._needs(value)) if not isinstance(node, tile.If) else None
        scheduler.close(_item(node, bodies, slots))

    def _needs(self, value: tile.Value, roles: Roles | None = None) -> Needs:
        """What is read for a value that is no sink's: all lanes read it."""
        marks = tuple("." if extent.is_one else f"a{axis}" for axis, extent in enumerate(value.type.shape))
        own = marks if roles is None else operand_roles(value.type.shape, roles)
        needs = self.walker.needs(Sink("carry", value, 0, Slot("", value.type.dtype, value.type.shape)), own)
        needs.accesses = [replace(access, is_narrow=False) for access in needs.accesses[:-1]]
        return needs

    def _require_versions(self, node: tile.Value, in_registers: Sequence[bool]) -> None:
        """What decides the control flow, and what it carries `in_registers`, is read when the flow gets there, by all
        lanes; what it carries in slots begins there, each element by its own lane. A load that a store may overwrite
        before, or while other lanes still read, is published."""
        planner, inside, missing = self.planner, _inside(node), set[tile.Value]()
        values = [(value, True) for value in _uniform_scalars(node)]
        if isinstance(node, tile.While):
            values.append((node.condition.yields[0], True))
        if not isinstance(node, tile.If):
            values += zip(_initials(node), in_registers, strict=True)
            yields = zip(regions_of(node)[-1].yields, in_registers, strict=True)
            values += [(value, True) for value, is_held in yields if is_held]
        for access, is_shared in [(each, by_all) for value, by_all in values for each in self._needs(value).accesses]:
            if access.load is None or not isinstance(access.memory, str):
                continue
            for store in planner.stores[access.memory]:
                around = set(planner.loops[store]) & set(planner.loops[node]) - set(planner.loops[access.load])
                is_between = planner.position[access.load] < planner.position[store] < planner.position[node]
                if around or is_between or (is_shared and store in inside):
                    missing.add(access.load)
        if missing:
            raise NeedsHome(missing)

    def _require_homes(self, needs: Needs) -> None:
        missing = {value for value, _ in needs.leaves if value not in self.walker.homes}
        if missing:
            raise NeedsHome(missing)

    def _carry_slots(self, node: tile.Value, needs_slot: Callable[[tile.Argument], bool]) -> list[Slot | None]:
        slots: list[Slot | None] = []
        for number, argument in enumerate(_carried(node)):
            if not needs_slot(argument):
                slots.append(None)
                continue
            place = f"{self.planner.position[node]}_{number}"
            slot = self.planner.slots.make(f"{argument.name or 'carried'}_{place}", argument)
            self.walker.homes[argument] = slot
            for result in self.results:
                if result.producer is node and result.index == number:
                    self.walker.homes[result] = slot
            slots.append(slot)
        return slots

    def _region(
        self, node: tile.Value, region: tile.Region, scheduler: Scheduler, slots: list[Slot | None]
    ) -> list[Item]:
        """Plans a loop's or branch's region; a carried tile that another one's new value is made of is copied first."""
        last: list[Sink] = []
        end = max((self.planner.position[value] for value in walk(region)), default=self.planner.position[node])
        for number, slot in enumerate(slots):
            if slot is None:
                continue
            value = region.yields[number]
            reads = {access.memory for access in self._needs(value).accesses}
            if value not in self.walker.homes and any(other in reads for other in slots if other not in (None, slot)):
                raise NeedsHome({value})
            if value is not _carried(node)[number]:
                last.append(Sink("carry", value, end, slot))
        return self.planner.plan_region(region, scheduler, last).items

    # --- inside a job ----------------------------------------------------------------------------------------

    def _inside(self, node: tile.Value, scheduler: Scheduler) -> None:
        opened, is_new = self._target(node, scheduler)
        kept = opened.phase.kept
        saved = (list(opened.phase.items), dict(opened.registers), opened.touched.copy(), opened.floor)
        saved_sinks = {id(item): list(item.sinks) for item in opened.phase.items if isinstance(item, Round)}
        saved_fences = {id(item): item.fence for item in opened.phase.job_items}
        try:
            item = self._fit(node, scheduler, opened, kept)
        except _DoesNotFit:
            opened.phase.items[:] = saved[0]
            opened.registers, opened.touched, opened.floor = saved[1], saved[2], saved[3]
            for existing in opened.phase.job_items:
                existing.fence = saved_fences[id(existing)]
                if isinstance(existing, Round):
                    existing.sinks[:] = saved_sinks[id(existing)]
            raise
        opened.phase.items.append(item)
        opened.floor = len(opened.phase.items)
        if is_new:
            scheduler.open.append(opened)
            scheduler.items.append(opened.phase)

    def _target(self, node: tile.Value, scheduler: Scheduler) -> tuple[OpenPhase, bool]:
        if isinstance(scheduler, _JobScheduler):
            return scheduler.open[0], False
        is_last_open = scheduler.items and scheduler.floor < len(scheduler.open)
        if is_last_open and scheduler.items[-1] is scheduler.open[-1].phase:
            return scheduler.open[-1], False
        kept = self._first_kept(node)
        if kept is None:
            raise _DoesNotFit
        return OpenPhase(Phase(kept)), True

    def _first_kept(self, node: tile.Value) -> tuple[Extent, ...] | None:
        sinks = [sink for region in regions_of(node) for value in walk(region) for sink in self.planner.sinks_of(value)]
        reductions = [sink for sink in sinks if sink.kind in ("reduce", "pick")]
        chosen = (reductions or sinks)[:1]
        return natural_kept(chosen[0]) if chosen else None

    def _fit(self, node: tile.Value, scheduler: Scheduler, opened: OpenPhase, kept: tuple[Extent, ...]) -> ControlItem:
        conditions = self._conditions(node, opened)
        registers = {argument: _narrow_roles(argument.type.shape, kept) for argument in _carried(node)}
        slots = self._carry_slots(node, lambda argument: registers[argument] is None)
        self._require_versions(node, [roles is not None for roles in registers.values()])
        self._place_initials(node, scheduler, opened, registers, slots)
        number = len(opened.phase.items)
        bodies: list[list[Item]] = []
        touched: list[Access] = [access for needs in conditions for access in needs.accesses]
        for initial, roles in zip(_initials(node), registers.values(), strict=True):
            touched += self._needs(initial, roles).accesses if roles is not None else []
        for region in regions_of(node):
            sub = OpenPhase(Phase(kept), {value: (-1, roles) for value, (_, roles) in opened.registers.items()})
            for argument, roles in registers.items():
                if roles is not None:
                    sub.registers[argument] = (-1, roles)
                    self.walker.sink_values.add(argument)
            carries = [] if isinstance(node, tile.While) and region is node.condition else slots
            bodies.append(self._region(node, region, _JobScheduler(scheduler, sub), carries))
            touched += self._check_yields(node, region, registers, sub)
            touched += [access for _, access in sub.touched]
            if isinstance(node, tile.If):
                made = {value: (number, roles) for value, (_, roles) in sub.registers.items()}
                opened.registers = {**made, **opened.registers}
        for result in self.results:
            if result.producer is node:
                roles = registers[_carried(node)[result.index]]
                if roles is not None:
                    opened.registers[result] = (number, roles)
                    self.walker.sink_values.add(result)
        item = _item(node, bodies, slots)
        self._check_memory(node, item, touched, opened, number)
        return item

    def _conditions(self, node: tile.Value, opened: OpenPhase) -> list[Needs]:
        """What the scalars that decide the control flow need: values that every job has alike."""
        conditions = [self._needs(scalar) for scalar in _uniform_scalars(node)]
        for needs in conditions:
            for value, _ in needs.leaves:
                made = opened.registers.get(value)
                is_missing = made is None and value not in self.walker.homes
                if is_missing or (made is not None and any(role != "." for role in made[1])):
                    raise _DoesNotFit
        return conditions

    def _place_initials(
        self,
        node: tile.Value,
        scheduler: Scheduler,
        opened: OpenPhase,
        registers: dict[tile.Argument, Roles | None],
        slots: list[Slot | None],
    ) -> None:
        """What the loop starts with, into the slots and the registers that carry it."""
        for slot, initial in zip(slots, _initials(node), strict=True):
            if slot is not None:
                inner = _JobScheduler(scheduler, opened)
                inner.place(Sink("carry", initial, self.planner.position[node], slot), [])
        for initial, argument in zip(_initials(node), _carried(node), strict=True):
            roles = registers[argument]
            if roles is not None:
                self._check_roles(initial, roles, opened)

    def _check_roles(self, value: tile.Value, roles: Roles, opened: OpenPhase) -> None:
        sink = Sink("publish", value, 0, Slot("", value.type.dtype, value.type.shape))
        for leaf, _ in self._needs(value).leaves:
            if leaf not in opened.registers and leaf not in self.walker.homes:
                raise NeedsHome({leaf})
        if any(role != "." for role in roles):
            aligned = assign_roles(sink, opened, self.walker)
            offset = len(roles) - value.type.rank
            expected = tuple(
                "." if extent.is_one else roles[offset + axis] for axis, extent in enumerate(value.type.shape)
            )
            if any(role != "." for role in expected) and aligned != expected:
                raise _DoesNotFit
        elif any(
            any(made != "." for made in opened.registers[leaf][1])
            for leaf, _ in self._needs(value).leaves
            if leaf in opened.registers
        ):
            raise _DoesNotFit

    def _check_yields(
        self,
        node: tile.Value,
        region: tile.Region,
        registers: dict[tile.Argument, Roles | None],
        sub: OpenPhase,
    ) -> list[Access]:
        """Gives what all lanes read at the end of the region; nothing that it has published, for want of a barrier."""
        found: list[Access] = []
        if isinstance(node, tile.While) and region is node.condition:
            needs = self._needs(region.yields[0])
            for value, _ in needs.leaves:
                if value in sub.registers and any(role != "." for role in sub.registers[value][1]):
                    raise _DoesNotFit
            found += needs.accesses
        else:
            for argument, value in zip(_carried(node), region.yields, strict=False):
                roles = registers[argument]
                if roles is not None and value is not argument:
                    self._check_roles(value, roles, sub)
                    found += self._needs(value, roles).accesses
        inside = _inside(node)
        if any(access.load in inside and not isinstance(access.memory, str) for access in found):
            raise _DoesNotFit
        return found

    def _check_memory(
        self, node: tile.Value, item: ControlItem, touched: list[Access], opened: OpenPhase, number: int
    ) -> None:
        """Conflicts with what stands before need a fence or another phase; so do those between rounds of a loop."""
        count = len(opened.phase.kept)
        for access in touched:
            for _, before in opened.touched.before(access):
                how = relation(before, access, count)
                if how == "block":
                    raise _DoesNotFit
                item.fence = item.fence or how == "job"
        if not isinstance(item, IfItem):
            inside = {id(value) for value in _inside(node)}
            own_index = getattr(node, "index", None)
            inner = Touched((0, access) for access in touched)
            for access in touched:
                for _, other in inner.before(access):
                    varies = [any(_varies(atom, inside, own_index) for atom in start.atoms) for start in access.starts]
                    how = relation(other, access, count)
                    kept_varies = any(v for v, role in zip(varies, access.roles, strict=True) if role.startswith("k"))
                    if how == "block" or kept_varies:
                        raise _DoesNotFit
                    if any(varies) or how == "job":
                        item.fences_rounds = True
        opened.touched.add((number, access) for access in touched)


def _inside(node: tile.Value) -> set[tile.Value]:
    """The instructions of a control instruction's regions."""
    return {value for region in regions_of(node) for value in walk(region)}


def _varies(atom: object, inside: set[int], index: tile.Value | None) -> bool:
    """Whether an atom of an extent changes from round to round."""
    value = getattr(atom, "value", None)
    if value is None:
        return getattr(atom, "kind", "") == "loop"
    return id(value) in inside or value is index or isinstance(value, tile.Argument)


def _is_wide(shape: tuple[Extent, ...]) -> bool:
    return any(not extent.is_one for extent in shape)


def _narrow_roles(shape: tuple[Extent, ...], kept: tuple[Extent, ...]) -> Roles | None:
    """Roles of a carried value that is one value a job (or one for all), None if it is wider."""
    roles: list[str] = []
    number = 0
    for extent in shape:
        if extent.is_one:
            roles.append(".")
        elif number < len(kept) and extent == kept[number]:
            roles.append(f"k{number}")
            number += 1
        else:
            return None
    return tuple(roles) if number in (0, len(kept)) else None


def _carried(node: tile.Value) -> tuple[tile.Argument, ...]:
    return getattr(node, "carried", ())


def _initials(node: tile.Value) -> tuple[tile.Value, ...]:
    return getattr(node, "initial", ())


def _uniform_scalars(node: tile.Value) -> tuple[tile.Value, ...]:
    match node:
        case tile.If():
            return (node.condition,)
        case tile.For():
            return (node.start, node.stop)
    return ()


def _item(node: tile.Value, bodies: list[list[Item]], slots: list[Slot | None]) -> ControlItem:
    match node:
        case tile.If():
            return IfItem(node, bodies[0], bodies[1])
        case tile.For():
            return ForItem(node, bodies[0], tuple(slots))
        case tile.While():
            return WhileItem(node, bodies[0], bodies[1], tuple(slots))
    raise InternalError("plan", f"no control flow: {type(node).__name__}")
