"""The state of one inference: regions of tile IR under construction, what is known of each core value, the cells."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from tilec.diag import catalog
from tilec.diag.deadline import check_time
from tilec.ops import Operand
from tilec.ops.fold import convert
from tilec.sema import core, fold, proofs
from tilec.sema.constants import Constant
from tilec.sema.faults import Faults
from tilec.sema.items import Iotas, Item, is_of_dims
from tilec.sema.program import KernelSignature
from tilec.source import Span
from tilec.tile import ir
from tilec.types import ONE, ZERO, Apply, Atom, DType, Extent, Opaque, Symbol, TileType

Scalar = bool | int | float


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One load or store, for the rules between blocks. `axes` holds a start and a count (None: a point) an axis.

    `pinned` are block axes (with the index) that a condition around the access fixes; `is_conditional` if it is under
    an `if` or in a `while`. `path` are the regions around it: of two accesses, the earlier one surely happened before
    the later if its path is a prefix of the later's.
    """

    tensor: str
    is_store: bool
    axes: tuple[tuple[Extent, Extent | None], ...]
    span: Span
    pinned: Mapping[int, Extent]
    is_conditional: bool
    path: tuple[int, ...]
    is_whole: bool
    """A store: every element of the span that lies in the tensor is written."""


@dataclass(slots=True)
class ResolvedPlace:
    """A tensor span whose subscripts were evaluated. `shape` has the `new` axes, `new_axes` are their positions."""

    tensor: ir.TensorParameter
    indices: tuple[ir.AxisIndex, ...]
    axes: tuple[tuple[Extent, Extent | None], ...]
    type: TileType
    """The spans' type, without `new` axes."""
    shape: tuple[Extent, ...]
    new_axes: frozenset[int]
    span: Span


@dataclass(slots=True)
class OutLocal:
    """What an out parameter's local will be: its place, or the caller's cell."""

    place: ResolvedPlace | None
    cell: core.Cell | None


