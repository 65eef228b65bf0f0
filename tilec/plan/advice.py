"""What would have to change for a launch to cost less: the reasons why it moves more than the ideal, or waits."""

from __future__ import annotations

from tilec.plan.cost import DispatchCost, PlanCost
from tilec.plan.cost_text import bytes_text
from tilec.plan.ir import Plan
from tilec.tile import ir as tile

_WORTH_SAYING = 0.02
"""Of the traffic."""
_WORTH_WAITING = 0.1
"""Of the time."""


def advise(kernel: tile.Kernel, plan: Plan, cost: PlanCost) -> list[str]:
    """One sentence a reason, the most expensive kinds first; empty if nothing is lost."""
    found: list[str] = []
    for name, slot in plan.shadows.items():
        parameter = kernel.tensor(name)
        pitch, elements = parameter.dims[-1], parameter.dtype.elements_per_word
        found.append(
            f"neighbouring rows of {name} share words, so it is unpacked into {slot.name} and packed again: "
            f"{pitch} divisible by {elements} would spare both"
        )
    found += _again(plan, cost)
    for dispatch in cost.dispatches:
        found += _single(kernel, plan, dispatch, cost)
        found += _scratch(plan, dispatch, cost)
        found += _waiting(dispatch, cost)
    return list(dict.fromkeys(found))


def _matters(amount: int, cost: PlanCost) -> bool:
    return amount > _WORTH_SAYING * cost.moved


def _again(plan: Plan, cost: PlanCost) -> list[str]:
    """Tensors that memory gives more than once, in the sweeps of a row or in several dispatches."""
    found = []
    for name, (ideal, _) in cost.ideal.items():
        reading = [
            (dispatch, [one for one in dispatch.streams if one.memory == name and not one.writes and one.is_wide])
            for dispatch in cost.dispatches
        ]
        reading = [(dispatch, streams) for dispatch, streams in reading if sum(one.moved for one in streams)]
        more = sum(one.moved for _, streams in reading for one in streams) - ideal
        if name in plan.shadows or not _matters(more, cost):
            continue
        if len(reading) > 1:
            numbers = [str(cost.dispatches.index(dispatch)) for dispatch, _ in reading]
            found.append(
                f"{name} is read by the dispatches {', '.join(numbers)}, {bytes_text(more)} more than once: nothing "
                "stays on the chip from one to the next"
            )
        else:
            threads = reading[0][0].dispatch.threads
            found.append(
                f"{name} is read again, {bytes_text(more)} more than once: its rows are longer than what the registers "
                f"of {threads} threads keep, and the rows at work are more than the cache"
            )
    return found


def _single(kernel: tile.Kernel, plan: Plan, dispatch: DispatchCost, cost: PlanCost) -> list[str]:
    """Wide accesses of single elements, and why they are."""
    found = []
    for stream in dispatch.streams:
        if stream.is_vector or stream.is_scratch or not stream.is_wide or not _matters(stream.touched, cost):
            continue
        parameter = kernel.tensor(stream.memory)
        if parameter.dtype.size not in (2, 4) or stream.memory in plan.shadows:
            continue
        pitch, elements = parameter.dims[-1], 4 * parameter.dtype.elements_per_word
        if dispatch.dispatch.kind in ("pack", "unpack"):
            continue
        size = cost.sizes.get(str(pitch))
        if size is not None and size % elements:
            found.append(
                f"{pitch}={size}: rows of {stream.memory} start between vectors; {pitch} divisible by {elements} would "
                "allow vectors"
            )
        else:
            found.append(
                f"{stream.memory} is touched in single elements: its spans are not known to be whole vectors of "
                f"{elements}"
            )
    return found


def _scratch(plan: Plan, dispatch: DispatchCost, cost: PlanCost) -> list[str]:
    """Values that one sweep leaves for another in memory."""
    kept = [one for one in dispatch.streams if one.is_scratch and one.memory not in plan.shadows]
    amount = sum(stream.moved for stream in kept)
    if not dispatch.rounds or not _matters(amount, cost):
        return []
    names = ", ".join(dict.fromkeys(stream.memory for stream in kept))
    return [f"{names}: {bytes_text(amount)} of scratch memory, which sweeps that run together would not need"]


def _waiting(dispatch: DispatchCost, cost: PlanCost) -> list[str]:
    profile = cost.profile
    if profile is None or not dispatch.rounds:
        return []
    if cost.seconds and (dispatch.seconds or 0.0) < _WORTH_WAITING * cost.seconds:
        return []
    found = []
    filled = max(one.filled for one in dispatch.rounds.values())
    busy = max(1, round(dispatch.workgroups * filled))
    if busy < profile.cores:
        found.append(
            f"{busy} workgroup{'' if busy == 1 else 's'} for {profile.cores} cores: more rows, or rows that several "
            "workgroups share, would use the others"
        )
    if dispatch.bound in ("arithmetic", "functions", "barriers"):
        found.append(f"{dispatch.bound} takes longer than memory: fewer bytes would not help")
    elif dispatch.bound == "launch":
        found.append("launching takes longer than the work: a launch with more of it would cost little more")
    elif cost.seconds and dispatch.waiting_seconds > _WORTH_WAITING * cost.seconds:
        share = dispatch.waiting_seconds / cost.seconds
        found.append(
            f"{share:.0%} of the time goes into the first loads and the last lanes of sweeps: more rows a launch would "
            "lose less"
        )
    return found
