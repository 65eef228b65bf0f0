"""Places the sinks of one straight segment into phases and rounds.

The naive schedule gives every sink a phase of its own. The grouped one puts a sink into the earliest phase and round
that its inputs and the memory it touches allow: same kept axes, values of the phase read at their own positions, and
memory of other lanes only behind a fence.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tilec.diag.deadline import check_time
from tilec.plan.ir import ForItem, IfItem, Item, Phase, Roles, Round, Sink, Slot, WhileItem
from tilec.plan.touched import Touched
from tilec.plan.walk import Access, Needs, Walker, relation
from tilec.tile import ir as tile
from tilec.tile.moments import moment_of
from tilec.types import Extent


class NeedsHome(Exception):
    """Planning must start again with `values` published in scratch memory."""

    def __init__(self, values: set[tile.Value]) -> None:
        super().__init__()
        self.values = values


@dataclass(slots=True, eq=False)
class OpenPhase:
    """A phase that sinks may still join: where each register was made (item number, roles) and what was touched
    where."""

    phase: Phase
    registers: dict[tile.Value, tuple[int, Roles]] = field(default_factory=dict)
    touched: Touched = field(default_factory=Touched)
    """All accesses so far."""
    floor: int = 0
    """Items below this number take no more sinks (control flow stands behind them)."""


class Scheduler:
    """Collects the phases of one region. `walker` knows which values are sinks, homed or inline."""

    def __init__(self, walker: Walker, is_grouped: bool, splits: bool = False) -> None:
        self.walker = walker
        self.is_grouped = is_grouped
        self.splits = splits
        """A phase of one job has one round only, so that the whole device can share its sweep."""
        self.open: list[OpenPhase] = []
        self.items: list[Item] = []
        self.floor = 0

    # --- sinks -----------------------------------------------------------------------------------------------

    def place(self, sink: Sink, following: list[Sink]) -> None:
        """Places `sink` after all that were placed before it; `following` are the sinks still to come."""
        check_time(sink.value.span)
        self.require_homes([sink])
        maker = next((opened for opened in self.open if sink.value in opened.registers), None)
        if sink.kind == "publish" and maker is not None:
            if not self._join(maker, sink):
                raise AssertionError("a published value does not fit the phase that makes it")
            return
        if self.is_grouped:
            for number in range(max(self.floor, self._first_possible(sink)), len(self.open)):
                if self._join(self.open[number], sink):
                    return
        opened = self._open_for(sink, following)
        marks = tuple(f"a{axis}" for axis in range(len(sink.shape)))
        missing = {value for value, _ in self.walker.needs(sink, marks).leaves if value not in self.walker.homes}
        if missing:
            raise NeedsHome(missing)
        self.open.append(opened)
        self.items.append(opened.phase)
        if not self._join(opened, sink):
            raise AssertionError("a sink does not fit the phase that was opened for it")

    def require_homes(self, sinks: list[Sink]) -> None:
        """A sink must not overwrite what other lanes of it still read: then its operand is published first."""
        missing: dict[tile.Value, Slot] = {}
        walker = Walker(self.walker.homes, self.walker.sink_values, self.walker.written)
        for sink in sinks:
            if self._overwrites_its_reads(sink, walker):
                value = sink.operand
                missing[value] = Slot("", value.type.dtype, value.type.shape)
                # What is read from this slot from now on does not conflict as well.
                walker = Walker({**self.walker.homes, **missing}, walker.sink_values, walker.written)
        if missing:
            raise NeedsHome(set(missing))

    @staticmethod
    def _overwrites_its_reads(sink: Sink, walker: Walker) -> bool:
        if sink.kind in ("reduce", "pick", "report") or (sink.operand in walker.homes and sink.kind != "publish"):
            return False
        marks = tuple("." if extent.is_one else f"s{axis}" for axis, extent in enumerate(sink.shape))
        accesses = walker.needs(sink, marks).accesses
        write = accesses[-1]
        return any(conflict(access, write) and relation(access, write, 0) != "own" for access in accesses[:-1])

    def _first_possible(self, sink: Sink) -> int:
        """The first phase that is not before one that made a value for this sink or touched its memory in conflict."""
        needs = self.walker.needs(sink, tuple(f"a{axis}" for axis in range(len(sink.shape))))
        for number in range(len(self.open) - 1, 0, -1):
            opened = self.open[number]
            if any(value in opened.registers for value, _ in needs.leaves):
                return number
            if any(map(opened.touched.conflicts, needs.accesses)):
                return number
        return 0

    def _join(self, opened: OpenPhase, sink: Sink) -> bool:
        roles = assign_roles(sink, opened, self.walker)
        if roles is None:
            return False
        needs = self.walker.needs(sink, roles)
        sink.roles = roles
        lowest, fence_after = self._behind_its_values(opened, sink, needs), -1
        if lowest is None:
            return False
        accesses = [a for a in needs.accesses if a.writes or a.load not in opened.registers]
        for access in accesses:
            for item, before in opened.touched.before(access):
                how = relation(before, access, len(opened.phase.kept))
                if how == "block":
                    return False
                is_same_round = how == "own" and (sink.is_narrow or not _reads_back(before, access))
                lowest = max(lowest, item if is_same_round else item + 1)
                if how == "job":
                    fence_after = max(fence_after, item)
        if self.splits and not opened.phase.kept and not self._fits_first_round(opened, sink, lowest):
            return False
        number = self._put(opened, sink, lowest, fence_after)
        opened.touched.add((number, access) for access in accesses)
        if sink.kind in ("reduce", "pick"):
            opened.registers[sink.value] = (number, result_roles(sink))
        return True

    def _behind_its_values(self, opened: OpenPhase, sink: Sink, needs: Needs) -> int | None:
        """The first item in which every value that the sink reads is there; None if one is not."""
        lowest = opened.floor
        moment = moment_of(sink.value) if sink.kind == "reduce" and self.is_grouped else None
        reference = None if moment is None else moment.reference.reduction
        for value, _ in needs.leaves:
            if value not in opened.registers:
                if value not in self.walker.homes:
                    return None
                continue
            item, _ = opened.registers[value]  # at the roles at which it is read: `assign_roles` has tied its axes
            # A moment may be taken in the sweep that finds what it is relative to.
            lowest = max(lowest, item if sink.is_narrow or value is reference else item + 1)
        return lowest

    @staticmethod
    def _fits_first_round(opened: OpenPhase, sink: Sink, lowest: int) -> bool:
        items = opened.phase.items
        if lowest > 0:
            return False
        if not items or sink.is_narrow:
            return True
        first = items[0]
        return isinstance(first, Round) and (not first.wide or first.swept == swept_extents(sink))

    def _put(self, opened: OpenPhase, sink: Sink, lowest: int, fence_after: int) -> int:
        """Puts the sink into the first round that takes it, and gives that round's number."""
        items = opened.phase.items
        swept = swept_extents(sink)
        for number in range(lowest, len(items)):
            item = items[number]
            if isinstance(item, Round) and (sink.is_narrow or not item.wide or item.swept == swept):
                if not sink.is_narrow and not item.wide:
                    item.swept = swept
                item.sinks.append(sink)
                self._fence(items, number, fence_after)
                return number
        items.append(Round(() if sink.is_narrow else swept, [sink]))
        self._fence(items, len(items) - 1, fence_after)
        return len(items) - 1

    @staticmethod
    def _fence(items: list[Item], number: int, fence_after: int) -> None:
        if fence_after < 0:
            return
        item = items[number]
        if isinstance(item, Phase):
            return  # a phase ends with a barrier
        if not any(getattr(other, "fence", False) for other in items[fence_after + 1 : number + 1]):
            item.fence = True

    # --- new phases ------------------------------------------------------------------------------------------

    def _open_for(self, sink: Sink, following: list[Sink]) -> OpenPhase:
        """A phase whose kept axes suit the sink, or the next reduction that the sink can share a phase with."""
        if self.is_grouped and sink.kind != "reduce" and sink.kind != "pick":
            is_single = all(extent.is_one for extent in sink.shape)
            for later in following:
                if (later.kind == "reduce" or (is_single and len(later.shape) > 1)) and natural_kept(later):
                    trial = OpenPhase(Phase(natural_kept(later)))
                    if assign_roles(sink, trial, self.walker) is not None:
                        return trial
                    break
        return OpenPhase(Phase(natural_kept(sink)))

    # --- control flow ----------------------------------------------------------------------------------------

    def close(self, item: Item) -> None:
        """Appends an item outside any phase; no later sink may join what stands before it."""
        self.items.append(item)
        self.floor = len(self.open)


