"""What a phase has touched so far, found by what a new access has to do with it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from tilec.plan.walk import Access
from tilec.types import Extent

_Starts = tuple[Extent, ...]


class Touched:
    """Accesses with the number of the item that made each.

    Those of one memory are in groups that `relation` treats alike, but for accesses at exactly the same place. So a new
    access looks at each group's latest item, and not at every access.
    """

    def __init__(self, given: Iterable[tuple[int, Access]] = ()) -> None:
        self._all: list[tuple[int, Access]] = []
        self._groups: dict[object, dict[Hashable, dict[_Starts, tuple[int, Access]]]] = {}
        self._latest: dict[Hashable, list[tuple[int, Access]]] = {}
        self.add(given)

    def __iter__(self) -> Iterator[tuple[int, Access]]:
        return iter(self._all)

    def copy(self) -> Touched:
        return Touched(self._all)

    def add(self, touches: Iterable[tuple[int, Access]]) -> None:
        for item, access in touches:
            self._all.append((item, access))
            kept = tuple(
                start if role.startswith("k") else None
                for role, start in zip(access.roles, access.starts, strict=True)
            )
            group = (access.memory, access.roles, access.writes, access.is_narrow, kept)
            places = self._groups.setdefault(access.memory, {}).setdefault(group, {})
            if access.starts not in places or places[access.starts][0] < item:
                places[access.starts] = (item, access)
                # The latest two places: one of them is another place than that of any new access.
                latest = [touch for touch in self._latest.get(group, ()) if touch[1].starts != access.starts]
                self._latest[group] = sorted([*latest, (item, access)], key=lambda touch: -touch[0])[:2]

    def conflicts(self, access: Access) -> bool:
        """Whether the access and an earlier one touch one memory, and one of them writes."""
        groups = self._groups.get(access.memory, {})
        return any(access.writes or before.writes for before in self._representatives(groups))

    def before(self, access: Access) -> Iterator[tuple[int, Access]]:
        """Earlier accesses that conflict with `access`: of each group the latest at its place, and elsewhere."""
        for group, places in self._groups.get(access.memory, {}).items():
            representative = self._latest[group][0][1]
            if not (access.writes or representative.writes):
                continue
            same = places.get(access.starts)
            if same is not None:
                yield same
            elsewhere = [touch for touch in self._latest[group] if touch[1].starts != access.starts]
            yield from elsewhere[:1]

    def _representatives(self, groups: dict[Hashable, dict[_Starts, tuple[int, Access]]]) -> Iterator[Access]:
        return (self._latest[group][0][1] for group in groups)
