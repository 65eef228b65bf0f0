"""Bounded dictionaries for what is kept between launches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Kept(Generic[V]):
    """A dictionary that forgets what was used longest ago."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Hashable, value: V) -> V:
        """Keeps the value and returns it; one that another thread kept first wins."""
        with self._lock:
            value = self._values.setdefault(key, value)
            if len(self._values) > self._most:
                self._values.popitem(last=False)
            return value

    def __len__(self) -> int:
        return len(self._values)
