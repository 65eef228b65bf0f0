"""Stores into packed tensors: a word has one owner, or a shadow of 32-bit elements stands for the tensor meanwhile."""

from __future__ import annotations

from tilec.facts import Facts
from tilec.plan.ir import ForItem, IfItem, Item, Phase, Sink, Slot, WhileItem
from tilec.plan.schedule import phase_rounds
from tilec.tile import ir as tile
from tilec.tile.affine import extent_of
from tilec.types import DType


def place_packed(kernel: tile.Kernel, items: list[Item], facts: Facts) -> dict[str, Slot]:
    """Marks the granular stores and widens their phases' granules; returns a shadow slot for every other packed tensor
    that is stored."""
    stores: dict[str, list[tuple[Phase, Sink]]] = {}
    for phase in all_phases(items):
        for item in phase_rounds(phase.items):
            for sink in item.sinks:
                if sink.kind == "store" and kernel.tensor(sink.store.tensor).dtype.elements_per_word > 1:
                    stores.setdefault(sink.store.tensor, []).append((phase, sink))
    shadows: dict[str, Slot] = {}
    granules: dict[Phase, int] = {}
    for name, uses in stores.items():
        parameter = kernel.tensor(name)
        if any(phase.rows is not None for phase, _ in uses):
            if all(phase.rows is not None and name in phase.rows.tensors for phase, _ in uses):
                for _, sink in uses:
                    sink.granular = True
                continue
        elif all(_has_word_owner(sink, parameter, facts) for _, sink in uses):
            for phase, sink in uses:
                sink.granular = True
                granules[phase] = max(granules.get(phase, 1), parameter.dtype.elements_per_word)
            continue
        shadows[name] = Slot(f"{name}_shadow", parameter.dtype.compute, parameter.dims, is_shared=True)
    for phase, granule in granules.items():
        phase.granule = granule
    return shadows


def _has_word_owner(sink: Sink, parameter: tile.TensorParameter, facts: Facts) -> bool:
    """Whether the lane of a granule is the only one of the whole launch to store into the granule's words."""
    elements = parameter.dtype.elements_per_word
    last = sink.store.indices[-1]
    if parameter.dtype is DType.I64 or not isinstance(last, tile.SpanIndex):
        return False
    if sink.roles[-1] != "s0" or sum(role.startswith("s") for role in sink.roles) != 1:
        return False
    pitch = parameter.dims[-1]
    is_single_row = len(parameter.dims) == 1
    if not (is_single_row or facts.divides(elements, pitch)):
        return False
    start = extent_of(last.start)
    if not all(factor % elements == 0 for _, factor in start.terms):
        return False
    return facts.divides(elements, last.count) or (last.count == pitch and start.constant == 0)


def all_phases(items: list[Item]) -> list[Phase]:
    """Phases in items, those inside control flow too."""
    found: list[Phase] = []
    for item in items:
        match item:
            case Phase():
                found.append(item)
            case IfItem():
                found += all_phases(item.then) + all_phases(item.otherwise)
            case ForItem():
                found += all_phases(item.body)
            case WhileItem():
                found += all_phases(item.condition) + all_phases(item.body)
    return found