def conflict(before: Access, access: Access) -> bool:
    return before.memory == access.memory and (before.writes or access.writes)


def _reads_back(before: Access, access: Access) -> bool:
    """A read of what an earlier sink wrote (it must come in a later round)."""
    return before.writes and not access.writes


def natural_kept(sink: Sink) -> tuple[Extent, ...]:
    """The kept axes that the sink would choose alone: those that a reduction keeps; all but the last of a store."""
    if sink.kind == "reduce":
        axes = [axis for axis in range(len(sink.shape)) if axis not in sink.reduction.axes]
    elif sink.kind == "pick":
        axes = list(range(len(sink.shape) - 1))
    else:
        axes = [axis for axis, extent in enumerate(sink.shape) if not extent.is_one][:-1]
    return tuple(sink.shape[axis] for axis in axes if not sink.shape[axis].is_one)


def result_roles(sink: Sink) -> Roles:
    """Roles of the axes of a reduction's or pick's result."""
    if sink.kind == "pick":
        return (*sink.roles[:-1], ".")
    reduce = sink.reduction
    if reduce.keeps_axes:
        return tuple("." if axis in reduce.axes else role for axis, role in enumerate(sink.roles))
    return tuple(role for axis, role in enumerate(sink.roles) if axis not in reduce.axes)


