"""What inference knows of a core value, and the iotas whose rank and extent are still open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilec.sema import core
from tilec.sema.constants import Constant
from tilec.source import Span
from tilec.tile import ir
from tilec.types import ONE, DType, Extent, Symbol, TileType

Shape = tuple[Extent, ...]
_ASSIGNMENT = re.compile(r"[^=!<>]=[^=]")


@dataclass(frozen=True, slots=True)
class Pending:
    """A value of a trial whose shape waits for iotas: those, and the shapes that they have met so far."""

    iotas: frozenset[core.Node]
    known: tuple[Shape, ...]
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A value. One of: an instruction (`value`), a known scalar (`constant`), a formula of dims (`extent` alone), a
    shape that is not known yet (`pending`), or none of them: poison.

    `extent` is the formula of an i32 scalar. `iotas` are those that this value is nothing but (conversions, scalars).
    """

    span: Span
    value: ir.Value | None = None
    constant: Constant | None = None
    extent: Extent | None = None
    pending: Pending | None = None
    is_weak: bool = False
    iotas: frozenset[core.Node] = frozenset()
    defined: Span | None = None
    """Where a name that is used at `span` got its value."""
    passed: Span | None = None
    """Inside a function: the argument, in the outermost of the calls, through which the value came in."""

    def used_at(self, span: Span) -> Item:
        """The same value under its name, at another place."""
        passed = self.passed
        if span.via is not self.span.via:
            depth = _depth(span)
            if passed is not None and _depth(passed) >= depth:
                passed = None
            if passed is None and _depth(self.span) < depth:
                passed = self.span
        return Item(
            span, self.value, self.constant, self.extent, self.pending, self.is_weak, self.iotas, self.origin, passed
        )

    def told(self, text: str) -> list[tuple[Span, str]]:
        """Notes that say `text` of the value: at the argument that it is, and where it was made, if not there."""
        if self.passed is None or self.passed == self.origin:
            return [(self.origin, text)]
        return [(self.passed, text), (self.origin, "made here")]

    def told_outside(self, text: str) -> list[tuple[Span, str]]:
        """`told`, where the value came into a function as an argument; nothing where the diagnostic itself shows it."""
        return [] if self.passed is None else self.told(text)

    @property
    def origin(self) -> Span:
        """Where the value came from."""
        return self.defined or self.span

    @property
    def text(self) -> str:
        """How a hint may call the value: its name or its expression, if that is short."""
        if self.value is not None and self.value.name:
            return self.value.name.split(".")[0]
        text = self.span.text
        return "..." if "\n" in text or len(text) > 40 or _ASSIGNMENT.search(text) else text

    @property
    def is_poison(self) -> bool:
        return self.value is None and self.constant is None and self.extent is None and self.pending is None

    @property
    def is_known(self) -> bool:
        return not self.is_poison and self.pending is None

    @property
    def dtype(self) -> DType:
        if self.value is not None:
            return self.value.type.dtype
        if self.constant is not None:
            return self.constant.dtype
        return self.pending.dtype if self.pending is not None else DType.I32

    @property
    def type(self) -> TileType:
        return self.value.type if self.value is not None else TileType(self.dtype)

    @property
    def shape(self) -> Shape:
        return self.value.type.shape if self.value is not None else ()


def _depth(span: Span) -> int:
    """How many calls lead to a place."""
    depth = 0
    while span.via is not None:
        span, depth = span.via, depth + 1
    return depth


def show_shape(shape: Sequence[Extent]) -> str:
    """`[8, V]`, or `one value` for a scalar."""
    return f"`[{', '.join(map(str, shape))}]`" if shape else "one value"


def bare_shape(shape: Sequence[Extent]) -> str:
    return f"[{', '.join(map(str, shape))}]" if shape else "a scalar"


def show_type(item: Item) -> str:
    """`f32` or `tile<f32>[8, V]`."""
    return f"`tile<{item.dtype}>[{', '.join(map(str, item.shape))}]`" if item.shape else f"`{item.dtype}`"


def is_of_dims(extent: Extent) -> bool:
    """Whether the host can compute the formula from the dims alone."""
    return all(_is_dim(atom) for atom in extent.atoms)


def _is_dim(atom: object) -> bool:
    if isinstance(atom, Symbol):
        return atom.kind == "dim"
    arguments = getattr(atom, "arguments", None)
    return arguments is not None  # an Apply; what it is applied to is among the atoms too


