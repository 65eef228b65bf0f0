"""The passes over the tile IR, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable

from tilec.tile import ir
from tilec.tile.passes.differentiate import differentiate
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.passes.fold_constants import fold_constants
from tilec.tile.passes.forward_stores import forward_stores
from tilec.tile.passes.merge_equal import merge_equal
from tilec.tile.passes.raise_reductions import raise_reductions
from tilec.tile.passes.simplify import simplify
from tilec.tile.passes.simplify_derived import simplify_derived
from tilec.tile.passes.split_logsumexp import split_logsumexp
from tilec.tile.passes.split_moments import split_moments

Pass = Callable[[ir.Kernel], ir.Kernel]

NORMALISE: list[Pass] = [differentiate, split_logsumexp]
"""What always runs first, before the interpreter too: they say what the program means."""

PASSES: list[Pass] = [
    forward_stores,
    fold_constants,
    simplify,
    merge_equal,
    raise_reductions,
    merge_equal,
    simplify_derived,
    merge_equal,
    split_moments,
    merge_equal,
    drop_dead,
]
"""What only makes it faster."""
