"""How the jobs of each phase meet threads."""

from __future__ import annotations

from tilec.facts import Facts
from tilec.options import Options
from tilec.plan.ir import Dispatch, Mapping, Phase, Round
from tilec.plan.packed import all_phases
from tilec.plan.schedule import phase_rounds
from tilec.tile import ir as tile
from tilec.types import Extent

_ELEMENTS_A_LANE = 16
_RESIDENT_GRANULES = 16
_UNROLL = 4


def choose_mappings(kernel: tile.Kernel, dispatches: list[Dispatch], facts: Facts, options: Options) -> None:
    """Fills in every phase's mapping and every dispatch's threads."""
    most = _power_of_two_at_most(min(options.threads or kernel.threads or 256, options.limits.invocations))
    for dispatch in dispatches:
        for phase in all_phases(dispatch.items):
            phase.mapping = _mapping(phase, most, facts)
        dispatch.threads = most
        if dispatch.kind == "jobs":
            phase = dispatch.items[0]
            has_control = not all(isinstance(item, Round) for item in phase.items)
            dispatch.merges_blocks = not has_control


def _mapping(phase: Phase, threads: int, facts: Facts) -> Mapping:
    rounds = [item for item in phase_rounds(phase.items) if item.swept]
    lanes = 1
    for item in rounds:
        lanes = max(lanes, _lanes_for(_product(item.swept), threads, facts))
    granule = phase.granule
    resident = 0
    wide = {item.swept for item in rounds}
    is_straight = all(isinstance(item, Round) for item in phase.items)
    if is_straight and len(wide) == 1 and len(rounds) > 1 and len(rounds[0].swept) == 1:
        width = rounds[0].swept[0]
        if facts.at_most(width, lanes * granule * _RESIDENT_GRANULES):
            value = facts.value(width)
            resident = -(-value // (lanes * granule)) if value is not None else _RESIDENT_GRANULES
    return Mapping(lanes, threads // lanes, granule, _UNROLL, resident, _keeps_last_axis(rounds))


def _lanes_for(size: Extent, threads: int, facts: Facts) -> int:
    bounds = []
    bound = _ELEMENTS_A_LANE
    while bound < _ELEMENTS_A_LANE * threads:
        bounds.append(bound)
        bound *= 2
    size_class = facts.size_class(size, tuple(bounds))
    return threads if size_class is None else 1 << size_class


def _keeps_last_axis(rounds: list[Round]) -> bool:
    """Whether the contiguous axis of the data is a kept one."""
    for item in rounds:
        for sink in item.wide:
            roles = [role for role in sink.roles if role != "."]
            if roles:
                return roles[-1].startswith("k")
    return False


def _product(extents: tuple[Extent, ...]) -> Extent:
    total = Extent.of(1)
    for extent in extents:
        total = total * extent
    return total


def _power_of_two_at_most(value: int) -> int:
    return 1 << (max(1, value).bit_length() - 1)
