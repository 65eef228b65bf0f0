"""Scratch slots for values: a launch must know how large each is, whoever counts the lanes of the value."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.diag.report import LimitReached
from tilec.plan.ir import Slot
from tilec.tile import ir as tile
from tilec.tile.bounds import Bounds, Room


class Slots:
    """Makes the slots of one kernel's values."""

    def __init__(self, kernel: tile.Kernel) -> None:
        self._bounds = Bounds(kernel)

    def make(self, name: str, value: tile.Value) -> Slot:
        """A slot that holds every active lane of `value`. Raises LimitReached where no launch could know its size."""
        rooms = self._rooms(value)
        for axis, room in enumerate(rooms):
            if room is None:
                raise LimitReached(catalog.UNBOUNDED_SCRATCH, value.span, axis=axis)
        known = [room for room in rooms if room is not None]
        return Slot(
            name, value.type.dtype, tuple(room.extent for room in known), wraps=tuple(room.wraps for room in known)
        )

    def may_keep(self, value: tile.Value) -> bool:
        """Whether there can be a slot for the value."""
        return None not in self._rooms(value)

    def _rooms(self, value: tile.Value) -> list[Room | None]:
        return [
            self._bounds.room(extent, active)
            for extent, active in zip(value.type.shape, value.type.active, strict=True)
        ]
