"""The order in which the sinks of a segment are scheduled."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TypeAlias

from tilec.diag.deadline import check_time
from tilec.plan.ir import Sink
from tilec.plan.schedule import NeedsHome
from tilec.plan.walk import Access, Walker
from tilec.tile import ir as tile

_Touch: TypeAlias = "tuple[int, int, bool, Access]"
"""The number of a sink, the time of its access, whether it writes, the access."""


def ordered(segment: list[Sink], walker: Walker, position: dict[tile.Value, int]) -> list[Sink]:
    """The sinks so that every value is made before it is read and every access of memory happens at its version.

    A load is recomputed wherever it is needed, so a sink that reads what was loaded before a later store goes before
    that store, even if it stands behind it. Where that is impossible the load is published (NeedsHome).
    """
    before: dict[int, set[int]] = {number: set() for number in range(len(segment))}
    makers = {sink.value: number for number, sink in enumerate(segment) if sink.kind in ("reduce", "pick")}
    touches: dict[object, list[_Touch]] = {}
    for number, sink in enumerate(segment):
        check_time(sink.value.span)
        marks = tuple(f"a{axis}" for axis in range(len(sink.shape)))
        needs = walker.needs(sink, marks)
        for value, _ in needs.leaves:
            maker = makers.get(value)
            if maker is not None and maker != number:
                before[number].add(maker)
        for access in needs.accesses:
            time = sink.position * 2 + 1 if access.writes else _time(access, position)
            touches.setdefault(access.memory, []).append((number, time, access.writes, access))
    backward: dict[tuple[int, int], tile.Value] = {}
    for accesses in touches.values():
        writes = sorted((touch for touch in accesses if touch[2]), key=lambda touch: touch[1])
        times = [touch[1] for touch in writes]
        for number, time, is_write, access in accesses:
            for other, other_time, _, _ in _next_to(writes, times, number, time):
                if is_write and other_time == time:
                    continue
                first, second = (number, other) if time < other_time else (other, number)
                before[second].add(first)
                is_late = first == number and segment[number].position > segment[other].position
                if is_late and access.load is not None:
                    backward[(first, second)] = access.load
    return _sorted(segment, before, backward)


def _next_to(writes: list[_Touch], times: list[int], number: int, time: int) -> Iterator[_Touch]:
    """The last write of another sink before `time` and the first after it: writes are in one order among themselves, so
    that the others follow."""
    for direction, start in ((-1, bisect_left(times, time) - 1), (1, bisect_right(times, time))):
        while 0 <= start < len(writes) and writes[start][0] == number:
            start += direction
        nearest = start
        while 0 <= start < len(writes) and times[start] == times[nearest]:
            yield writes[start]
            start += direction


def _time(access: Access, position: dict[tile.Value, int]) -> int:
    """When a read's version was current. What a loop carries is older than anything in its body."""
    load = access.load
    assert load is not None
    if isinstance(load, tile.Argument):
        return -1
    return position[load] * 2 + 2  # behind what is stored or published at its own place


def _sorted(
    segment: list[Sink], before: dict[int, set[int]], backward: dict[tuple[int, int], tile.Value]
) -> list[Sink]:
    done: list[int] = []
    missing = {number: len(earlier) for number, earlier in before.items()}
    after: dict[int, list[int]] = {}
    for number, earlier in before.items():
        for other in earlier:
            after.setdefault(other, []).append(number)
    ready = [number for number, count in missing.items() if count == 0]  # ascending, so already a heap
    while ready:
        number = heappop(ready)
        done.append(number)
        for later in after.get(number, ()):
            missing[later] -= 1
            if missing[later] == 0:
                heappush(ready, later)
    if len(done) < len(segment):
        waiting = set(range(len(segment))) - set(done)
        raise NeedsHome({load for (first, second), load in backward.items() if first in waiting and second in waiting})
    return [segment[number] for number in done]
