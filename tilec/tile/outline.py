"""A kernel without its statements: what a host needs to launch code that was compiled elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilec.tile.ir import Kernel

if TYPE_CHECKING:
    from tilec.tile.windows import NoWindows, RowWindows


@dataclass(frozen=True, slots=True, eq=False)
class Outline(Kernel):
    """`body` is empty. `windows` says by tensor how the kernel is launched on some rows of it at a time, or why not, as
    `find_windows` found it. Which tensors are overwritten whole is not known, so that outputs are always cleared."""

    windows: Mapping[str, RowWindows | NoWindows]
