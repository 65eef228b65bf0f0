"""Long sweeps of a single job: shared by many workgroups, whose states a second dispatch combines in a fixed order."""

from __future__ import annotations

from dataclasses import replace

from tilec.facts import Facts
from tilec.ops.reduce import REDUCTIONS
from tilec.plan.ir import Dispatch, Round, Slot
from tilec.tile import ir as tile
from tilec.types import DType, Extent, apply, element_count

_ELEMENTS_A_PART = 1 << 13
_MOST_PARTS = 512
_WORTH_SPLITTING = 1 << 15


def split_long_sweeps(dispatches: list[Dispatch], facts: Facts) -> list[Dispatch]:
    """In a kernel of one block, every dispatch of one job with one wide round becomes a "split" and, where it reduces,
    a "finish"."""
    result: list[Dispatch] = []
    for dispatch in dispatches:
        total = _swept(dispatch)
        if total is None or facts.at_most(total, _WORTH_SPLITTING):
            result.append(dispatch)
            continue
        phase, item = dispatch.phase, dispatch.round
        phase.mapping = replace(phase.mapping, lanes=dispatch.threads, jobs=1, resident=0)
        parts = apply("min", apply("ceildiv", total, Extent.of(_ELEMENTS_A_PART)), Extent.of(_MOST_PARTS))
        partials = tuple(
            Slot(f"partial_{number}", dtype, (parts,), is_shared=True)
            for number, dtype in enumerate(component_dtypes(item.reductions))
        )
        result.append(
            Dispatch("split", dispatch.threads, [phase], parts=parts, partials=partials, vectors=dispatch.vectors)
        )
        if partials or item.narrow:
            result.append(Dispatch("finish", dispatch.threads, [phase], parts=parts, partials=partials))
    return result


def _swept(dispatch: Dispatch) -> Extent | None:
    """The number of elements of the only sweep of the only job, None if the dispatch is anything else."""
    if dispatch.kind != "jobs":
        return None
    phase = dispatch.phase
    if phase.kept or len(phase.items) != 1 or not isinstance(phase.items[0], Round):
        return None
    item = dispatch.round
    if not item.wide or any(sink.kind == "pick" for sink in item.wide):
        return None
    return element_count(item.swept)


def group_states(reductions: list[tile.Reduce]) -> list[list[tile.Reduce]]:
    """Reductions that share a state: a `rest` and the `max` of the same values; every other one is alone."""
    groups: list[list[tile.Reduce]] = []
    taken: set[tile.Value] = set()
    for rest in reductions:
        if rest.op == "rest" and rest not in taken:
            group = [
                r for r in reductions if r.op in ("rest", "max") and r.operand is rest.operand and r.axes == rest.axes
            ]
            taken.update(group)
            groups.append(group)
    return groups + [[reduction] for reduction in reductions if reduction not in taken]


def component_dtypes(reductions: list[tile.Reduce]) -> list[DType]:
    """The dtypes of the components of all states of `reductions`, in the order of `group_states`."""
    dtypes: list[DType] = []
    for group in group_states(reductions):
        state = REDUCTIONS[group[0].op].state if len(group) == 1 else "shifted"
        match state:
            case "shifted":
                dtypes += [DType.F32, DType.F32, DType.BOOL]
            case "best":
                dtypes += [group[0].operand.type.dtype, DType.I32]
            case _:
                dtypes.append(group[0].type.dtype)
    return dtypes
