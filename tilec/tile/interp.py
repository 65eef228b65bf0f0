"""The specification interpreter: what a kernel means, in NumPy, one block after another.

Blocks are evaluated together, as a leading axis of every array, since blocks may not depend on one another; a kernel
whose extents depend on the block is evaluated one block at a time. Activity is a mask per axis, never a slice, so that
this and the compiler do not share a mistake about ragged ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tilec.ops.reference import NUMPY_DTYPES
from tilec.tile import ir
from tilec.tile.interp_frame import Frame, Trace
from tilec.tile.interp_memory import Memory
from tilec.tile.reports import Log
from tilec.tile.walk import walk
from tilec.types import Atom, DType, Opaque, Symbol

_LANES_AT_ONCE = 1 << 20


def run(
    kernel: ir.Kernel,
    tensors: Mapping[str, np.ndarray],
    scalars: Mapping[str, bool | int | float],
    dims: Mapping[str, int],
    trace: Trace | None = None,
    each_block: Callable[[int], None] | None = None,
    log: Log | None = None,
    unwritten: dict[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Runs every block and gives the "out" and "inout" tensors, as new arrays of the storage dtypes.

    `tensors` hold arrays of the storage dtypes (bf16: ml_dtypes.bfloat16, or uint16 bits) and of the shapes that the
    dims say; an "out" tensor may be missing and is then 0 where no block writes. `scalars` may lack those with defaults
    and constants. `trace` is called with each value and its tile, whose first axis is the block (1: the same in all);
    with each loop counter, and with each store and what it stores. `each_block` is called before each block, by its
    number: the blocks then run one by one.
    What the kernel's reports tell goes into `log`; into `unwritten`, by "out" tensor, which elements no block wrote.
    """
    values = _scalar_values(kernel, scalars)
    integers = dict(dims) | {name: int(value[0]) for name, value in values.items() if value.dtype.kind in "iu"}
    memory = Memory(kernel, tensors, lambda extent: max(0, extent.evaluate(integers)))
    grid = [max(0, extent.evaluate(integers)) for extent in kernel.grid]
    count = grid[0] * grid[1] * grid[2]
    if log is not None:
        memory.log, log.grid = log, (grid[0], grid[1], grid[2])
    if unwritten is not None:
        memory.watch_outputs()
    together = _blocks_at_once(kernel, integers) if each_block is None else 1
    for first in range(0, count, together):
        if each_block is not None:
            each_block(first)
        number = np.arange(first, min(first + together, count), dtype=np.int64)
        blocks = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        frame = Frame(memory, values, integers, tuple(axis.astype(np.int32) for axis in blocks), trace)
        with np.errstate(all="ignore"):
            frame.run(kernel.body)
    if log is not None:
        log.records.sort(key=lambda record: record.block)
        log.trim()
    if unwritten is not None:
        unwritten |= memory.left or {}
    return memory.results()


def _scalar_values(kernel: ir.Kernel, given: Mapping[str, bool | int | float]) -> dict[str, np.ndarray]:
    """Scalar parameters and constants as arrays of one element."""
    values: dict[str, np.ndarray] = {}
    for parameter in kernel.scalars:
        value = given.get(parameter.name, kernel.constants.get(parameter.name, parameter.default))
        if value is None:
            raise KeyError(f"no value for the scalar {parameter.name}")
        values[parameter.name] = np.array([value]).astype(NUMPY_DTYPES[parameter.dtype])
    for name, value in kernel.constants.items():
        dtype = DType.BOOL if isinstance(value, bool) else DType.I32 if isinstance(value, int) else DType.F32
        values.setdefault(name, np.array([value]).astype(NUMPY_DTYPES[dtype]))
    return values


def _blocks_at_once(kernel: ir.Kernel, integers: Mapping[str, int]) -> int:
    """How many blocks may be evaluated together: a batch of about a million lanes in the largest tile."""
    largest = 1
    for value in walk(kernel.body):
        shape = value.type.shape if value.type is not None else ()
        lanes = 1
        for extent in shape:
            if any(_varies(atom) for atom in extent.atoms):
                return 1
            lanes *= max(1, extent.evaluate(integers))
        largest = max(largest, lanes)
    return max(1, _LANES_AT_ONCE // largest)


def _varies(atom: Atom) -> bool:
    """Whether the atom may differ between blocks."""
    return isinstance(atom, Opaque) or (isinstance(atom, Symbol) and atom.kind in ("block", "loop"))