@dataclass(slots=True)
class Builder:
    """Shared by the modules of inference, which are functions over it."""

    signature: KernelSignature
    tensors: dict[str, ir.TensorParameter]
    constants: Mapping[str, Constant]
    faults: Faults
    iotas: Iotas
    is_trial: bool
    while_bound: int
    keys: dict[int, Hashable]
    """From an opaque atom's number, in an earlier trial too, to what it stands for."""
    items: dict[core.Node, Item] = field(default_factory=dict)
    cells: dict[core.Cell, Item] = field(default_factory=dict)
    outs: dict[core.Cell, OutLocal] = field(default_factory=dict)
    body: list[ir.Value] = field(default_factory=list)
    ranges: dict[Atom, tuple[Extent, Extent]] = field(default_factory=dict)
    opaques: dict[Hashable, Extent] = field(default_factory=dict)
    turns: dict[Span, int] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    requirements: list[ir.Requirement] = field(default_factory=list)
    block_uses: dict[int, Span] = field(default_factory=dict)
    pinned: dict[int, Extent] = field(default_factory=dict)
    path: tuple[int, ...] = ()
    region_count: int = 0
    conditional: int = 0

    # --- instructions

    def emit(self, value: ir.Value) -> ir.Value:
        check_time(value.span)
        self.body.append(value)
        return value

    def poison(self, span: Span) -> Item:
        """The item of what was not understood, which has been reported."""
        self.faults.give_up(span)
        return Item(span)

    def item(self, value: ir.Value, span: Span, *, is_weak: bool = False) -> Item:
        """The item of a new instruction; an i32 scalar that is no polynomial becomes an atom of its own."""
        extent = None
        if value.type.dtype is DType.I32 and not value.type.shape:
            extent = self.opaque(value, span)
        return Item(span, value, extent=extent, is_weak=is_weak)

    def opaque(self, value: ir.Value, span: Span, *, nonnegative: bool = False) -> Extent:
        """An atom for an i32 scalar. Its place in the source says which one it is, so that later trials find it."""
        turn = self.turns.get(span, 0)
        self.turns[span] = turn + 1
        key = (span, turn)
        self.keys[value.number] = key
        extent = Extent.of(Opaque(value.number, value, nonnegative))
        self.opaques[key] = extent
        return extent

    def translated(self, extent: Extent) -> Extent | None:
        """A formula of an earlier trial in the atoms of this run; None where one does not exist (yet)."""

        def replace(atom: Atom) -> Extent | None:
            if not isinstance(atom, Opaque):
                return None
            found = self.opaques.get(self.keys[atom.number])
            if found is None:
                missing.append(atom)
            return found

        missing: list[Atom] = []
        result = extent.substitute(replace)
        return None if missing else result

    # --- scalars and conversions

    def value(self, item: Item, dtype: DType | None = None) -> ir.Value:
        """The item as an instruction of `dtype` (its own by default), made here where it is only known so far."""
        dtype = dtype or item.dtype
        if item.constant is not None:
            return self.emit(ir.Const(TileType(dtype), item.span, self.constant(item, dtype)))
        value = item.value
        if value is None:
            assert item.extent is not None
            value = self.emit(ir.Dim(TileType(DType.I32), item.span, item.extent))
        if value.type.dtype is dtype:
            return value
        return self.emit(ir.Pointwise(value.type.with_dtype(dtype), item.span, dtype.label, (value,)))

    def constant(self, item: Item, dtype: DType) -> Scalar:
        """A known scalar under a conversion that happens by itself. Integers that do not fit are reported."""
        assert item.constant is not None
        value = item.constant.value
        is_integer = dtype in (DType.I32, DType.U32) and not isinstance(value, float)
        if is_integer and item.constant.is_weak and not fold.fits(value, dtype):
            largest = fold.I32_HIGHEST if dtype is DType.I32 else fold.U32_HIGHEST
            hint = "a `u32` is not negative" if value < 0 else None
            self.faults.error(
                catalog.INTEGER_TOO_LARGE, item.span, hint=hint, text=value, type=dtype, largest=largest
            )
            return 0
        return convert(value, dtype)

    def operand(self, item: Item) -> Operand:
        is_weak = item.constant.is_weak if item.constant is not None else item.is_weak
        return Operand(item.dtype, is_weak)

    def settled(self, item: Item) -> Item:
        """A `var` is no literal any more: its type is fixed."""
        if item.constant is not None and item.constant.is_weak:
            value = self.constant(item, DType.I32)
            return Item(item.span, constant=Constant(value, DType.I32), extent=Extent.of(int(value)))
        if not item.is_weak:
            return item
        return Item(item.span, item.value, extent=item.extent, pending=item.pending, iotas=item.iotas)

    # --- formulas

    def extent_value(self, extent: Extent, span: Span) -> ir.Value:
        """A formula as an i32 instruction, made of the instructions of its atoms."""
        if extent.constant is not None:
            return self.emit(ir.Const(TileType(DType.I32), span, extent.constant))
        if is_of_dims(extent):
            return self.emit(ir.Dim(TileType(DType.I32), span, extent))
        total: ir.Value | None = None
        for monomial, factor in extent.terms:
            term: ir.Value | None = None
            for atom in monomial:
                value = self.atom_value(atom, span)
                term = value if term is None else self.arithmetic("mul", term, value, span)
            if term is None or factor != 1:
                number = self.emit(ir.Const(TileType(DType.I32), span, factor))
                term = number if term is None else self.arithmetic("mul", term, number, span)
            total = term if total is None else self.arithmetic("add", total, term, span)
        assert total is not None
        return total

    def atom_value(self, atom: Atom, span: Span) -> ir.Value:
        match atom:
            case Opaque(value=ir.Value() as value):
                return value
            case Symbol(kind="block"):
                return self.emit(ir.BlockIndex(TileType(DType.I32), span, "xyz".index(atom.name[-1])))
            case Symbol(kind="scalar"):
                return self.emit(ir.Scalar(TileType(DType.I32), span, atom.name))
            case Apply():
                first, second = (self.extent_value(argument, span) for argument in atom.arguments)
                return self.arithmetic("rem" if atom.function == "mod" else atom.function, first, second, span)
        return self.emit(ir.Dim(TileType(DType.I32), span, Extent.of(atom)))

    def arithmetic(self, op: str, left: ir.Value, right: ir.Value, span: Span) -> ir.Value:
        return self.emit(ir.Pointwise(TileType(DType.I32), span, op, (left, right)))

    def is_nonnegative(self, extent: Extent) -> bool:
        return proofs.is_nonnegative(extent, self.ranges)

    def is_at_most(self, left: Extent, right: Extent) -> bool:
        return proofs.is_at_most(left, right, self.ranges)


__all__ = ["ONE", "ZERO", "Access", "Builder", "OutLocal", "ResolvedPlace", "Scalar"]
