"""Whether a kernel may be launched on some rows at a time: on windows of its blocks, each a smaller problem."""

from __future__ import annotations

from dataclasses import dataclass

from tilec.source import Span
from tilec.tile import ir
from tilec.tile.affine import BLOCK_SYMBOLS, extent_of
from tilec.tile.outline import Outline
from tilec.tile.walk import operands_of, regions_of, walk
from tilec.types import ONE, Atom, DType, Extent, Opaque, Symbol, apply


@dataclass(frozen=True, slots=True)
class RowWindows:
    """Row `i` of the tensors `tensors`, along their first axis `dim`, is touched by block `i // step` alone.

    Nothing else depends on which rows or how many there are.
    """

    dim: str
    step: int
    tensors: frozenset[str]


@dataclass(frozen=True, slots=True)
class NoWindows:
    """Why there are none, as the end of a sentence, and the place in the source that decides it."""

    reason: str
    span: Span | None = None

    def __str__(self) -> str:
        return self.reason if self.span is None else f"{self.reason} ({self.span.place})"


def find_windows(kernel: ir.Kernel, large: str) -> RowWindows | NoWindows:
    """How a kernel is launched on some rows of the tensor `large` at a time, or why it cannot be."""
    if isinstance(kernel, Outline):
        return kernel.windows[large]
    parameter = kernel.tensor(large)
    dim = _lone_symbol(parameter.dims[0])
    if dim is None:
        return NoWindows(f"the number of rows of {large} is {parameter.dims[0]}, which is no size of its own")
    return _Search(kernel, dim).run()


