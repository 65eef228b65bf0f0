"""How the jobs of each phase meet threads.

On a GPU neighbouring lanes read neighbouring elements, so that a warp's loads are few transactions, and a job gets as
many lanes as it has work for. A software device runs the lanes of a short vector in one instruction but every barrier
as a switch of coroutines, and its loads are as many as its lanes however they lie: there a lane takes a whole job where
there are jobs enough, and a workgroup is a vector or a few.
"""

from __future__ import annotations

from dataclasses import replace

from tilec.facts import Facts
from tilec.options import Options
from tilec.plan.ir import Dispatch, Mapping, Phase, Round
from tilec.plan.packed import all_phases
from tilec.plan.rows import FEW_WORKGROUPS
from tilec.plan.schedule import phase_rounds
from tilec.tile import ir as tile
from tilec.types import Extent, element_count

_UNROLL = 4
"""Granules in flight a lane, where a granule is a vector."""
_GRANULES_A_LANE = 4
"""A row gets lanes until each has so many; more lanes would wait for each other longer than they read."""
_FEW_LANES = 128
_GRANULES_OF_MANY = 8
"""The same for rows of more lanes than a few, which wait longer at barriers."""
_LEAST_THREADS = 64
_MOST_THREADS_PACKED = 512
"""Of rows of 16-bit elements, whose lanes hold twice as many values, unless the rows are very long."""
_LONG_ROW = 1 << 16
_RESIDENT_VALUES = 64
"""Values of a row that a lane keeps in registers: a quarter of what the hardware can name."""
_RESIDENT_VALUES_PACKED = 32
"""The same of 16-bit values, which stay packed but are unpacked for each sweep: longer rows are streamed by several
workgroups a multiprocessor, whose sweeps overlap."""
_REGISTERS = 1 << 15
"""Values that all lanes of a workgroup keep: half of a multiprocessor's registers on the GPUs at hand."""
_KEPT_VALUES, _KEPT_VALUES_PACKED, _KEPT_BETWEEN_VECTORS = 40, 32, 16
"""Values a lane keeps of a row too long for registers, so that they are not read again; of rows that begin between
vectors fewer, since their ends take registers too. More of them spill."""
_TURNS = 2
"""Rows that fill a multiprocessor are taken two in turn: a warp that has stored its part of one reads the next, where a
workgroup of its own would begin only when all warps of the last have ended."""
_SCREENED = 16
"""Elements that are asked together whether one of them is singled out."""
_NEIGHBOURS = 32
"""Threads that read one stretch of memory together: a warp."""

_CPU_LANES = 8
_CPU_JOBS_AT_ONCE = 32
_CPU_JOBS_ENOUGH = 128
"""Jobs that keep the cores busy with one lane each."""
_CPU_ROW_LIMIT = 1 << 16
"""Longer rows are shared by lanes whatever the number of jobs: few threads with long work end at different times."""
_CPU_UNROLL = 8
"""Twice as many are a tenth faster and take the driver twice as long to compile."""


def choose_mappings(kernel: tile.Kernel, dispatches: list[Dispatch], facts: Facts, options: Options) -> None:
    """Fills in every phase's mapping and every dispatch's threads."""
    asked = options.threads or kernel.threads
    most = _power_of_two_at_most(min(asked or options.limits.invocations, options.limits.invocations))
    for dispatch in dispatches:
        if options.limits.is_cpu:
            _map_for_cpu(kernel, dispatch, most if asked else min(256, most), facts, options)
        else:
            _map_for_gpu(kernel, dispatch, most, bool(asked), facts, options)
        if dispatch.kind == "jobs":
            has_control = not all(isinstance(item, Round) for item in dispatch.phase.items)
            dispatch.merges_blocks = not has_control
            if not options.limits.is_cpu:
                _take_in_turn(kernel, dispatch, facts)
        for phase in all_phases(dispatch.items):
            _turn_sweeps(phase)


def _take_in_turn(kernel: tile.Kernel, dispatch: Dispatch, facts: Facts) -> None:
    """Lets lanes take several of the rows that fill a multiprocessor, where all multiprocessors have some."""
    phase, mapping = dispatch.phase, dispatch.phase.mapping
    fills = mapping.resident and not mapping.streams_rest and mapping.lanes > _MOST_THREADS_PACKED
    if not dispatch.merges_blocks or phase.rows is not None or not fills:
        return
    if facts.size_class(_count(kernel, dispatch, phase), (_TURNS * FEW_WORKGROUPS - 1,)) == 1:
        phase.mapping = replace(mapping, turns=_TURNS)