def swept_extents(sink: Sink) -> tuple[Extent, ...]:
    return tuple(extent for extent, role in zip(sink.shape, sink.roles, strict=True) if role.startswith("s"))


def assign_roles(sink: Sink, opened: OpenPhase, walker: Walker) -> Roles | None:
    """Roles of the sink's axes in the phase, or None if the sink cannot be done by the phase's jobs.

    First the axes that are tied to registers of the phase, then by equal extents in order; every kept axis must be one
    of the sink's, a reduction's other axes must all be kept, the rest is swept.
    """
    kept = opened.phase.kept
    shape = sink.shape
    marks = tuple("." if extent.is_one else f"a{axis}" for axis, extent in enumerate(shape))
    sink.is_once = False
    fixed = _tied_axes(walker.needs(sink, marks), opened)
    if fixed is None:
        return None
    reduced = _reduced_axes(sink)
    if any(axis in reduced for axis in fixed):
        return None
    if _may_be_once(sink, opened, walker):
        sink.is_once = True
        return marks
    missing = [number for number in range(len(kept)) if number not in fixed.values()]
    for axis, extent in enumerate(shape):
        if extent.is_one or axis in fixed or axis in reduced:
            continue
        if missing and extent == kept[missing[0]]:
            fixed[axis] = missing.pop(0)
    if missing:
        return None
    if sink.kind in ("reduce", "pick") and any(
        axis not in fixed and axis not in reduced and not extent.is_one for axis, extent in enumerate(shape)
    ):
        return None
    roles: list[str] = []
    swept = 0
    for axis, extent in enumerate(shape):
        if extent.is_one:
            roles.append(".")
        elif axis in fixed:
            roles.append(f"k{fixed[axis]}")
        else:
            roles.append(f"s{swept}")
            swept += 1
    return tuple(roles)


def _may_be_once(sink: Sink, opened: OpenPhase, walker: Walker) -> bool:
    """Whether the sink is one element that needs nothing of the phase's jobs, so that the first job can do it."""
    kept = opened.phase.kept
    if not kept or sink.kind in ("reduce", "pick") or any(not extent.is_one for extent in sink.shape):
        return False
    if any((extent.constant or 0) < 1 for extent in kept):
        return False
    needs = walker.needs(sink, (".",) * len(sink.shape))
    return not any(value in opened.registers for value, _ in needs.leaves)


def _reduced_axes(sink: Sink) -> set[int]:
    if sink.kind == "reduce":
        return set(sink.reduction.axes)
    return {len(sink.shape) - 1} if sink.kind == "pick" else set()


def _tied_axes(needs: Needs, opened: OpenPhase) -> dict[int, int] | None:
    """Axis -> kept number for axes that index registers of the phase; None if they contradict each other.

    A register has all kept axes, in order, or none: where two contradict each other, a kept axis is tied twice.
    """
    tied: dict[int, int] = {}
    for value, read in needs.leaves:
        if value not in opened.registers:
            continue
        for role, made in zip(read, opened.registers[value][1], strict=True):
            if not made.startswith("k"):
                continue
            if not role.startswith("a"):
                return None
            tied[int(role[1:])] = int(made[1:])
    return tied if len(set(tied.values())) == len(tied) else None


def phase_rounds(items: list[Item]) -> list[Round]:
    """All rounds in items, those inside control flow too."""
    found: list[Round] = []
    for item in items:
        match item:
            case Round():
                found.append(item)
            case IfItem():
                found += phase_rounds(item.then) + phase_rounds(item.otherwise)
            case ForItem():
                found += phase_rounds(item.body)
            case WhileItem():
                found += phase_rounds(item.condition) + phase_rounds(item.body)
            case Phase():
                found += phase_rounds(item.items)
    return found
