"""The order in which the sinks of a segment are scheduled."""

from __future__ import annotations

from tilec.plan.ir import Sink
from tilec.plan.schedule import NeedsHome
from tilec.plan.walk import Access, Walker
from tilec.tile import ir as tile


def ordered(segment: list[Sink], walker: Walker, position: dict[tile.Value, int]) -> list[Sink]:
    """The sinks so that every value is made before it is read and every access of memory happens at its version.

    A load is recomputed wherever it is needed, so a sink that reads what was loaded before a later store goes before
    that store, even if it stands behind it. Where that is impossible the load is published (NeedsHome).
    """
    before: dict[int, set[int]] = {number: set() for number in range(len(segment))}
    makers = {sink.value: number for number, sink in enumerate(segment) if sink.kind in ("reduce", "pick")}
    touches: dict[object, list[tuple[int, int, bool, Access]]] = {}
    for number, sink in enumerate(segment):
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
        writes = [touch for touch in accesses if touch[2]]
        for number, time, is_write, access in accesses:
            for other, other_time, _, _ in writes:
                if other == number or (is_write and other_time == time):
                    continue
                first, second = (number, other) if time < other_time else (other, number)
                before[second].add(first)
                is_late = first == number and segment[number].position > segment[other].position
                if is_late and access.load is not None:
                    backward[(first, second)] = access.load
    return _sorted(segment, before, backward)


def _time(access: Access, position: dict[tile.Value, int]) -> int:
    """When a read's version was current. What a loop carries is older than anything in its body."""
    load = access.load
    assert load is not None
    if isinstance(load, tile.Argument):
        return -1
    return position[load] * 2 + (0 if isinstance(load, tile.Load) and isinstance(access.memory, str) else 2)


def _sorted(
    segment: list[Sink], before: dict[int, set[int]], backward: dict[tuple[int, int], tile.Value]
) -> list[Sink]:
    done: list[int] = []
    waiting = set(range(len(segment)))
    while waiting:
        ready = [number for number in sorted(waiting) if not (before[number] & waiting)]
        if not ready:
            loads = {load for (first, second), load in backward.items() if first in waiting and second in waiting}
            raise NeedsHome(loads)
        done.append(ready[0])
        waiting.remove(ready[0])
    return [segment[number] for number in done]