def _turn_sweeps(phase: Phase) -> None:
    """Lets every second streamed sweep over the same elements run backwards: the cache holds what was read last."""
    rounds = _wide_rounds(phase)
    is_straight = all(isinstance(item, Round) for item in phase.items)
    is_streamed = not phase.mapping.resident or phase.mapping.streams_rest
    if is_straight and is_streamed and len({item.swept for item in rounds}) == 1:
        for number, item in enumerate(rounds):
            item.is_backwards = number % 2 == 1


# --- GPUs ----------------------------------------------------------------------------------------------------


def _map_for_gpu(
    kernel: tile.Kernel, dispatch: Dispatch, most: int, is_asked: bool, facts: Facts, options: Options
) -> None:
    phases = all_phases(dispatch.items)
    if is_asked:
        threads = most
    elif any(_keeps_last_axis(_wide_rounds(phase)) or not _wide_rounds(phase) for phase in phases):
        threads = min(256, most)
    else:
        wanted = max((_gpu_lanes(phase, most, facts) for phase in phases), default=1)
        # Lanes that take packed rows in turn wait between them: meanwhile others of the workgroup go on.
        waits = any(phase.rows is not None and phase.granule > 4 for phase in phases)
        threads = min(most, max(_LEAST_THREADS, 2 * wanted if waits else wanted))
    dispatch.threads = threads
    for phase in phases:
        rounds = _wide_rounds(phase)
        lanes = _gpu_lanes(phase, threads, facts)
        if _keeps_last_axis(rounds):
            neighbours = _jobs_at_most(_count(kernel, dispatch, phase), _NEIGHBOURS, facts)
            lanes = max(1, min(lanes, threads // neighbours))
        phase.mapping = _mapping(phase, lanes, threads, _gpu_unroll(phase), facts, options)


def _gpu_unroll(phase: Phase) -> int:
    return _UNROLL if phase.granule == 1 or phase.granule >= 4 else max(1, 16 // phase.granule)


def _gpu_lanes(phase: Phase, most: int, facts: Facts) -> int:
    """Lanes for the longest sweep of a phase."""
    lanes = 1
    elements = phase.granule * _GRANULES_A_LANE if phase.granule >= 4 else 16
    for item in _wide_rounds(phase):
        total = element_count(item.swept)
        found = _lanes_for(total, most, elements, facts)
        if found > _FEW_LANES and phase.granule >= 4:
            found = max(_FEW_LANES, _lanes_for(total, most, phase.granule * _GRANULES_OF_MANY, facts))
            if phase.granule > 4 and found > _MOST_THREADS_PACKED and facts.at_most(total, _LONG_ROW):
                found = _MOST_THREADS_PACKED
        elif phase.granule < 4:
            found = min(found, 256)
        lanes = max(lanes, found)
    return lanes


def _lanes_for(size: Extent, most: int, elements: int, facts: Facts) -> int:
    """The least power of two of lanes, up to `most`, that leaves each at most so many elements."""
    bounds = []
    bound = elements
    while bound < elements * most:
        bounds.append(bound)
        bound *= 2
    size_class = facts.size_class(size, tuple(bounds))
    return most if size_class is None else 1 << size_class


def _jobs_at_most(count: Extent, limit: int, facts: Facts) -> int:
    """The jobs there are as a power of two that is at least as large, up to `limit`; that if it is not known."""
    bounds = tuple(1 << exponent for exponent in range(limit.bit_length() - 1))
    size_class = facts.size_class(count, bounds)
    return limit if size_class is None else 1 << size_class


# --- software devices ----------------------------------------------------------------------------------------


def _map_for_cpu(kernel: tile.Kernel, dispatch: Dispatch, threads: int, facts: Facts, options: Options) -> None:
    phases = all_phases(dispatch.items)
    lanes = {phase: min(threads, _cpu_lanes(phase, _count(kernel, dispatch, phase), facts)) for phase in phases}
    is_single = all(count == 1 for count in lanes.values())
    dispatch.threads = min(threads, _CPU_JOBS_AT_ONCE if is_single else _CPU_LANES)
    for phase in phases:
        granules = max(1, _CPU_UNROLL // phase.granule)
        stride = lanes[phase] * phase.granule
        widths = [element_count(item.swept) for item in _wide_rounds(phase)]
        is_short = any(facts.at_most(width, stride * granules - 1) for width in widths)
        unroll = _UNROLL if is_short else granules
        phase.mapping = _mapping(phase, lanes[phase], dispatch.threads, unroll, facts, options)


def _cpu_lanes(phase: Phase, count: Extent, facts: Facts) -> int:
    rounds = _wide_rounds(phase)
    if not rounds:
        return 1
    widths = [element_count(item.swept) for item in rounds]
    combines = any(sink.kind in ("reduce", "pick") for item in rounds for sink in item.wide)
    if combines and not facts.at_most(count, _CPU_JOBS_ENOUGH - 1):
        is_long = any(_is_over(width, facts) for width in widths)
        return _CPU_LANES if is_long else 1
    return max(_lanes_for(width, _CPU_LANES, 16, facts) for width in widths)


def _is_over(width: Extent, facts: Facts) -> bool:
    """Whether the row is known to be too long for one lane."""
    return facts.size_class(width, (_CPU_ROW_LIMIT,)) == 1


# --- both ----------------------------------------------------------------------------------------------------


def _mapping(phase: Phase, lanes: int, threads: int, unroll: int, facts: Facts, options: Options) -> Mapping:
    rounds = _wide_rounds(phase)
    granule = phase.granule
    jobs, jobs_fastest = threads // lanes, _keeps_last_axis(rounds)
    if any(sink.kind == "report" for item in rounds for sink in item.sinks):
        # What a report tells is long code, once for each element in flight: drivers take minutes for it.
        return Mapping(lanes, jobs, granule, phase.is_whole, jobs_fastest=jobs_fastest)
    resident, known, streams_rest = _residency(phase, lanes, threads, facts, options)
    is_streamed = not resident or streams_rest
    sweeps = {item.swept for item in rounds}
    return Mapping(
        lanes,
        jobs,
        granule,
        phase.is_whole,
        unroll,
        resident,
        known,
        jobs_fastest,
        cluster=max(1, min(lanes, options.limits.subgroup // (jobs if jobs_fastest else 1))),
        streams_rest=streams_rest,
        # Short kernels grow by more than they gain. (A software device, which executes both sides, has few lanes.)
        screened=max(granule, _SCREENED) if granule > 1 and lanes > _FEW_LANES else 0,
        turns=1 if phase.rows is None else phase.rows.turns,
        longest=_longest(sweeps, lanes * granule * unroll, facts) if is_streamed else 1 << 31,
    )


def _residency(phase: Phase, lanes: int, threads: int, facts: Facts, options: Options) -> tuple[int, int, bool]:
    """`Mapping.resident`, `width` and `streams_rest`."""
    rounds, granule = _wide_rounds(phase), phase.granule
    is_straight = all(isinstance(item, Round) for item in phase.items)
    if not is_straight or len({item.swept for item in rounds}) != 1 or len(rounds) < 2 or len(rounds[0].swept) != 1:
        return 0, 0, False
    width = rounds[0].swept[0]
    values = min(_RESIDENT_VALUES if granule <= 4 else _RESIDENT_VALUES_PACKED, _REGISTERS // threads)
    part = 0
    if not options.limits.is_cpu and (granule == 4 or (granule > 4 and lanes > _MOST_THREADS_PACKED)):
        part = _KEPT_VALUES_PACKED if granule > 4 else _KEPT_VALUES if phase.rows is None else _KEPT_BETWEEN_VECTORS
    if options.kept is not None:
        values, part = options.kept, options.kept if part else 0
    most = values // granule
    if most and facts.at_most(width, lanes * granule * most):
        known = facts.value(width) or 0
        resident = -(-known // (lanes * granule)) or most
        # Less the ends of rows that begin between vectors, which are no whole granules.
        return resident, known if phase.rows is None else max(0, known - 2 * granule + 2), False
    kept = lanes * granule * (part // granule)
    if kept and facts.size_class(width, (kept if phase.rows is None else kept + 2 * granule,)) == 1:
        return part // granule, kept, True
    return 0, 0, False


def _longest(sweeps: set[tuple[Extent, ...]], chunk: int, facts: Facts) -> int:
    """A bound of the sweeps' elements, by powers of 16 of what lanes take in a round; sums are carried in as many
    levels as that takes."""
    bounds = (16 * chunk - 1, 256 * chunk - 1)
    classes = [facts.size_class(element_count(swept), bounds) for swept in sweeps]
    return max((1 << 31 if each is None or each == len(bounds) else bounds[each] for each in classes), default=0)


def _wide_rounds(phase: Phase) -> list[Round]:
    return [item for item in phase_rounds(phase.items) if item.swept]


def _count(kernel: tile.Kernel, dispatch: Dispatch, phase: Phase) -> Extent:
    """The jobs that are spread over threads together: those of all blocks, or of one that a workgroup runs."""
    kept = element_count(phase.kept)
    return kept * element_count(kernel.grid) if dispatch.kind == "jobs" else kept


def _keeps_last_axis(rounds: list[Round]) -> bool:
    """Whether the contiguous axis of the data is a kept one."""
    for item in rounds:
        for sink in item.wide:
            roles = [role for role in sink.roles if role != "."]
            if roles:
                return roles[-1].startswith("k")
    return False


def _power_of_two_at_most(value: int) -> int:
    return 1 << (max(1, value).bit_length() - 1)
