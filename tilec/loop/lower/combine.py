"""Combining the states of a job's lanes through workgroup memory, in a fixed order.

Up to 16 lanes: each lane writes its part, all read all after one barrier. More: 16 parts become one first, by as many
lanes as that takes, until there are at most 16. States that do not fit workgroup memory together are combined one
batch after the other. Where lanes may shuffle, `cluster` does it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tilec.loop import ir
from tilec.loop.lower.arith import add, compare, const, multiply
from tilec.loop.lower.cluster import combine_clusters
from tilec.loop.lower.frame import Frame, load_shared, store_shared, thread_number
from tilec.loop.lower.moments import MeanState
from tilec.loop.lower.states import State
from tilec.plan.groups import component_dtypes
from tilec.plan.ir import Mapping, Phase, Round
from tilec.plan.schedule import phase_rounds
from tilec.tile import ir as tile
from tilec.types import DType

_FOLD = 16

EvaluateFor: TypeAlias = "Callable[[State, tile.Value], ir.Expr]"
"""Gives a value of the job that results of the state are relative to."""


def combine(frame: Frame, states: list[State], mapping: Mapping, evaluate: EvaluateFor) -> None:
    """Makes every lane of a job hold the combined results, as registers."""
    settle_components(frame, states, combined(frame, states, mapping), evaluate)


def combined(frame: Frame, states: list[State], mapping: Mapping) -> list[list[ir.Expr]]:
    """The components of each state, combined over the lanes of a job."""
    return over_lanes(frame, states, [state.components(frame.code) for state in states], mapping)


def settle_components(
    frame: Frame, states: list[State], components: list[list[ir.Expr]], evaluate: EvaluateFor
) -> None:
    """Turns combined components into the registers of the reductions; those that need others' results last."""
    for state, parts in sorted(zip(states, components, strict=True), key=lambda pair: isinstance(pair[0], MeanState)):
        for value, result in state.results(frame.code, parts, lambda inner, state=state: evaluate(state, inner)):
            set_register(frame, value, result)


def set_register(frame: Frame, value: tile.Value, result: ir.Expr) -> None:
    """Makes `result` the register of `value`."""
    local = frame.predeclared.get(value)
    if local is None:
        frame.registers[value] = frame.code.let(value.name or "result", result)
    else:
        frame.code.assign(local, result)
        frame.registers[value] = local


def over_lanes(
    frame: Frame, states: list[State], components: Sequence[Sequence[ir.Expr]], mapping: Mapping
) -> list[list[ir.Expr]]:
    """One lane's components each, combined in every lane of the job."""
    if mapping.lanes == 1:
        return [list(parts) for parts in components]
    result: list[list[ir.Expr]] = []
    batch: list[tuple[State, Sequence[ir.Expr]]] = []
    for pair in zip(states, components, strict=True):
        if batch and sum(len(parts) for _, parts in (*batch, pair)) > _components_at_once(frame, mapping):
            result += _combine_batch(frame, batch, mapping)
            batch = []
        batch.append(pair)
    return result + _combine_batch(frame, batch, mapping)


def choose_arrays(frame: Frame, phases: list[Phase]) -> None:
    """Decides whether components of all types share arrays: batches use the same arrays, but each type has its own."""
    most: Counter[DType] = Counter()
    at_once = min((_components_at_once(frame, phase.mapping) for phase in phases), default=0)
    for item in phase_rounds([*phases]):
        dtypes = component_dtypes(item, frame.plan.trusts_exp)
        for dtype, count in Counter(DType.U32 if dtype is DType.BOOL else dtype for dtype in dtypes).items():
            most[dtype] = max(most[dtype], min(count, at_once))
    frame.shares_words = most.total() > at_once


def may_alternate(frame: Frame, phase: Phase) -> bool:
    """Whether lanes that take jobs in turn exchange once a job, and memory is there twice for an exchange over
    clusters: see `Frame.turn`."""
    mapping = phase.mapping
    rounds = [item for item in phase.items if isinstance(item, Round)]
    counts = [count for item in rounds if (count := len(component_dtypes(item, frame.plan.trusts_exp)))]
    is_once = len(rounds) == len(phase.items) and len(counts) == 1
    return is_once and 2 * counts[0] <= _components_at_once(frame, mapping)