def join(shapes: Sequence[Shape]) -> Shape | None:
    """The broadcast shape: aligned at the last axis, a literal 1 stretches. None where extents disagree."""
    rank = max(map(len, shapes), default=0)
    result: list[Extent] = []
    for axis in range(-rank, 0):
        wide = {shape[axis] for shape in shapes if len(shape) >= -axis and not shape[axis].is_one}
        if len(wide) > 1:
            return None
        result.append(wide.pop() if wide else ONE)
    return tuple(result)


def first_conflict(shapes: Sequence[Shape]) -> tuple[int, int, int] | None:
    """Two positions in `shapes` whose extents disagree, and the axis (from the end)."""
    for axis in range(-1, -max(map(len, shapes), default=0) - 1, -1):
        first = None
        for position, shape in enumerate(shapes):
            if len(shape) < -axis or shape[axis].is_one:
                continue
            if first is None:
                first = position
            elif shape[axis] != shapes[first][axis]:
                return first, position, axis
    return None


@dataclass(slots=True)
class Solution:
    """What is known of an iota: its rank, the extent of its axis, and the use that said so."""

    axis: int
    rank: int | None = None
    extent: Extent | None = None
    span: Span | None = None

    @property
    def is_solved(self) -> bool:
        return self.rank is not None and self.extent is not None

    @property
    def shape(self) -> Shape:
        assert self.rank is not None
        assert self.extent is not None
        return tuple(self.extent if axis == self.axis else ONE for axis in range(self.rank))


@dataclass(slots=True)
class Iotas:
    """The solutions of all iotas of a kernel, kept from one trial to the next."""

    solutions: dict[core.Node, Solution] = field(default_factory=dict)
    is_changed: bool = False
    groups: dict[core.Node, frozenset[core.Node]] = field(default_factory=dict)
    """Of an iota, those that met each other and it before anything told their rank."""
    consumed: set[core.Node] = field(default_factory=set)
    """Those that went into a reduction or a view: nothing later can tell their rank."""

    def meet(self, iotas: frozenset[core.Node], known: Sequence[Shape], span: Span) -> Shape | None:
        """Solves what a meeting of iotas with tiles of known shapes tells; the joint shape once all are solved."""
        solutions = [self.solutions[iota] for iota in iotas]
        shape: Shape = ()
        for other in [*known, *(solution.shape for solution in solutions if solution.is_solved)]:
            shape = join([shape, other]) or max(shape, other, key=len)
        open_axes = [solution.axis for solution in solutions if solution.rank is None]
        if open_axes and len(shape) > max(open_axes):
            for solution in solutions:
                if solution.rank is None:
                    solution.rank, solution.span = len(shape), span
                    self.is_changed = True
        for solution in solutions:
            if solution.rank is None or solution.extent is not None:
                continue
            position = solution.rank - solution.axis
            if position <= len(shape) and not shape[-position].is_one:
                solution.extent, solution.span = shape[-position], span
                self.is_changed = True
        if not all(solution.is_solved for solution in solutions):
            self._group(iotas)
            return None
        return join([shape, *(solution.shape for solution in solutions)])

    def _group(self, iotas: frozenset[core.Node]) -> None:
        joint = iotas.union(*(self.groups.get(iota, iotas) for iota in iotas))
        for iota in joint:
            self.groups[iota] = joint

    def settle(self, *, only_first: bool) -> None:
        """Where no use tells a rank, iotas that met only each other have the last of their axes as the last one.

        Only groups of which a length is known; `only_first` settles one, for it may tell the others theirs.
        """
        order = {iota: place for place, iota in enumerate(self.solutions)}
        groups = {self.groups.get(iota, frozenset({iota})) for iota in self.solutions}
        for group in sorted(groups, key=lambda group: (not group & self.consumed, min(map(order.__getitem__, group)))):
            solutions = [self.solutions[iota] for iota in group]
            unranked = [solution for solution in solutions if solution.rank is None]
            if not unranked or all(solution.extent is None for solution in solutions):
                continue
            rank = max(solution.rank or solution.axis + 1 for solution in solutions)
            for solution in unranked:
                solution.rank = max(rank, solution.axis + 1)
            self.is_changed = True
            if only_first:
                return
