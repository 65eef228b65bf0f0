"""Costs as text: what a sweep moves and computes, and what a launch costs in all."""

from __future__ import annotations

from collections.abc import Mapping

from tilec.plan.cost import DispatchCost, PlanCost, RoundCost, Stream


def bytes_text(count: float) -> str:
    """Such as `1.07 GB`, in powers of 1000."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def time_text(seconds: float) -> str:
    """Such as `0.757 ms`."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def sweep_lines(cost: RoundCost) -> list[str]:
    """What a sweep reads and computes."""
    reads = sorted((stream for stream in cost.streams if not stream.writes), key=lambda one: one.place)
    return [_read(stream) for stream in reads] + [_work(cost)]


def written_text(cost: RoundCost, place: str) -> str:
    """The bytes that the round writes to a place, as the end of a line; nothing if it does not."""
    for stream in cost.streams:
        if stream.writes and stream.place == place:
            return f": {bytes_text(stream.moved)}{_how(stream)}"
    return ""


def _read(stream: Stream) -> str:
    if stream.source == "registers":
        rest = f", and reads {bytes_text(stream.moved)} again" if stream.moved else ""
        return f"has {stream.place} in registers{rest}"
    if stream.source == "cache":
        return f"reads {stream.place}: {bytes_text(stream.touched)}, in the cache still"
    cached = f", {bytes_text(stream.touched)} with the cache" if stream.touched > stream.moved else ""
    return f"reads {stream.place}: {bytes_text(stream.moved)}{cached}{_how(stream)}"


def _how(stream: Stream) -> str:
    return "" if stream.is_vector or not stream.is_wide else ", single elements"


def _work(cost: RoundCost) -> str:
    functions = [f"{number} {name}" for name, number in cost.work.functions.items()]
    operations = f"about {round(cost.work.operations)} operations"
    return f"an element costs {', '.join([*functions, operations])}; {cost.elements:,} elements"


def print_cost(cost: PlanCost, dims: Mapping[str, int]) -> str:
    """The costs of a launch: traffic against the ideal, each dispatch, and the predicted time."""
    sizes = ", ".join(f"{name}={size}" for name, size in dims.items())
    where = f" on {cost.profile.name}" if cost.profile is not None else ""
    lines = [f"costs of {sizes or 'a launch'}{where}"]
    if not cost.is_exact:
        lines.append("  a loop's length is only known at a launch: one turn of it is counted")
    lines.append(f"  memory moves {bytes_text(cost.moved)}; once in and once out would be {_ideal(cost)}")
    if cost.scratch_bytes:
        lines.append(f"  scratch memory holds {bytes_text(cost.scratch_bytes)}")
    for number, dispatch in enumerate(cost.dispatches):
        lines.append(f"  dispatch {number}: {_dispatch(dispatch)}")
    if cost.seconds is not None and cost.ideal_seconds is not None:
        ideal = time_text(cost.ideal_seconds)
        lines.append(f"  predicted {time_text(cost.seconds)}; at the speed of a copy the ideal takes {ideal}")
        lines += _losses(cost, cost.seconds - cost.ideal_seconds)
    return "\n".join(lines) + "\n"


_WORTH_SAYING = 0.02
"""Of the ideal time."""


def _losses(cost: PlanCost, difference: float) -> list[str]:
    """Why a prediction is above its ideal; nothing where it hardly is."""
    least = _WORTH_SAYING * (cost.ideal_seconds or 0.0)
    if difference <= least:
        return []
    found = sorted(((seconds, reason) for reason, seconds in cost.losses.items() if seconds > least), reverse=True)
    reasons = "; ".join(f"{time_text(seconds)} {reason}" for seconds, reason in found)
    return [f"  {time_text(difference)} above the ideal: {reasons}"]


def _ideal(cost: PlanCost) -> str:
    parts = []
    for name, (read, written) in cost.ideal.items():
        if read:
            parts.append(f"{name} read {bytes_text(read)}")
        if written:
            parts.append(f"{name} written {bytes_text(written)}")
    return f"{bytes_text(cost.ideal_bytes)} ({', '.join(parts)})"


def _dispatch(cost: DispatchCost) -> str:
    groups = f"{cost.workgroups:,} workgroup{'' if cost.workgroups == 1 else 's'}"
    parts = [f"{groups} of {cost.dispatch.threads} threads", f"{bytes_text(cost.moved)} moved"]
    if cost.registers:
        parts.append(f"about {cost.registers} registers a lane")
    if cost.lowered is not None:
        looped = cost.lowered.looped_barriers
        barriers = f"{cost.lowered.barriers} barrier{'' if cost.lowered.barriers == 1 else 's'}"
        parts.append(barriers + (f" and {looped} in loops" if looped else ""))
        if cost.lowered.workgroup_bytes:
            parts.append(f"{cost.lowered.workgroup_bytes:,} bytes of workgroup memory")
    text = ", ".join(parts)
    return text if cost.seconds is None else f"{text}; {time_text(cost.seconds)}, bound by {cost.bound}"
