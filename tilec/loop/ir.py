"""The loop IR: imperative per-thread code of each dispatch, before it becomes WGSL text.

Expressions are pure except for reads of memory, which happen where the statement that holds them stands. All threads of
a workgroup run the same body; `Builtin` values tell them apart. Types are compute dtypes; `width` 4 makes a vec4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from tilec.source import Span
from tilec.tile.reports import Layout
from tilec.types import DType, Extent

_numbers = count(1)


# --- storage -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """A storage buffer as a dispatch sees it: an array of `element` (F32, I32 or U32), vec4 of it if `width` is 4.

    `tensor` is the kernel parameter it holds, None for the scratch buffer (`name` "scratch"). Tensors of 16- and 8-bit
    types, i64 and bool are arrays of U32 words, low bits first. `writable` decides read or read_write. `is_log`: only
    `Tell` touches it, atomically.
    """

    name: str
    element: DType
    tensor: str | None
    writable: bool
    width: int = 1
    is_log: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SharedArray:
    """`length` elements of workgroup memory of one compute dtype."""

    name: str
    dtype: DType
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class UniformField:
    """One 4-byte word of the uniform block, filled by the host: an `extent` of dims and i32 scalars, or the kernel's
    scalar parameter named `scalar` (bool as 0 or 1). Exactly one of the two is given."""

    name: str
    dtype: DType
    extent: Extent | None = None
    scalar: str | None = None


# --- expressions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A literal; floats may be inf or nan, which the emitter must build at run time."""

    dtype: DType
    value: bool | int | float


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A variable of the thread. `hint` is a name from the source, made unique and safe by the emitter."""

    hint: str
    dtype: DType
    width: int = 1
    number: int = field(default_factory=lambda: next(_numbers))


@dataclass(frozen=True, slots=True, eq=False)
class Uniform:
    field: UniformField

    @property
    def dtype(self) -> DType:
        return self.field.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Builtin:
    """`local_index`: the thread's number in its workgroup; `workgroup`: the workgroup's number in the dispatch (the
    host folds more than 65,535 workgroups into two axes; this is the unfolded number). Both U32."""

    name: str

    @property
    def dtype(self) -> DType:
        return DType.U32


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """A row of `tilec.ops.POINTWISE` on values of this thread. `dtype` is the result's."""

    op: str
    operands: tuple[Expr, ...]
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """Bit work on words that is no op of the language: `and or xor shl shr` (u32 or i32; shr of u32 is logical), and
    `bitcast` (32-bit types; one operand), and `helper:NAME` (a function of tilec.wgsl.helpers: packing and unpacking,
    such as `helper:f16_to_f32`), all by `dtype` of the result."""

    op: str
    operands: tuple[Expr, ...]
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """`chosen if condition else other`; both are evaluated."""

    condition: Expr
    chosen: Expr
    other: Expr

    @property
    def dtype(self) -> DType:
        return self.chosen.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """One element (or vec4) of a buffer. `own`: the planner holds that only this thread ever writes it in this dispatch
    since the last fence; the race checker proves it."""

    buffer: Buffer
    index: Expr
    own: bool = False

    @property
    def dtype(self) -> DType:
        return self.buffer.element

    @property
    def width(self) -> int:
        return self.buffer.width


@dataclass(frozen=True, slots=True, eq=False)
class SharedLoad:
    array: SharedArray
    index: Expr

    @property
    def dtype(self) -> DType:
        return self.array.dtype


@dataclass(frozen=True, slots=True, eq=False)
class UniformLoad:
    """`workgroupUniformLoad` of a shared array of length 1: a barrier before and after; only as the whole value of a
    Let."""

    array: SharedArray

    @property
    def dtype(self) -> DType:
        return self.array.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Shuffle:
    """`value` as the thread whose number in the workgroup differs by `mask` (a power of two) in one bit holds it; only
    as the whole value of a Let that all threads of the workgroup reach."""

    value: Expr
    mask: int

    @property
    def dtype(self) -> DType:
        return self.value.dtype


