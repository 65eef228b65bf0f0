"""From rules to nodes: one callback for each rule of grammar.lark, called as soon as the rule is complete.

lark calls them bottom-up, without recursion. What the grammar accepts beyond the language is refused here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.diag.row import Row
from tilec.source import Source, Span
from tilec.syntax import ast
from tilec.syntax.numbers import read_number
from tilec.types import DTYPES


class Builder:
    """Holds what the callbacks need about the piece that is being parsed."""

    def __init__(self) -> None:
        self._source = Source("", "")
        self._reporter = Reporter()
        self._blocks: dict[int, tuple[ast.Statement, ...]] = {}
        self._docs: dict[int, str] = {}
        self._parenthesised: set[int] = set()
        self.failed = False
        """Whether a callback has reported something since `begin`."""

    def begin(self, source: Source, reporter: Reporter, docs: dict[int, str]) -> None:
        """Starts on a file."""
        self._source = source
        self._reporter = reporter
        self._docs = docs
        self._blocks = {}

    def begin_piece(self) -> None:
        """Starts on an item or a statement."""
        self.failed = False
        self._parenthesised.clear()

    def finish_block(self, start: int, statements: tuple[ast.Statement, ...]) -> None:
        """Gives the statements of the block whose brace is at `start`."""
        self._blocks[start] = statements

    # --- helpers ---

    def _span(self, first: Any, last: Any) -> Span:
        start: Any = first.start_pos if type(first) is Token else first.span.start
        end: Any = last.end_pos if type(last) is Token else last.span.end
        return Span(self._source, start, end)

    def _token_span(self, token: Any) -> Span:
        return Span(self._source, token.start_pos, token.end_pos)

    def _error(self, row: Row, span: Span, *, hint: str | None = None, **fields: Any) -> None:
        self.failed = True
        self._reporter.error(row, span, hint=hint, **fields)

    def _name(self, token: Any) -> ast.Name:
        return ast.Name(Span(self._source, token.start_pos, token.end_pos), str(token))

    def _block(self, token: Any) -> tuple[ast.Statement, ...]:
        return self._blocks.get(token.start_pos, ())

    def listing(self, children: list[Any]) -> list[Any]:
        """What stands between commas (or `|`), with or without one at the end."""
        return children[::2]

    # --- expressions ---

    def name(self, children: list[Any]) -> ast.Name:
        return self._name(children[0])

    def number(self, children: list[Any]) -> ast.Number:
        token = children[0]
        span = self._token_span(token)
        value = read_number(str(token), span, self._reporter)
        if value is None:
            self.failed = True
        return ast.Number(span, 0 if value is None else value)

    def true(self, children: list[Any]) -> ast.Bool:
        return ast.Bool(self._token_span(children[0]), True)

    def false(self, children: list[Any]) -> ast.Bool:
        return ast.Bool(self._token_span(children[0]), False)

    def string(self, children: list[Any]) -> ast.String:
        self._error(catalog.STRING_MISUSE, self._token_span(children[0]))
        return self._string(children[0])

    def _string(self, token: Any) -> ast.String:
        return ast.String(self._token_span(token), str(token)[1:-1])

    def parenthesised(self, children: list[Any]) -> ast.Expr:
        # The span takes the parentheses in, so that a message underlines all of it.
        node = replace(children[1], span=self._span(children[0], children[2]))
        self._parenthesised.add(id(node))
        return node

    def binary(self, children: list[Any]) -> ast.Binary:
        left, operator, right = children
        return ast.Binary(Span(self._source, left.span.start, right.span.end), str(operator), left, right)

    def compare(self, children: list[Any]) -> ast.Binary:
        left, operator, right = children
        if type(left) is ast.Binary and left.op in _COMPARISONS and id(left) not in self._parenthesised:
            self._report_chain(left, operator, right)
        return self.binary(children)

    def _report_chain(self, left: ast.Binary, operator: Any, right: ast.Expr) -> None:
        """Once for a chain: the texts of its parts add up."""
        if type(left.left) is ast.Binary and left.left.op in _COMPARISONS and id(left.left) not in self._parenthesised:
            return
        fix = f"{left.span.text} && {left.right.span.text} {operator} {right.span.text}"
        self._error(catalog.COMPARISON_CHAIN, self._token_span(operator), fix=" ".join(fix.split()))

    def unary(self, children: list[Any]) -> ast.Unary:
        operator, operand = children
        return ast.Unary(self._span(operator, operand), str(operator), operand)

    def call(self, children: list[Any]) -> ast.Call:
        token = children[0]
        arguments = tuple(children[2]) if len(children) == 4 else ()
        named: set[str] = set()
        for argument in arguments:
            if argument.name is None and named:
                self._error(catalog.POSITIONAL_AFTER_NAMED, argument.span)
                break
            if argument.name in named:
                self._error(catalog.ARGUMENT_TWICE, argument.span, name=argument.name, function=str(token))
            if argument.name is not None:
                named.add(argument.name)
        return ast.Call(self._span(token, children[-1]), str(token), self._token_span(token), arguments)

    def positional(self, children: list[Any]) -> ast.Argument:
        return ast.Argument(children[0].span, None, children[0])

    def named(self, children: list[Any]) -> ast.Argument:
        return ast.Argument(self._span(children[0], children[2]), str(children[0]), children[2])

    def index(self, children: list[Any]) -> ast.Index:
        value = children[0]
        span = self._span(value, children[-1])
        if len(children) == 3:
            self._error(catalog.EMPTY_SUBSCRIPT, self._span(children[1], children[2]))
            return ast.Index(span, value, ())
        return ast.Index(span, value, tuple(children[2]))

    def filled(self, children: list[Any]) -> ast.Index:
        value, _, subscripts, _, _, fill = children
        return ast.Index(self._span(value, fill), value, tuple(subscripts), fill)

    def attribute_of(self, children: list[Any]) -> ast.Attribute:
        value, _, token = children
        return ast.Attribute(self._span(value, token), value, str(token))

    def point(self, children: list[Any]) -> ast.Point:
        return ast.Point(children[0].span, children[0])

    def range_from(self, children: list[Any]) -> ast.Range:
        return ast.Range(self._span(children[0], children[1]), children[0], None)

    def range_both(self, children: list[Any]) -> ast.Range:
        return ast.Range(self._span(children[0], children[2]), children[0], children[2])

    def range_to(self, children: list[Any]) -> ast.Range:
        return ast.Range(self._span(children[0], children[1]), None, children[1])

    def range_all(self, children: list[Any]) -> ast.Range:
        return ast.Range(self._token_span(children[0]), None, None)

    def count(self, children: list[Any]) -> ast.Count:
        return ast.Count(self._span(children[0], children[2]), children[0], children[2])

    def new_axis(self, children: list[Any]) -> ast.NewAxis:
        return ast.NewAxis(self._token_span(children[0]))

    # --- types ---

    def scalar_type(self, children: list[Any]) -> ast.TypeExpr:
        name = self._name(children[0])
        if name.name in ("tensor", "tile"):
            self._error(catalog.MISSING_ELEMENT, name.span, text=name.name)
        return ast.TypeExpr(name.span, "scalar", (name,), None)

    def shaped_type(self, children: list[Any]) -> ast.TypeExpr:
        token, _, elements, more, opening, dims, closing = children
        names = tuple(self._name(element) for element in elements)
        if opening is None:
            span = self._span(token, more)
            self._error(catalog.MISSING_DIMS, span, text=span.text)
            return ast.TypeExpr(span, str(token), names, ())
        span = self._span(token, closing)
        if token not in ("tensor", "tile"):
            self._error(
                catalog.UNKNOWN_TYPE,
                self._token_span(token),
                name=str(token),
                known="`tensor<f32>[M, V]` in memory and `tile<f32>[8, 1]` as a value",
            )
        return ast.TypeExpr(span, str(token), names, tuple(dims))

    def elementless_type(self, children: list[Any]) -> ast.TypeExpr:
        token, _, dims, closing = children
        hint = f"write `tensor<{token}>[M, V]`" if str(token) in DTYPES else None
        self._error(catalog.MISSING_ELEMENT, self._span(token, closing), hint=hint, text=str(token))
        return ast.TypeExpr(self._span(token, closing), str(token), (), tuple(dims))

    # --- statements ---

    def let(self, children: list[Any]) -> ast.Let:
        first, name, _, declared, _, value = children
        return ast.Let(self._span(first, value), self._name(name), declared, value)

    def var(self, children: list[Any]) -> ast.Var:
        first, name, _, declared, _, value = children
        return ast.Var(self._span(first, value), self._name(name), declared, value)

    def lone_expression(self, children: list[Any]) -> ast.CallStatement:
        value = children[0]
        if type(value) is not ast.Call or id(value) in self._parenthesised:
            text = _shortened(value.span.text)
            hint = f"what a function gives is returned, `return {text}`; else name it, `let y = ...`, or store it"
            self._error(catalog.EXPRESSION_STATEMENT, value.span, hint=hint, text=text)
        return ast.CallStatement(value.span, value)

    def assign(self, children: list[Any]) -> ast.Assign:
        place, operator, value = children
        inner = place.value if type(place) is ast.Index else place
        if type(inner) is not ast.Name or id(place) in self._parenthesised or id(inner) in self._parenthesised:
            self._error(catalog.BAD_PLACE, place.span, text=_shortened(place.span.text))
        elif type(place) is ast.Index and place.fill is not None:
            self._error(catalog.FILL_ON_PLACE, place.fill.span)
        return ast.Assign(self._span(place, value), place, str(operator), value)

    def if_(self, children: list[Any]) -> ast.If:
        otherwise = None
        if len(children) == 5:
            last = children[4]
            otherwise = self._block(last) if type(last) is Token else (last,)
        return ast.If(self._span(children[0], children[-1]), children[1], self._block(children[2]), otherwise)

    def while_(self, children: list[Any]) -> ast.While:
        return ast.While(self._span(children[0], children[2]), children[1], self._block(children[2]))

    def for_(self, children: list[Any]) -> ast.For:
        first, name, _, iterable, block = children
        if type(iterable) is not ast.Call or iterable.function != "range":
            self._error(catalog.FOR_NEEDS_RANGE, iterable.span, text=_shortened(iterable.span.text))
        elif not 2 <= len(iterable.arguments) <= 3:
            count = len(iterable.arguments)
            problem = f"takes 2 or 3 arguments, and {count} {'is' if count == 1 else 'are'} given"
            hint = f"say where it starts: `range(0, {iterable.arguments[0].span.text})`" if count == 1 else None
            self._error(catalog.RANGE_MISUSE, iterable.span, hint=hint, problem=problem)
        elif any(argument.name is not None for argument in iterable.arguments):
            self._error(catalog.RANGE_MISUSE, iterable.span, problem="takes no named arguments")
        return ast.For(self._span(first, block), self._name(name), iterable, self._block(block))

    def break_(self, children: list[Any]) -> ast.Break:
        return ast.Break(self._token_span(children[0]))

    def continue_(self, children: list[Any]) -> ast.Continue:
        return ast.Continue(self._token_span(children[0]))

    def return_(self, children: list[Any]) -> ast.Return:
        return ast.Return(self._span(children[0], children[-1]), children[1] if len(children) == 2 else None)

    def require(self, children: list[Any]) -> ast.Require:
        first, condition, _, message = children
        return ast.Require(self._span(first, message), condition, self._string(message))

    def assert_(self, children: list[Any]) -> ast.Assert:
        first, condition, _, message = children
        return ast.Assert(self._span(first, message), condition, self._string(message))

    def print_(self, children: list[Any]) -> ast.Print:
        label = self._string(children[2]) if len(children) == 6 else None
        return ast.Print(self._span(children[0], children[-1]), children[-2], label)

    # --- items ---

    def parameter(self, children: list[Any]) -> ast.Parameter:
        const, token, _, declared, _, default = children
        first = token if const is None else const
        last = default or declared or token
        if const is not None and declared is not None and declared.kind != "scalar":
            self._error(catalog.CONST_TENSOR, self._token_span(const), name=str(token), kind=declared.kind)
        doc = self._docs.get(first.start_pos, "")
        return ast.Parameter(self._span(first, last), self._name(token), declared, default, const is not None, doc)

    def type_parameters(self, children: list[Any]) -> list[ast.TypeParameter]:
        return children[1]

    def type_parameter(self, children: list[Any]) -> ast.TypeParameter:
        token, _, elements = children
        return ast.TypeParameter(
            self._span(token, elements[-1]), self._name(token), tuple(self._name(element) for element in elements)
        )

    def named_in(self, children: list[Any]) -> ast.NamedIn:
        token, _, _, values, closing = children
        return ast.NamedIn(self._span(token, closing), self._name(token), tuple(values))

    def attribute(self, children: list[Any]) -> ast.KernelAttribute:
        first, token, _, arguments, closing = children
        return ast.KernelAttribute(self._span(first, closing or token), self._name(token), tuple(arguments or ()))

    def attributes(self, children: list[Any]) -> list[ast.KernelAttribute]:
        return children

    def kernel(self, children: list[Any]) -> ast.Kernel:
        attributes, first, name, type_parameters, _, parameters, _, block = children
        for parameter in parameters or ():
            if parameter.type is None and not parameter.is_const:
                self._error(catalog.PARAMETER_NEEDS_TYPE, parameter.name.span, name=parameter.name.name)
        doc = self._docs.get(first.start_pos) or (self._docs.get(attributes[0].span.start) if attributes else None)
        return ast.Kernel(
            self._span(attributes[0] if attributes else first, block),
            self._name(name),
            tuple(type_parameters or ()),
            tuple(parameters or ()),
            self._block(block),
            tuple(attributes),
            doc or "",
        )

    def function_of_value(self, children: list[Any]) -> ast.Function:
        first, name, _, parameters, _, _, value = children
        doc = self._docs.get(first.start_pos, "")
        return ast.Function(self._span(first, value), self._name(name), tuple(parameters or ()), (), value, doc)

    def function_of_block(self, children: list[Any]) -> ast.Function:
        first, name, _, parameters, _, block = children
        body = self._block(block)
        value = None
        if body and isinstance(body[-1], ast.Return) and body[-1].value is not None:
            value = body[-1].value
            body = body[:-1]
        doc = self._docs.get(first.start_pos, "")
        return ast.Function(self._span(first, block), self._name(name), tuple(parameters or ()), body, value, doc)

    def const(self, children: list[Any]) -> ast.Const:
        first, name, _, declared, _, value = children
        return ast.Const(
            self._span(first, value), self._name(name), declared, value, self._docs.get(first.start_pos, "")
        )

    def import_(self, children: list[Any]) -> ast.Import:
        return ast.Import(self._span(children[0], children[1]), self._string(children[1]))


_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))


def _shortened(text: str) -> str:
    """One line of at most 60 characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else f"{flat[:57]}..."


BUILDER = Builder()
"""The one object whose methods lark calls; used only while `lexer.LOCK` is held."""