def _components_at_once(frame: Frame, mapping: Mapping) -> int:
    """How many components workgroup memory holds for all threads, the folded parts included."""
    if mapping.cluster > 1:
        return frame.workgroup_words // (2 * max(1, frame.threads // mapping.cluster))
    return frame.workgroup_words // (frame.threads + frame.threads // _FOLD + 1)


def _combine_batch(
    frame: Frame, batch: list[tuple[State, Sequence[ir.Expr]]], mapping: Mapping
) -> list[list[ir.Expr]]:
    if mapping.cluster > 1:
        return combine_clusters(frame, batch, mapping)
    code, lanes = frame.code, mapping.lanes
    parts = [part for _, parts in batch for part in parts]
    if frame.shared_is_read:
        code.emit(ir.Barrier(False))
    arrays = _arrays(frame, "lanes", parts, frame.threads)
    for array, part in zip(arrays, parts, strict=True):
        store_shared(frame, array, thread_number(), part)
    code.emit(ir.Barrier(False))
    count, level = lanes, 0
    while count > _FOLD:
        groups = count // _FOLD
        few = _arrays(frame, f"groups_{level}" if level else "groups", parts, mapping.jobs * groups)
        with code.when(code.let("folds", compare("lt", frame.lane, const(groups)))):
            start = code.let("first", multiply(frame.lane, const(_FOLD)))
            places = [_part_place(frame, mapping, add(start, const(n)), count, level) for n in range(_FOLD)]
            folded = [part for parts in _folded(frame, batch, arrays, places) for part in parts]
            group = add(multiply(frame.slot, const(groups)), frame.lane)
            for array, part in zip(few, folded, strict=True):
                store_shared(frame, array, group, part)
        code.emit(ir.Barrier(False))
        arrays, count, level = few, groups, level + 1
    # Level 0's arrays are written next; those of other levels only behind another barrier.
    frame.shared_is_read = not level
    return _folded(
        frame, batch, arrays, [_part_place(frame, mapping, const(n), count, level) for n in range(count)]
    )


def _part_place(frame: Frame, mapping: Mapping, number: ir.Expr, count: int, level: int) -> ir.Expr:
    """Where part `number` of the job's `count` parts is: one a lane at first, then one a group."""
    return add(multiply(frame.slot, const(count)), number) if level else _place(frame, mapping, number)


def _arrays(frame: Frame, name: str, parts: list[ir.Expr], length: int) -> list[ir.SharedArray]:
    dtypes = [DType.U32 if frame.shares_words else part.dtype for part in parts]
    return [
        frame.shared_array((name, number, dtype), f"{name}_{number}", dtype, length)
        for number, dtype in enumerate(dtypes)
    ]


def _folded(
    frame: Frame, batch: list[tuple[State, Sequence[ir.Expr]]], arrays: list[ir.SharedArray], places: list[ir.Expr]
) -> list[list[ir.Expr]]:
    """The states combined from what `arrays` (one a component, all states in order) hold at `places`."""
    code = frame.code
    bound = [code.let("place", place) for place in places]
    result: list[list[ir.Expr]] = []
    number = 0
    for state, parts in batch:
        own = arrays[number : number + len(parts)]
        number += len(parts)
        lanes = [
            [
                code.let("part", load_shared(array, place, part.dtype))
                for array, part in zip(own, parts, strict=True)
            ]
            for place in bound
        ]
        result.append(state.fold(code, lanes))
    return result


def _place(frame: Frame, mapping: Mapping, lane: ir.Expr) -> ir.Expr:
    """The thread that is this lane of the same job."""
    if mapping.jobs == 1:
        return lane
    if mapping.jobs_fastest:
        return add(multiply(lane, const(mapping.jobs)), frame.slot)
    return add(multiply(frame.slot, const(mapping.lanes)), lane)
