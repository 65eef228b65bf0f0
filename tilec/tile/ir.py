"""The tile IR: a typed program over whole tiles, in SSA form with structured control flow.

Every instruction is its own value. Memory is not in SSA form: loads and stores are ordered by their place in their
region. Broadcasting in `Pointwise`, `Pick` and `Store` is implicit: operands align at the last axis and a literal
extent 1 stretches. Integer and float scalars are tiles of rank 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from tilec.source import Span
from tilec.types import DType, Extent, TileType

_numbers = count(1)


@dataclass(slots=True, eq=False)
class Value:
    """Base of all instructions. `type` is None only for `Store`. `name` is the source's name for it, if any.

    `number` is unique in the process; treat instances as immutable once built. `is_derived`: made by differentiation,
    so that the laws of derived code apply to it.
    """

    type: TileType
    span: Span
    name: str = field(default="", kw_only=True)
    is_derived: bool = field(default=False, kw_only=True)
    number: int = field(default_factory=lambda: next(_numbers), init=False)


@dataclass(slots=True, eq=False)
class Const(Value):
    """A literal scalar (bool, int or float by its dtype; a float may be inf or nan)."""

    value: bool | int | float


@dataclass(slots=True, eq=False)
class Scalar(Value):
    """A scalar parameter of the kernel."""

    parameter: str


@dataclass(slots=True, eq=False)
class Dim(Value):
    """An i32 scalar that is a polynomial of dims (`V`, `extent(x, 1)`)."""

    extent: Extent


@dataclass(slots=True, eq=False)
class BlockIndex(Value):
    """`ctx.block.x|y|z` as axis 0, 1, 2. i32."""

    axis: int


@dataclass(slots=True, eq=False)
class Argument(Value):
    """A region's argument: a loop index or a value carried round a loop."""


@dataclass(slots=True, eq=False)
class Iota(Value):
    """The lane's index along `axis`, a tile of extent 1 on every other axis. i32, or u32/f32 where its uses adapt
    it."""

    axis: int


@dataclass(slots=True, eq=False)
class Pointwise(Value):
    """`op` (a row of tilec.ops) applied lane by lane, operands broadcast. Conversions and `where` are rows too."""

    op: str
    operands: tuple[Value, ...]


@dataclass(slots=True, eq=False)
class Reduce(Value):
    """`op` over `axes` of `operand`, skipping inactive lanes. `keeps_axes`: reduced axes stay with extent 1.

    Rows: sum max min prod any all argmax argmin, and `rest` = log(sum(exp(x - max(x)))), by which a logsumexp is
    `Pointwise("lse_add", (Reduce max, Reduce rest))`.
    """

    op: str
    operand: Value
    axes: tuple[int, ...]
    keeps_axes: bool = True


@dataclass(slots=True, eq=False)
class ActiveCount(Value):
    """How many lanes of `operand` are active along `axes`, f32 or i32 by its type; shaped as the reduction over
    `axes`."""

    operand: Value
    axes: tuple[int, ...]
    keeps_axes: bool = True


@dataclass(slots=True, eq=False)
class Pick(Value):
    """Per position of the leading axes, the element of `operand`'s last axis at `index`'s value; 0 outside.

    `index` has extent 1 on its last axis; the leading axes of both broadcast; the result has extent 1 on the last axis.
    An inactive lane that is picked gives 0.
    """

    operand: Value
    index: Value


@dataclass(slots=True, eq=False)
class View(Value):
    """The same elements with axes inserted or dropped. `axes[i]` is the operand's axis at result axis i, None a new
    one.

    Operand axes that do not occur have extent 1.
    """

    operand: Value
    axes: tuple[int | None, ...]


@dataclass(slots=True, eq=False)
class Broadcast(Value):
    """`operand` stretched to `type.shape` (a `var` with a declared tile type, a pad that widens)."""

    operand: Value


@dataclass(slots=True, eq=False)
class Pad(Value):
    """`operand` where it is active, `fill` (a scalar or broadcastable) elsewhere; every lane active."""

    operand: Value
    fill: Value


@dataclass(slots=True, eq=False)
class Update(Value):
    """Assignment to a `var`: `new` (broadcast) where it is active, else `old`. Its activity is that of `old`."""

    old: Value
    new: Value


@dataclass(frozen=True, slots=True)
class SpanIndex:
    """One tensor axis of an access: elements `start .. start + count` (a scalar i32 value and an extent)."""

    start: Value
    count: Extent


@dataclass(frozen=True, slots=True)
class PointIndex:
    """One tensor axis of an access: the element `index` (a scalar i32 value). The axis is dropped."""

    index: Value


AxisIndex: TypeAlias = "SpanIndex | PointIndex"


@dataclass(slots=True, eq=False)
class Load(Value):
    """Reads `tensor`. Result axes are the span axes in order. Inactive where outside, or `fill` (a scalar) and active.

    A load with only points is a scalar: 0 (false) outside. With points and spans, a point outside makes every lane
    inactive (its bounds are on the first axis, stretched)... or `fill`.
    """

    tensor: str
    indices: tuple[AxisIndex, ...]
    fill: Value | None = None


