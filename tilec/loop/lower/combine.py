"""Combining the states of a job's lanes through workgroup memory, in a fixed order.

Up to 16 lanes: each lane writes its part, all read all after one barrier. More: 16 parts become one first, by the first
lanes, and all read those. A second set of arrays keeps the next writer from overtaking a slow reader.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.loop import ir
from tilec.loop.lower.arith import add, compare, const, multiply
from tilec.loop.lower.frame import Frame, thread_number
from tilec.loop.lower.states import State
from tilec.plan.ir import Mapping
from tilec.tile import ir as tile

_FOLD = 16


def combine(frame: Frame, states: list[State], mapping: Mapping) -> None:
    """Makes every lane of a job hold the combined results, as registers."""
    settle_components(frame, states, combined(frame, states, mapping))


def combined(frame: Frame, states: list[State], mapping: Mapping) -> list[list[ir.Expr]]:
    """The components of each state, combined over the lanes of a job."""
    return over_lanes(frame, states, [state.components(frame.code) for state in states], mapping)


def settle_components(frame: Frame, states: list[State], components: list[list[ir.Expr]]) -> None:
    """Turns combined components into the registers of the reductions."""
    for state, parts in zip(states, components, strict=True):
        for value, result in state.results(frame.code, parts):
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
    code, lanes = frame.code, mapping.lanes
    if lanes == 1:
        return [list(parts) for parts in components]
    flat = [part for parts in components for part in parts]
    last = [frame.shared_array(("b", n, p.dtype), f"parts_{n}", p.dtype, frame.threads) for n, p in _numbered(flat)]
    if lanes <= _FOLD:
        if frame.shared_is_read:
            code.emit(ir.Barrier(False))
        for array, part in zip(last, flat, strict=True):
            code.emit(ir.SharedStore(array, thread_number(), part))
        code.emit(ir.Barrier(False))
        frame.shared_is_read = True
        return _folded(frame, states, components, last, [_place(frame, mapping, const(n)) for n in range(lanes)])
    groups = lanes // _FOLD
    first = [frame.shared_array(("a", n, p.dtype), f"lanes_{n}", p.dtype, frame.threads) for n, p in _numbered(flat)]
    for array, part in zip(first, flat, strict=True):
        code.emit(ir.SharedStore(array, thread_number(), part))
    code.emit(ir.Barrier(False))
    with code.when(code.let("folds", compare("lt", frame.lane, const(groups)))):
        start = code.let("first", multiply(frame.lane, const(_FOLD)))
        places = [_place(frame, mapping, add(start, const(number))) for number in range(_FOLD)]
        folded = _folded(frame, states, components, first, places)
        for array, part in zip(last, [part for parts in folded for part in parts], strict=True):
            code.emit(ir.SharedStore(array, _place(frame, mapping, frame.lane), part))
    code.emit(ir.Barrier(False))
    frame.shared_is_read = True
    return _folded(frame, states, components, last, [_place(frame, mapping, const(n)) for n in range(groups)])


def _numbered(parts: list[ir.Expr]) -> list[tuple[int, ir.Expr]]:
    return list(enumerate(parts))


def _folded(
    frame: Frame,
    states: list[State],
    components: Sequence[Sequence[ir.Expr]],
    arrays: list[ir.SharedArray],
    places: list[ir.Expr],
) -> list[list[ir.Expr]]:
    """The states combined from what `arrays` (one a component, all states in order) hold at `places`."""
    code = frame.code
    bound = [code.let("place", place) for place in places]
    result: list[list[ir.Expr]] = []
    number = 0
    for state, parts in zip(states, components, strict=True):
        own = arrays[number : number + len(parts)]
        number += len(parts)
        lanes = [[code.let("part", ir.SharedLoad(array, place)) for array in own] for place in bound]
        result.append(state.fold(code, lanes))
    return result


def _place(frame: Frame, mapping: Mapping, lane: ir.Expr) -> ir.Expr:
    """The thread that is this lane of the same job."""
    if mapping.jobs == 1:
        return lane
    if mapping.jobs_fastest:
        return add(multiply(lane, const(mapping.jobs)), frame.slot)
    return add(multiply(frame.slot, const(mapping.lanes)), lane)