@dataclass(frozen=True, slots=True, eq=False)
class SubgroupReduce:
    """`value` combined over all threads of the thread's subgroup, which has at least the `threads` of an aligned
    run, by an idempotent op (`or` of u32, `max` of i32): how many more it has must not matter. Where it may stand: as
    `Shuffle`."""

    op: str
    value: Expr
    threads: int

    @property
    def dtype(self) -> DType:
        return self.value.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """Component 0 to 3 of a vec4 expression."""

    vector: Expr
    index: int

    @property
    def dtype(self) -> DType:
        return self.vector.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """A vec4 of four scalars of one dtype."""

    components: tuple[Expr, Expr, Expr, Expr]

    @property
    def dtype(self) -> DType:
        return self.components[0].dtype


Read: TypeAlias = "Load | SharedLoad | UniformLoad | Shuffle | SubgroupReduce"
"""What comes from memory or from another thread."""

Expr: TypeAlias = "Const | Local | Uniform | Builtin | Op | Bits | Select | Component | Vector | Read"


def operands_of(expression: Expr) -> tuple[Expr, ...]:
    """The expressions that an expression is made of, in the order of the text."""
    match expression:
        case Op() | Bits():
            return expression.operands
        case Select():
            return expression.other, expression.chosen, expression.condition
        case Load() | SharedLoad():
            return (expression.index,)
        case Component():
            return (expression.vector,)
        case Shuffle() | SubgroupReduce():
            return (expression.value,)
        case Vector():
            return expression.components
        case _:
            return ()


# --- statements ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """Defines `local` once."""

    local: Local
    value: Expr
    span: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Declare:
    """Declares a mutable `local`."""

    local: Local
    initial: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    local: Local
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class StoreElement:
    """Writes one element (or vec4) of a buffer."""

    buffer: Buffer
    index: Expr
    value: Expr
    own: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SharedStore:
    array: SharedArray
    index: Expr
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class If:
    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """`for (index = start; index < stop; index += step)`, index of the dtype of `start` (I32 or U32); `stop` is
    evaluated before the loop. Ends early once the mutable bool `until` is true (tested before each round). The sum
    index + step never wraps: the lowering sees to it (the emitter may rely on it)."""

    index: Local
    start: Expr
    stop: Expr
    step: Expr
    body: tuple[Statement, ...]
    until: Local | None = None


@dataclass(frozen=True, slots=True, eq=False)
class While:
    """`loop { prelude; if !condition break; body }`, at most `bound` rounds."""

    prelude: tuple[Statement, ...]
    condition: Expr
    body: tuple[Statement, ...]
    bound: int


@dataclass(frozen=True, slots=True, eq=False)
class Barrier:
    """All threads of the workgroup arrive; orders workgroup memory and, if `storage`, storage too within the
    workgroup."""

    storage: bool


@dataclass(frozen=True, slots=True, eq=False)
class Tell:
    """Appends a record to the log, atomically, if it has room: `record` (U32 words) of the kind number `kind`.
    `tilec.tile.reports.Layout` says what lies where."""

    buffer: Buffer
    layout: Layout
    kind: Expr
    record: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Comment:
    text: str


Statement: TypeAlias = (
    "Let | Declare | Assign | StoreElement | SharedStore | If | Loop | While | Barrier | Tell | Comment"
)


# --- programs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Dispatch:
    """One compute dispatch. `workgroups` is the number of workgroups as an extent of dims and scalars; 0 means nothing
    to run. The emitter wraps the body so that folded workgroups beyond that number (field `workgroup_count`) do
    nothing. `buffers` are those it touches, in binding order."""

    name: str
    threads: int
    workgroups: Extent
    workgroup_count: UniformField
    buffers: tuple[Buffer, ...]
    shared: tuple[SharedArray, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A compiled kernel: dispatches in order, one uniform block for all of them, one scratch buffer of `scratch_words`
    32-bit words (an extent; 0: none). Memory that a dispatch writes is visible to the next. `guards` are the texts of
    `Facts.guards` under which it is right; `subgroup` says how many neighbouring threads, from a multiple of it on, it
    takes to be of one subgroup; `log` how the buffer lies into which a debug build tells."""

    kernel: str
    dispatches: tuple[Dispatch, ...]
    uniforms: tuple[UniformField, ...]
    scratch_words: Extent
    guards: tuple[str, ...]
    subgroup: int = 1
    log: Layout | None = None
