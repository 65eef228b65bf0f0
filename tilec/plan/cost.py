"""What a plan costs: for every sweep the bytes that it reads and writes, what it computes, and what it keeps; and from
these the time that it takes on a device.

Everything is counted for one launch with sizes that are known. Traffic is what memory has to move: what a lane keeps in
registers, or what the device's cache still holds when it is read again, is not in it. The ideal is each element that
the kernel needs read once, and each that it makes written once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tilec.plan.ir import Dispatch, Round
from tilec.plan.profile import Profile
from tilec.plan.work import Work


class UnknownSize(Exception):
    """A size that the costs need is not known: the name of a dim, or a value that only the launch has."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """What only the lowered code of a dispatch says: barriers that each thread meets once, those that stand in loops,
    and bytes of workgroup memory."""

    barriers: int
    looped_barriers: int
    workgroup_bytes: int


@dataclass(slots=True)
class Stream:
    """One access of a sweep, over the whole launch. `place` is the tensor or slot with its spans as text. Of the
    `touched` bytes, `moved` come from memory or go there. `source`: "memory", "cache" (read again, or by neighbours) or
    "registers". `is_vector`: four words at a time; `is_wide`: for each element of the sweep, not once a job."""

    memory: str
    place: str
    writes: bool
    touched: int
    moved: int
    source: str
    is_vector: bool
    is_scratch: bool
    is_wide: bool = True


@dataclass(slots=True)
class RoundCost:
    """One round, over the whole launch: `elements` of its sweep, the streams and the work an element. `filled` is the
    share of its jobs that have something to do: the last block may have rows that do not exist."""

    elements: int
    streams: list[Stream]
    work: Work
    filled: float = 1.0

    @property
    def moved(self) -> int:
        return sum(stream.moved for stream in self.streams)


@dataclass(slots=True)
class DispatchCost:
    """`seconds` is None without a profile; `bound` says what takes them: "memory", "arithmetic", "functions",
    "launch" or "barriers". `registers` is an estimate of 32-bit registers a lane."""

    dispatch: Dispatch
    workgroups: int
    rounds: dict[Round, RoundCost] = field(default_factory=dict)
    copied: list[Stream] = field(default_factory=list)
    """What packing and unpacking moves."""
    registers: int = 0
    lowered: Lowered | None = None
    seconds: float | None = None
    bound: str = ""
    slowest: str = ""
    """The slowest part beside launching and waiting."""
    memory_seconds: float = 0.0
    """Of them, what moving bytes would take alone."""
    busy_seconds: float = 0.0
    """What the slowest part takes; the rest of `seconds` is launching and waiting."""
    waiting_seconds: float = 0.0
    """For the first loads and the last lanes of its sweeps."""

    @property
    def streams(self) -> list[Stream]:
        return [*self.copied, *(stream for cost in self.rounds.values() for stream in cost.streams)]

    @property
    def moved(self) -> int:
        return sum(stream.moved for stream in self.streams)

    @property
    def operations(self) -> float:
        return sum(cost.elements * cost.work.operations for cost in self.rounds.values())

    @property
    def functions(self) -> float:
        return sum(cost.elements * cost.work.function_count for cost in self.rounds.values())


@dataclass(slots=True)
class PlanCost:
    """`ideal` bytes by tensor, (read, written); `sizes` the dims. `is_exact` is False where only a launch knows how
    long a loop is: one turn is counted then."""

    dispatches: list[DispatchCost]
    sizes: dict[str, int]
    ideal: dict[str, tuple[int, int]]
    scratch_bytes: int
    is_exact: bool
    profile: Profile | None

    @property
    def moved(self) -> int:
        return sum(dispatch.moved for dispatch in self.dispatches)

    @property
    def ideal_bytes(self) -> int:
        return sum(read + written for read, written in self.ideal.values())

    @property
    def seconds(self) -> float | None:
        """The predicted time of a launch, None without a profile."""
        times = [dispatch.seconds for dispatch in self.dispatches]
        return None if self.profile is None else sum(time or 0.0 for time in times)

    @property
    def ideal_seconds(self) -> float | None:
        """The time that the ideal bytes take in one dispatch."""
        if self.profile is None:
            return None
        return self.profile.dispatch_seconds + self.ideal_bytes / self.profile.bandwidth

    @property
    def losses(self) -> dict[str, float]:
        """What the predicted time has above the ideal, by reason, in seconds; together they are the difference."""
        if self.profile is None:
            return {}
        beyond: dict[str, float] = {}
        for dispatch in self.dispatches:
            more = dispatch.busy_seconds - dispatch.memory_seconds
            if more > 0.0:
                reason = f"{dispatch.slowest}, beyond what memory takes"
                beyond[reason] = beyond.get(reason, 0.0) + more
        moving = sum(dispatch.memory_seconds for dispatch in self.dispatches)
        count, sweeps = len(self.dispatches), sum(len(dispatch.rounds) for dispatch in self.dispatches)
        found = {
            f"launching {count} dispatches instead of one": (count - 1) * self.profile.dispatch_seconds,
            f"first loads and last lanes of {sweeps} sweep{'' if sweeps == 1 else 's'}": sum(
                dispatch.waiting_seconds for dispatch in self.dispatches
            ),
            "moving more or more slowly than a copy": moving - self.ideal_bytes / self.profile.bandwidth,
            **beyond,
        }
        return {reason: seconds for reason, seconds in found.items() if seconds}