class _Search:
    def __init__(self, kernel: ir.Kernel, dim: Symbol) -> None:
        self.kernel = kernel
        self.dim = dim
        self.tensors = frozenset(one.name for one in kernel.tensors if dim in _atoms(one.dims))
        self.counters: dict[int, tuple[int, int]] = {}
        self.axis: int | None = None
        self.step: int | None = None

    def run(self) -> RowWindows | NoWindows:
        no = self._shapes() or self._accesses() or self._grid() or self._uses()
        if no is not None:
            return no
        assert self.step is not None
        return RowWindows(self.dim.name, self.step, self.tensors)

    def _shapes(self) -> NoWindows | None:
        for tensor in self.kernel.tensors:
            if tensor.name in self.tensors and (
                tensor.dims[0] != Extent.of(self.dim) or self.dim in _atoms(tensor.dims[1:])
            ):
                dims = ", ".join(map(str, tensor.dims))
                return NoWindows(f"{self.dim} is not just the number of rows of {tensor.name} [{dims}]", tensor.span)
        return None

    def _accesses(self) -> NoWindows | None:
        """Every access to rows is to those of its own block."""
        for value in walk(self.kernel.body):
            if isinstance(value, ir.For):
                self._count(value)
            if not isinstance(value, ir.Load | ir.Store):
                continue
            if value.tensor not in self.tensors:
                if isinstance(value, ir.Store):
                    return NoWindows(f"it writes {value.tensor}, which has no rows of {self.dim}", value.span)
                continue
            no = self._own_rows(value)
            if no is not None:
                return no
        return None

    def _own_rows(self, access: ir.Load | ir.Store) -> NoWindows | None:
        index = access.indices[0]
        is_span = isinstance(index, ir.SpanIndex)
        start = extent_of(index.start if is_span else index.index)
        count = (index.count if is_span else ONE).constant
        found = [axis for axis, symbol in enumerate(BLOCK_SYMBOLS) if symbol in start.atoms]
        if len(found) != 1 or count is None:
            return NoWindows(f"a block touches more rows of {access.tensor} than its own", access.span)
        [axis] = found
        symbol = BLOCK_SYMBOLS[axis]
        rest = start.substitute(lambda atom: Extent(()) if atom == symbol else None)
        step = (start - rest).substitute(lambda atom: ONE if atom == symbol else None)
        ends = self._range(rest)
        if step.constant is None or step * Extent.of(symbol) + rest != start or ends is None:
            return NoWindows(f"which rows of {access.tensor} a block touches is not plain", access.span)
        if (self.axis, self.step) not in ((None, None), (axis, step.constant)):
            return NoWindows(f"blocks touch rows of {access.tensor} in more than one way", access.span)
        self.axis, self.step = axis, step.constant
        if ends[0] < 0 or ends[1] + count > step.constant:
            return NoWindows(f"a block touches rows of {access.tensor} that are other blocks' too", access.span)
        return None

    def _count(self, loop: ir.For) -> None:
        start, stop = extent_of(loop.start).constant, extent_of(loop.stop).constant
        if start is not None and stop is not None:
            self.counters[loop.index.number] = (start, max(start, stop - 1))

    def _range(self, extent: Extent) -> tuple[int, int] | None:
        """The least and the largest value of a sum of literals and counters of loops."""
        low = high = 0
        for monomial, factor in extent.terms:
            ends = (1, 1)
            if monomial:
                [*others] = monomial
                if len(others) != 1 or not isinstance(others[0], Opaque) or others[0].number not in self.counters:
                    return None
                ends = self.counters[others[0].number]
            low += min(factor * ends[0], factor * ends[1])
            high += max(factor * ends[0], factor * ends[1])
        return low, high

    def _grid(self) -> NoWindows | None:
        if self.axis is None or self.step is None:
            return NoWindows(f"it touches no rows of {self.dim}")
        for axis, blocks in enumerate(self.kernel.grid):
            is_own = axis == self.axis
            if is_own and blocks != apply("ceildiv", Extent.of(self.dim), Extent.of(self.step)):
                return NoWindows(f"its grid has {blocks} blocks along {'xyz'[axis]}, not one for each {self.step} rows")
            if not is_own and self.dim in blocks.atoms:
                return NoWindows(f"its grid has {blocks} blocks along {'xyz'[axis]}")
        return None

    def _uses(self) -> NoWindows | None:
        """Neither the number of rows nor the block's number goes into anything but the places of rows."""
        assert self.axis is not None
        block = BLOCK_SYMBOLS[self.axis]
        tainted: set[ir.Value] = set()
        for value in walk(self.kernel.body):
            if isinstance(value, ir.BlockIndex):
                if value.axis == self.axis:
                    tainted.add(value)
                continue
            if self._has(self.dim, value):
                return NoWindows(f"the number of rows, {self.dim}, is used as a number", value.span)
            if self._has(block, value):
                return NoWindows(f"{block} is used for more than the rows of a block", value.span)
            operands = list(operands_of(value))
            if isinstance(value, ir.Load | ir.Store) and value.tensor in self.tensors:
                operands = operands[1:]
            if not any(operand in tainted for operand in operands):
                continue
            if isinstance(value, ir.Pointwise) and not value.type.shape and value.type.dtype is DType.I32:
                tainted.add(value)
                continue
            return NoWindows(f"{block} is used for more than the rows of a block", value.span)
        for value in walk(self.kernel.body):
            yielded = [one for region in regions_of(value) for one in region.yields]
            if any(one in tainted for one in yielded):
                return NoWindows(f"{block} is used for more than the rows of a block", value.span)
        return None

    def _has(self, symbol: Symbol, value: ir.Value) -> bool:
        """Whether the symbol is a number here, or decides the extent of a tile."""
        if isinstance(value, ir.Dim):
            return symbol in value.extent.atoms
        return value.type is not None and symbol in _atoms(value.type.shape)


def _atoms(extents: tuple[Extent, ...]) -> frozenset[Atom]:
    return frozenset(atom for extent in extents for atom in extent.atoms)


def _lone_symbol(dim: Extent) -> Symbol | None:
    [*atoms] = dim.atoms
    if len(atoms) == 1 and isinstance(atoms[0], Symbol) and dim == Extent.of(atoms[0]):
        return atoms[0]
    return None
