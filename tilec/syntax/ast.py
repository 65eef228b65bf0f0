"""The abstract syntax tree: what was written, nothing resolved. Every node carries the span of its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tilec.source import Span


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    span: Span


# --- expressions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Number(Node):
    """A literal. `value` is an int or a float (by how it was written); it has no sign."""

    value: int | float


@dataclass(frozen=True, slots=True, eq=False)
class Bool(Node):
    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class String(Node):
    """Only legal as the message of `require` and `assert` and in `import`; elsewhere the parser reports it."""

    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Attribute(Node):
    """`value.name`: only `ctx.block.x|y|z` means something."""

    value: Expr
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Node):
    """`op` is `-` or `!`."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Node):
    """`op` is one of `|| && == != < <= > >= + - * / %`."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Argument(Node):
    """`name` is None for a positional argument."""

    name: str | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """`function` is a plain name; `function_span` its place."""

    function: str
    function_span: Span
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Point(Node):
    """Subscript `i` (drops the axis)."""

    index: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Range(Node):
    """Subscripts `s : e`, `s :`, `: e`, `:`. None where left out."""

    start: Expr | None
    stop: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Count(Node):
    """Subscript `s :+ n`."""

    start: Expr
    count: Expr


@dataclass(frozen=True, slots=True, eq=False)
class NewAxis(Node):
    """Subscript `new`."""


Subscript: TypeAlias = "Point | Range | Count | NewAxis"


@dataclass(frozen=True, slots=True, eq=False)
class Index(Node):
    """`value[subscripts]`, with `else fill` where `fill` is not None (an expression position only).

    As a place, `value` is a Name.
    """

    value: Expr
    subscripts: tuple[Subscript, ...]
    fill: Expr | None = None


Expr: TypeAlias = "Number | Bool | String | Name | Attribute | Unary | Binary | Call | Index"


# --- types ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TypeExpr(Node):
    """`f32` (kind "scalar"), `tensor<f32|f16>[M, V]` (kind "tensor") or `tile<f32>[8, 1]` (kind "tile").

    `elements` are the alternatives as (name, span); a scalar has exactly one. `dims` is None for a scalar.
    """

    kind: str
    elements: tuple[Name, ...]
    dims: tuple[Expr, ...] | None


# --- statements ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Let(Node):
    name: Name
    type: TypeExpr | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Var(Node):
    name: Name
    type: TypeExpr | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Node):
    """`place op value`; `op` is one of `= += -= *= /=`; `place` is a Name or an Index of a Name."""

    place: Expr
    op: str
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class CallStatement(Node):
    call: Call


@dataclass(frozen=True, slots=True, eq=False)
class If(Node):
    """`otherwise` is a tuple of statements (an `else if` is one If in it), or None."""

    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class While(Node):
    condition: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class For(Node):
    """`for name in iterable`: only the call `range(a, b[, step])` is legal as the iterable (the parser says so)."""

    name: Name
    iterable: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Break(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Continue(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Return(Node):
    value: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Require(Node):
    condition: Expr
    message: String


@dataclass(frozen=True, slots=True, eq=False)
class Assert(Node):
    condition: Expr
    message: String


@dataclass(frozen=True, slots=True, eq=False)
class Print(Node):
    value: Expr
    label: String | None


Statement: TypeAlias = (
    "Let | Var | Assign | CallStatement | If | While | For | Break | Continue | Return | Require | Assert | Print"
)


# --- items ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Parameter(Node):
    """Of a kernel or a function. `default` may be None; `is_const` for `const name`; `doc` is its `///` text."""

    name: Name
    type: TypeExpr | None
    default: Expr | None
    is_const: bool
    doc: str


@dataclass(frozen=True, slots=True, eq=False)
class TypeParameter(Node):
    """`T: f32|f16|bf16` of `kernel k<T: ...>`."""

    name: Name
    elements: tuple[Name, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NamedIn(Node):
    """`N in [16, 256]`, an argument of `@autotune`."""

    name: Name
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class KernelAttribute(Node):
    """`@name(arguments)`; arguments are expressions or NamedIn."""

    name: Name
    arguments: tuple[Expr | NamedIn, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Kernel(Node):
    name: Name
    type_parameters: tuple[TypeParameter, ...]
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    attributes: tuple[KernelAttribute, ...]
    doc: str


@dataclass(frozen=True, slots=True, eq=False)
class Function(Node):
    """An expression function has `value` (its `= expr` or the final `return expr`) and `body` (the statements before
    it, empty for the `=` form); a statement function has `value` None."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    value: Expr | None
    doc: str


@dataclass(frozen=True, slots=True, eq=False)
class Const(Node):
    name: Name
    type: TypeExpr | None
    value: Expr
    doc: str


@dataclass(frozen=True, slots=True, eq=False)
class Import(Node):
    path: String


Item: TypeAlias = "Kernel | Function | Const | Import"


@dataclass(frozen=True, slots=True, eq=False)
class File(Node):
    """One parsed file; items in source order (those that failed to parse are left out).

    `broken` holds the names that the failed items would have defined: their uses are no errors of their own.
    """

    items: tuple[Item, ...]
    broken: frozenset[str] = frozenset()
