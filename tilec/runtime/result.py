"""What a call of a kernel returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Result:
    """What a kernel returns: `r.Loss`, `r["Loss"]`, and iteration over the arrays in the kernel's order."""

    __slots__ = ("_arrays",)

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = dict(arrays)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._arrays[name]
        except KeyError:
            raise AttributeError(f"no result is called {name!r}; there is {', '.join(self._arrays)}") from None

    def __getitem__(self, name: str | int) -> Any:
        if isinstance(name, int):
            return list(self._arrays.values())[name]
        if name not in self._arrays:
            raise KeyError(f"no result is called {name!r}; there is {', '.join(self._arrays)}")
        return self._arrays[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._arrays.values())

    def __len__(self) -> int:
        return len(self._arrays)

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def _asdict(self) -> dict[str, Any]:
        """The arrays by name."""
        return dict(self._arrays)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._arrays]

    def __repr__(self) -> str:
        parts = (f"{name}={_described(array)}" for name, array in self._arrays.items())
        return f"<tilec.Result {', '.join(parts)}>"


def _described(array: Any) -> str:
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"
