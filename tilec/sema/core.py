"""The core form: a kernel with every call inlined and every name resolved, not yet typed.

Values are nodes in a straight line, evaluated where they stand; `var`s are cells that statements read and write.
Control flow is structured: `break`, `continue` and `return` have become flag cells by the time they are here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tilec.source import Span
from tilec.types import DType


@dataclass(slots=True, eq=False)
class Node:
    """Base of everything in a core body. Identity is meaning: a node is evaluated once, where it stands.

    `name` is the source's name for a value, if it has one.
    """

    span: Span
    name: str = field(default="", kw_only=True)


@dataclass(slots=True, eq=False)
class Cell:
    """A `var`, an out parameter's local or a control flag. `kind` is "var", "out" or "flag"."""

    name: str
    span: Span
    kind: str = "var"


# --- values --------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Poison(Node):
    """A value whose expression was already reported."""


@dataclass(slots=True, eq=False)
class Literal(Node):
    """A number or a bool. An int is weak: it adapts to the other side. `text` is set for one written as a literal."""

    value: bool | int | float
    text: str = ""


@dataclass(slots=True, eq=False)
class ParameterRead(Node):
    parameter: str


@dataclass(slots=True, eq=False)
class DimRead(Node):
    dim: str


@dataclass(slots=True, eq=False)
class BlockRead(Node):
    axis: int


@dataclass(slots=True, eq=False)
class LoopIndex(Node):
    """The counter of the `ForLoop` that holds it."""


@dataclass(slots=True, eq=False)
class Use(Node):
    """A name that stands for a value, at the place where it is used."""

    operand: Node


@dataclass(slots=True, eq=False)
class CellRead(Node):
    cell: Cell


@dataclass(slots=True, eq=False)
class Elementwise(Node):
    """`op` is a pointwise row's name, or "/" and "%"; `shown` how the source spells it."""

    op: str
    operands: tuple[Node, ...]
    shown: str


@dataclass(slots=True, eq=False)
class Builtin(Node):
    """A built-in that is no pointwise row, such as a reduction or `iota`. `axis` is its named argument."""

    function: str
    operands: tuple[Node, ...]
    axis: Node | None = None


@dataclass(slots=True, eq=False)
class Typed(Node):
    """`operand` checked against a declared type, `shown` in the source. `subject` is the name declared; `function` is
    set for an argument."""

    operand: Node
    dtype: DType
    dims: tuple[Node, ...] | None
    subject: str
    shown: str
    function: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """The type of a function's parameter: what diagnostics say of it, `shown` as the source has it, and its rank."""

    subject: str
    function: str
    shown: str
    rank: int


@dataclass(slots=True, eq=False)
class Dimension(Node):
    """The extent of an axis of what a parameter of a function is given, for the name that its type gives it."""

    operand: Node
    axis: int
    declared: Declared


@dataclass(slots=True, eq=False)
class OutPlace(Node):
    """What an out parameter's local will be, for its type alone: it has no value yet."""

    cell: Cell


@dataclass(slots=True, eq=False)
class Exact(Node):
    """A whole tensor or an out parameter's place, `operand`, against its declared type: nothing converts here.

    `dtypes` are the element types that it may have, as stored or as computed in.
    """

    operand: Node
    dtypes: tuple[DType, ...]
    dims: tuple[Node, ...]
    declared: Declared


@dataclass(slots=True, eq=False)
class Fixed(Node):
    """`operand` as the argument of a `const` parameter of a function, `subject`: it must be known."""

    operand: Node
    subject: str


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One subscript. `kind` is "point" (start), "span" (start or None, stop or None), "count" (start, count), "new"."""

    kind: str
    span: Span
    start: Node | None = None
    stop: Node | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A tensor under subscripts, each evaluated once."""

    tensor: str
    parts: tuple[Part, ...]
    span: Span


@dataclass(slots=True, eq=False)
class TensorRead(Node):
    place: Place
    fill: Node | None = None


@dataclass(slots=True, eq=False)
class WholeTensor(Node):
    """A tensor by its name alone: only `extent` takes one (then it is its subject)."""

    tensor: str
    is_subject: bool = False


@dataclass(slots=True, eq=False)
class TileSubscript(Node):
    operand: Node
    parts: tuple[Part, ...]


# --- statements ----------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Declare(Node):
    """A cell begins with a value."""

    cell: Cell
    value: Node


@dataclass(slots=True, eq=False)
class DeclareOut(Node):
    """An out parameter's local begins: its place is the caller's `target`. `copies` if it is read before assigned."""

    cell: Cell
    target: Place | Cell
    copies: bool = True


@dataclass(slots=True, eq=False)
class FinishOut(Node):
    """At the return of a statement function, the local is stored into the caller's place."""

    cell: Cell
    target: Place | Cell


@dataclass(slots=True, eq=False)
class CellWrite(Node):
    cell: Cell
    value: Node


@dataclass(slots=True, eq=False)
class TensorWrite(Node):
    place: Place
    value: Node


@dataclass(slots=True, eq=False)
class Block:
    """A straight line of nodes. `written` are the cells that it (or a block inside) writes."""

    nodes: list[Node] = field(default_factory=list)
    written: set[Cell] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Branch(Node):
    """`keyword` is how a diagnostic calls it ("if"); a branch on a control flag is not the user's."""

    condition: Node
    then: Block
    otherwise: Block
    keyword: str = "if"


@dataclass(slots=True, eq=False)
class ForLoop(Node):
    """`ends` is the flag cell that a `break` or `return` inside sets, or None."""

    index: LoopIndex
    start: Node
    stop: Node
    step: Node | None
    body: Block
    ends: Cell | None


@dataclass(slots=True, eq=False)
class WhileLoop(Node):
    test: Block
    condition: Node
    body: Block


@dataclass(slots=True, eq=False)
class Requires(Node):
    condition: Node
    message: str


@dataclass(slots=True, eq=False)
class Asserts(Node):
    """`named` are the values that the condition names; `guards` the conditions of the `where`s on one side of which it
    is called, each with whether it must hold there."""

    condition: Node
    message: str
    named: tuple[tuple[str, Node], ...]
    guards: tuple[tuple[Node, bool], ...]


@dataclass(slots=True, eq=False)
class Prints(Node):
    value: Node
    label: str
