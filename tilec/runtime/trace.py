"""Steps through a kernel in the interpreter: each value that the source names, at its line, block by block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilec.diag.report import outermost
from tilec.tile import ir
from tilec.tile.interp_tiles import Tile
from tilec.tile.reports import show_block

Write = Callable[[str], None]

MOST_BLOCKS = 4
MOST_LINES = 400
_SHOWN = 6


class Tracer:
    """Writes a line for each step; after `MOST_LINES` of them, or `MOST_BLOCKS` blocks, it is silent."""

    def __init__(self, kernel: ir.Kernel, grid: tuple[int, int, int], write: Write) -> None:
        self._kernel, self._grid, self._write = kernel, grid, write
        self._left = MOST_LINES
        self._is_silent = False

    def block(self, number: int) -> None:
        """Begins a block."""
        count = self._grid[0] * self._grid[1] * self._grid[2]
        if number < MOST_BLOCKS:
            self._line(f"block {show_block(number, self._grid)}" if count > 1 else self._kernel.name)
        elif not self._is_silent:
            self._is_silent = True
            self._write(f"... {count - number:,} more blocks")

    def step(self, value: ir.Value, tile: Tile) -> None:
        """A value was computed, or is stored."""
        if self._is_silent:
            return
        if isinstance(value, ir.Store):
            self._line(f"  {_place(value)}  {value.tensor}[...] = {_described(tile)}")
        elif value.name and not isinstance(value, ir.Scalar):
            self._line(f"  {_place(value)}  {value.name.split('.')[0]} = {_described(tile)}")

    def _line(self, text: str) -> None:
        self._write(text)
        self._left -= 1
        if not self._left:
            self._is_silent = True
            self._write(f"... more than {MOST_LINES} lines")


def _place(value: ir.Value) -> str:
    """The line, and where the user's own text called it."""
    outer = outermost(value.span)
    place = value.span.place
    return place if outer is value.span else f"{place} (from line {outer.line})"


def _described(tile: Tile) -> str:
    """`f32[8, 10]  0.12 -1.5 3 ...  2 NaN`: the first active lanes in row-major order."""
    array = tile.data[0]
    active = array[np.broadcast_to(tile.active()[0], array.shape)]
    names = {"float32": "f32", "int32": "i32", "uint32": "u32"}
    dtype = names.get(array.dtype.name, array.dtype.name)
    shape = f"[{', '.join(map(str, array.shape))}]" if array.shape else ""
    shown = " ".join(_number(one) for one in active[:_SHOWN].tolist())
    parts = [f"{dtype}{shape}", shown + (" ..." if active.size > _SHOWN else "")]
    counts: dict[str, int] = {}
    if array.dtype.kind == "f":
        counts = {"NaN": int(np.isnan(active).sum()), "infinite": int(np.isinf(active).sum())}
    parts += [f"{count:,} {what}" for what, count in counts.items() if count]
    if active.size != array.size:
        parts.append(f"({array.size - active.size:,} inactive)")
    return "  ".join(parts)


def _number(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
