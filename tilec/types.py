"""Element types, extents (polynomials in symbols), activity bounds, tile types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from tilec.integers import FUNCTIONS, wrapped


class DType(Enum):
    """An element type. The first four compute; the others only store."""

    F32 = ("f32", 4, "f32")
    I32 = ("i32", 4, "i32")
    U32 = ("u32", 4, "u32")
    BOOL = ("bool", 1, "bool")
    F16 = ("f16", 2, "f32")
    BF16 = ("bf16", 2, "f32")
    I8 = ("i8", 1, "i32")
    U8 = ("u8", 1, "i32")
    I64 = ("i64", 8, "i32")

    def __init__(self, label: str, size: int, computes_as: str) -> None:
        self.label = label
        self.size = size
        self._computes_as = computes_as

    @property
    def compute(self) -> DType:
        """The type of a stored element once read."""
        return DTYPES[self._computes_as]

    @property
    def is_float(self) -> bool:
        return self._computes_as == "f32"

    @property
    def is_compute(self) -> bool:
        return self._computes_as == self.label

    @property
    def elements_per_word(self) -> int:
        """How many neighbours share a 32-bit word (1 for 32- and 64-bit types)."""
        return max(1, 4 // self.size)

    def __str__(self) -> str:
        return self.label


DTYPES: dict[str, DType] = {member.label: member for member in DType}


# --- extents -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Symbol:
    """A run-time integer known by name: a dim (`V`), `ctx.block.x`, a loop index. `nonnegative` if it cannot be < 0.

    `kind` is "dim", "block", "scalar" (an i32 kernel parameter) or "loop".
    """

    name: str
    kind: str
    nonnegative: bool = True

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Apply:
    """`function(arguments)` that is no polynomial: ceildiv, div, mod, min, max (i32 semantics)."""

    function: str
    arguments: tuple[Extent, ...]

    @property
    def nonnegative(self) -> bool:
        match self.function:
            case "mod":
                return self.arguments[0].is_nonnegative
            case "max":
                return any(argument.is_nonnegative for argument in self.arguments)
        return all(argument.is_nonnegative for argument in self.arguments)

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Opaque:
    """The value of a scalar i32 instruction of the tile IR (compared by its number). `value` is the instruction."""

    number: int
    value: object
    nonnegative: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)

    def __str__(self) -> str:
        return f"%{self.number}"


Atom: TypeAlias = "Symbol | Apply | Opaque"
Monomial: TypeAlias = "tuple[Atom, ...]"


@dataclass(frozen=True, slots=True)
class Extent:
    """An integer polynomial in normal form: equal extents are equal objects (`==`), in i32 arithmetic too."""

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def of(value: int | Atom | Extent) -> Extent:
        if isinstance(value, Extent):
            return value
        if isinstance(value, int):
            return Extent((((), value),)) if value else Extent(())
        return Extent((((value,), 1),))

    @staticmethod
    def _normal(terms: dict[Monomial, int]) -> Extent:
        kept = [(monomial, factor) for monomial, factor in terms.items() if factor]
        return Extent(tuple(sorted(kept, key=lambda term: ([str(atom) for atom in term[0]], term[1]))))

    def __add__(self, other: Extent | int) -> Extent:
        terms = dict(self.terms)
        for monomial, factor in Extent.of(other).terms:
            terms[monomial] = terms.get(monomial, 0) + factor
        return Extent._normal(terms)

    def __neg__(self) -> Extent:
        return Extent(tuple((monomial, -factor) for monomial, factor in self.terms))

    def __sub__(self, other: Extent | int) -> Extent:
        return self + -Extent.of(other)

    def __mul__(self, other: Extent | int) -> Extent:
        terms: dict[Monomial, int] = {}
        for left, left_factor in self.terms:
            for right, right_factor in Extent.of(other).terms:
                monomial = tuple(sorted(left + right, key=str))
                terms[monomial] = terms.get(monomial, 0) + left_factor * right_factor
        return Extent._normal(terms)

    @property
    def constant(self) -> int | None:
        """The value if it is a literal."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    @property
    def is_one(self) -> bool:
        return self.constant == 1

    @property
    def size(self) -> int:
        """How many terms and atoms it is made of, those inside `Apply` included."""
        return len(self.terms) + sum(_size(atom) for monomial, _ in self.terms for atom in monomial)

    @property
    def is_small(self) -> bool:
        """Whether it is kept as a formula: larger ones prove nothing and cost time in every comparison."""
        return (
            len(self.terms) <= 12
            and all(len(monomial) <= 4 and abs(factor) < 2**31 for monomial, factor in self.terms)
            and self.depth <= _DEEPEST_FORMULA
            and self.size <= _LARGEST_FORMULA
        )

    @property
    def depth(self) -> int:
        """How deep `Apply`s are nested in it."""
        nested = [atom for monomial, _ in self.terms for atom in monomial if isinstance(atom, Apply)]
        return max((1 + max(argument.depth for argument in atom.arguments) for atom in nested), default=0)

    @property
    def is_nonnegative(self) -> bool:
        """Proved >= 0 from the signs of factors and atoms (False if not proved)."""
        return all(factor >= 0 and all(atom.nonnegative for atom in monomial) for monomial, factor in self.terms)

    def at_most(self, other: Extent) -> bool:
        """Proved `self <= other`."""
        return (other - self).is_nonnegative

    @property
    def atoms(self) -> frozenset[Atom]:
        """The atoms it is made of, those inside `Apply` included."""
        found: set[Atom] = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                found.add(atom)
                if isinstance(atom, Apply):
                    for argument in atom.arguments:
                        found |= argument.atoms
        return frozenset(found)

    @property
    def is_for_host(self) -> bool:
        """Whether a launch knows its value: it is made of dims and scalar parameters."""
        return all(
            isinstance(atom, Apply) or (isinstance(atom, Symbol) and atom.kind in ("dim", "scalar"))
            for atom in self.atoms
        )

    def substitute(self, replace: Callable[[Atom], Extent | None]) -> Extent:
        """Every atom for which `replace` gives an extent replaced by it, inside `Apply` too."""
        total = Extent(())
        for monomial, factor in self.terms:
            product = Extent.of(factor)
            for atom in monomial:
                new = replace(atom)
                if new is None and isinstance(atom, Apply):
                    new = apply(atom.function, *(argument.substitute(replace) for argument in atom.arguments))
                product = product * (Extent.of(atom) if new is None else new)
            total = total + product
        return total

    @property
    def is_i32(self) -> bool:
        """Whether it is one i32 as it stands, or made of dims, which are taken to be small: its arithmetic does not
        wrap. A scalar parameter, or what data says, may be any i32, and a sum with it may wrap."""
        if all(isinstance(atom, Apply) or (isinstance(atom, Symbol) and atom.kind != "scalar") for atom in self.atoms):
            return True
        if len(self.terms) != 1 or self.terms[0][1] != 1 or len(self.terms[0][0]) != 1:
            return False
        (atom,) = self.terms[0][0]
        return not isinstance(atom, Apply) or all(argument.is_i32 for argument in atom.arguments)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value for symbols given by name. KeyError names one that is missing."""
        return self.compute(lambda atom: values[str(atom)])

    def compute(self, value_of: Callable[[Atom], int]) -> int:
        """The value for those of its atoms. A sum is exact; of one that scalar parameters or data make, functions get
        the i32 that it wraps to, as they do in a kernel."""
        total = 0
        for monomial, factor in self.terms:
            for atom in monomial:
                if isinstance(atom, Apply):
                    arguments = [(argument, argument.compute(value_of)) for argument in atom.arguments]
                    left, right = (value if one.is_i32 else wrapped(value) for one, value in arguments)
                    factor *= FUNCTIONS[atom.function](left, right)
                else:
                    factor *= value_of(atom)
            total += factor
        return total

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        texts = []
        for monomial, factor in sorted(self.terms, key=lambda term: (-len(term[0]), [str(a) for a in term[0]])):
            atoms = " * ".join(map(str, monomial))
            magnitude = abs(factor)
            text = str(magnitude) if not atoms else atoms if magnitude == 1 else f"{magnitude} * {atoms}"
            sign = "-" if factor < 0 else "+"
            texts.append(text if not texts and factor > 0 else f"-{text}" if not texts else f"{sign} {text}")
        return " ".join(texts)


_LARGEST_FORMULA = 96
_DEEPEST_FORMULA = 4


def _size(atom: Atom) -> int:
    return 1 + sum(argument.size for argument in atom.arguments) if isinstance(atom, Apply) else 1


def apply(function: str, *arguments: Extent) -> Extent:
    """`function` of extents, folded where all are literals (or the result is plain)."""
    left, right = arguments
    if left.constant is not None and right.constant is not None:
        return Extent.of(FUNCTIONS[function](left.constant, right.constant))
    if function in ("min", "max") and (left == right or (left.is_i32 and right.is_i32)):
        if left.at_most(right):
            return left if function == "min" else right
        if right.at_most(left):
            return right if function == "min" else left
    if function in ("div", "ceildiv") and right.is_one:
        return arguments[0]
    return Extent.of(Apply(function, arguments))


def element_count(extents: Iterable[Extent]) -> Extent:
    """How many elements axes of these extents have together; a negative extent counts as 0."""
    total = Extent.of(1)
    for extent in extents:
        total = total * (extent if extent.is_nonnegative else apply("max", extent, Extent.of(0)))
    return total


ONE = Extent.of(1)
ZERO = Extent.of(0)


# --- tile types ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bound:
    """Lanes `start <= i < limit` of an axis are active.

    `stretched`: the axis had extent 1 when the bound was made, and every lane is active iff `start <= 0 < limit`.
    """

    start: Extent
    limit: Extent
    stretched: bool = False

    def __str__(self) -> str:
        lane = "0" if self.stretched else "i"
        return f"{self.start} <= {lane} < {self.limit}"


Activity: TypeAlias = "tuple[frozenset[Bound], ...]"


@dataclass(frozen=True, slots=True)
class TileType:
    """Type of a tile value: a compute dtype, an extent an axis, and the bounds on active lanes an axis (empty: all)."""

    dtype: DType
    shape: tuple[Extent, ...] = ()
    active: Activity = ()

    def __post_init__(self) -> None:
        if len(self.active) != len(self.shape):
            object.__setattr__(self, "active", (frozenset(),) * len(self.shape))

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_fully_active(self) -> bool:
        return not any(self.active)

    def with_dtype(self, dtype: DType) -> TileType:
        return TileType(dtype, self.shape, self.active)

    def __str__(self) -> str:
        if not self.shape:
            return str(self.dtype)
        bounds = "; ".join(
            f"axis {axis}: {bound}"
            for axis, axis_bounds in enumerate(self.active)
            for bound in sorted(axis_bounds, key=str)
        )
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]" + (f" {{{bounds}}}" if bounds else "")


SCALAR_F32 = TileType(DType.F32)
SCALAR_I32 = TileType(DType.I32)
SCALAR_U32 = TileType(DType.U32)
SCALAR_BOOL = TileType(DType.BOOL)


def stretch(bounds: frozenset[Bound]) -> frozenset[Bound]:
    """The bounds of an axis of extent 1 after it is stretched to any extent."""
    return frozenset(Bound(bound.start, bound.limit, True) for bound in bounds)


def broadcast_activity(shape: tuple[Extent, ...], operands: list[TileType]) -> Activity:
    """The activity of an elementwise result of `shape` (operands already known to broadcast to it)."""
    result: list[frozenset[Bound]] = []
    for axis, extent in enumerate(shape):
        bounds: frozenset[Bound] = frozenset()
        for operand in operands:
            own = axis - (len(shape) - operand.rank)
            if own < 0:
                continue
            is_stretched = operand.shape[own].is_one and not extent.is_one
            bounds |= stretch(operand.active[own]) if is_stretched else operand.active[own]
        result.append(bounds)
    return tuple(result)