@dataclass(slots=True, eq=False)
class Store(Value):
    """Writes `operand` (broadcast to the spans' shape) where it is active and inside the tensor; its own type is the
    spans' type. The value already has the tensor's compute dtype; rounding to the storage type happens here."""

    tensor: str
    indices: tuple[AxisIndex, ...]
    operand: Value


@dataclass(slots=True, eq=False)
class Report(Value):
    """Tells the host of the active lanes of `where` (bool) that hold: their indices, and the `values` there, each of
    which stretches to `where`'s shape. Has no value of its own; stands in kernels of debug builds only.

    `kind`: "assert" (`where` is what must not be), "print", "made" (a NaN or infinity made of finite operands), "kept"
    (one that is stored) or "bound" (a `while` was ended by its bound). `text` is the message or the label, `names` what
    the source calls the values. `path` and `rounds` are what `place_reports` gives.
    """

    kind: str
    where: Value
    values: tuple[Value, ...]
    text: str
    names: tuple[str, ...]
    path: tuple[int, ...] = ()
    rounds: tuple[Value, ...] = ()


@dataclass(slots=True, eq=False)
class Gradient(Value):
    """The derivative of the sum of `y`'s active elements with respect to `x`, of `x`'s type.

    Its meaning is what `tile.passes.differentiate` makes of it: neither interpreter nor planner sees one.
    """

    y: Value
    x: Value


@dataclass(slots=True, eq=False)
class Stop(Value):
    """`operand`, through which no derivative passes. `differentiate` removes it."""

    operand: Value


@dataclass(slots=True, eq=False)
class Result(Value):
    """Result number `index` of an If, For or While."""

    producer: Value
    index: int


@dataclass(slots=True, eq=False)
class Region:
    """A straight line of instructions; `yields` are the values that leave it."""

    body: list[Value]
    yields: tuple[Value, ...] = ()


@dataclass(slots=True, eq=False)
class If(Value):
    """On a scalar bool. Both regions yield values of the same types; `Result`s follow it in its region."""

    condition: Value
    then: Region
    otherwise: Region


@dataclass(slots=True, eq=False)
class For(Value):
    """`for index in range(start, stop, step)`; `carried[k]` holds `initial[k]` at first, then what the body yields.

    `until` is the number of a carried bool that ends the loop once true (a `break`), or None.
    """

    index: Argument
    start: Value
    stop: Value
    step: int
    carried: tuple[Argument, ...]
    initial: tuple[Value, ...]
    body: Region
    until: int | None = None


@dataclass(slots=True, eq=False)
class While(Value):
    """`condition` yields one scalar bool, computed from the carried arguments before each round; at most `bound`
    rounds."""

    carried: tuple[Argument, ...]
    initial: tuple[Value, ...]
    condition: Region
    body: Region
    bound: int


Instruction: TypeAlias = (
    Const | Scalar | Dim | BlockIndex | Argument | Iota | Pointwise | Reduce | ActiveCount | Pick | View | Broadcast
    | Pad | Update | Load | Store | Report | Gradient | Stop | Result | If | For | While
)


# --- kernels -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TensorParameter:
    """`access`: "in" (only read), "out" (allocated by the API), "inout". `dtype` is the alternative that was chosen;
    `type_variable` the kernel's type parameter or None; `dims` may hold dims only."""

    name: str
    dtype: DType
    alternatives: tuple[DType, ...]
    type_variable: str | None
    dims: tuple[Extent, ...]
    access: str
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ScalarParameter:
    """`default` None: must be given. `is_const`: given at specialisation only."""

    name: str
    dtype: DType
    default: bool | int | float | None
    is_const: bool
    doc: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """`require condition, message`: checked by the host before a launch. `condition` is a scalar bool value made of
    Dim, Scalar, Const and Pointwise only."""

    condition: Value
    message: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """A kernel for given dtypes and constants. `dims` are the names of all dim symbols in order of appearance.

    `given_dims` are those that no input tensor's dim states alone, so that the caller passes them by name.
    `grid` are the block counts along x, y, z. `threads` is `@threads(n)` or None. `parameters` keeps the order of the
    source (tensors and scalars mixed), `constants` the scalars fixed at specialisation.
    """

    name: str
    tensors: tuple[TensorParameter, ...]
    scalars: tuple[ScalarParameter, ...]
    parameters: tuple[str, ...]
    constants: dict[str, bool | int | float]
    dims: tuple[str, ...]
    given_dims: tuple[str, ...]
    grid: tuple[Extent, Extent, Extent]
    requirements: tuple[Requirement, ...]
    body: Region
    threads: int | None
    doc: str
    span: Span

    def tensor(self, name: str) -> TensorParameter:
        return next(tensor for tensor in self.tensors if tensor.name == name)
