"""Which results of a job's sweeps are needed at all: conditions of the job that are known before the sweep."""

from __future__ import annotations

from collections.abc import Iterable

from tilec.plan.ir import ForItem, IfItem, Item, Phase, Round, Sink, Slot, WhileItem
from tilec.plan.walk import Walker
from tilec.tile import ir as tile
from tilec.tile.needed import Need, find_needs, strongest


def attach_needs(kernel: tile.Kernel, items: list[Item], walker: Walker) -> dict[tile.Value, tuple[Need, ...]]:
    """Fills in `Sink.needs` and gives the loads that are needed under conditions only, for `Plan.needed`.

    A condition must be computable before the sweep, whenever that is: from results of earlier rounds, and from memory
    that the kernel does not write.
    """
    return _Attacher(kernel, walker).attach(items)


class _Attacher:
    def __init__(self, kernel: tile.Kernel, walker: Walker) -> None:
        self._walker = walker
        self._needs = find_needs(kernel)
        self._leaves: dict[tile.Value, frozenset[tile.Value] | None] = {}

    def attach(self, items: list[Item]) -> dict[tile.Value, tuple[Need, ...]]:
        self._items(items, set())
        loads = {value: self._known(value, ()) for value in self._needs if isinstance(value, tile.Load)}
        return {load: needs for load, needs in loads.items() if needs}

    def _items(self, items: list[Item], made: set[tile.Value]) -> None:
        for item in items:
            match item:
                case Phase():
                    self._items(item.items, set())
                case Round():
                    own = [sink for sink in item.wide if sink.kind in ("reduce", "pick")]
                    for sink in own:
                        sink.needs = self._known(sink.value, made)
                    made.update(sink.value for sink in own)
                case IfItem():
                    self._items(item.then, set(made))
                    self._items(item.otherwise, set(made))
                case ForItem():
                    self._items(item.body, set(made))
                case WhileItem():
                    self._items(item.condition, set(made))
                    self._items(item.body, set(made))

    def _known(self, value: tile.Value, made: Iterable[tile.Value]) -> tuple[Need, ...]:
        needs = self._needs.get(value)
        if not needs:
            return ()
        known = set(made)
        found: list[Need] = []
        for need in needs:
            leaves = self._leaves_of(need.condition)
            if leaves is not None and leaves <= known:
                found.append(need)
        return tuple(strongest(frozenset(found)))

    def _leaves_of(self, condition: tile.Value) -> frozenset[tile.Value] | None:
        """The results of sweeps that the condition is made of; None if it reads what the kernel writes."""
        if condition not in self._leaves:
            marks = tuple("." if extent.is_one else f"k{axis}" for axis, extent in enumerate(condition.type.shape))
            needs = self._walker.needs(Sink("carry", condition, 0, Slot("", condition.type.dtype, ())), marks)
            is_fixed = not needs.accesses[:-1]
            self._leaves[condition] = frozenset(value for value, _ in needs.leaves) if is_fixed else None
        return self._leaves[condition]
