"""Small kernels for the passes' tests: tensors of ragged blocks of rows and columns."""

from __future__ import annotations

from tests.tile.build import Builder, dim
from tilec.tile.affine import BLOCK_SYMBOLS
from tilec.types import DType, Extent, apply

ROWS = 4


def row_kernel(build, *, wide=False, columns=None, targets=False, rows=ROWS):
    """Rows of X[M, V] through `build(b, x)` into Out[M, 1] (`wide`: Out[M, V]), blocks of `rows` rows, the last one
    ragged. `columns`: a block reads that many columns, some of them inactive. `targets`: `build(b, x, t)` with one i32
    a row of T[M, 1]."""
    b = Builder()
    b.tensor("X", DType.F32, ["M", "V"])
    if targets:
        b.tensor("T", DType.I32, ["M", 1])
    b.tensor("Out", DType.F32, ["M", "V" if wide else 1], access="out")
    block = Extent.of(BLOCK_SYMBOLS[0]) * rows
    start = b.op("mul", b.block(), rows)
    count = dim("V") if columns is None else columns
    x = b.load("X", b.span(start, rows), b.span(0, count), starts=[block])
    inputs = [x]
    if targets:
        inputs.append(b.load("T", b.span(start, rows), b.span(0, 1), starts=[block]))
    b.store("Out", build(b, *inputs), b.span(start, rows), b.span(0, count if wide else 1), starts=[block])
    return b.kernel((apply("ceildiv", dim("M"), Extent.of(rows)), 1, 1))
