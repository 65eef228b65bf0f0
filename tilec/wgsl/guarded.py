"""Which literals a shader compiler must not see, because it would move them to where they are rounded away.

WGSL lets a compiler reassociate sums and products where that is at least as exact, and drivers do it where it is not:
`(1.0 - p) + 1e-8` becomes `(1.0 + 1e-8) - p`, which is 0 at 1, and `x * 1e30 * 1e30` becomes `x * inf`. They do so with
literals, which they then add or multiply themselves; `python -m tests.diff.rewriting` shows which of them do. So a
literal beside the result of other arithmetic is hidden where it could meet another one: its bits come from `hidden`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import Flag, auto

from tilec.loop.ir import (
    Assign,
    Const,
    Declare,
    Expr,
    If,
    Let,
    Local,
    Loop,
    Op,
    Select,
    SharedStore,
    Statement,
    StoreElement,
    Tell,
    While,
)
from tilec.types import DType
from tilec.wgsl.expressions import in_order
from tilec.wgsl.literals import is_plain

# Fewer than eight literals of such exponents make no infinity and no 0 of a product that is neither.
_LARGE_EXPONENT = 16
_DEEPEST_TERM = 3
"""Literals further down are too many operations away for any compiler seen."""


class _Form(Flag):
    """How a value was computed, as far as it matters here."""

    OTHER = 0
    SUM = auto()
    """A sum or a difference, perhaps scaled."""
    OFFSET = auto()
    """A sum of which one operand is a literal."""
    SCALED = auto()
    """A product or quotient of which one operand is a literal, or a sum of two such."""


def guarded_literals(body: Sequence[Statement]) -> dict[int, tuple[Const, ...]]:
    """The literals of a function's body that must be hidden, by the `id` of their operation."""
    return _Search().run(body)


class _Search:
    def __init__(self) -> None:
        self._forms: dict[int, _Form] = {}
        self._lets: dict[int, Expr] = {}
        self._variables: set[int] = set()
        self._found: dict[int, dict[int, Const]] = {}

    def run(self, body: Sequence[Statement]) -> dict[int, tuple[Const, ...]]:
        for root in self._roots(body):
            for node in in_order(root)[1]:
                if isinstance(node, Op | Select) and node.dtype is DType.F32 and id(node) not in self._forms:
                    self._forms[id(node)] = self._form_of(node)
                    for operation, literal in self._risks(node):
                        if is_plain(literal.dtype, literal.value):
                            self._found.setdefault(id(operation), {})[id(literal)] = literal
        return {operation: tuple(literals.values()) for operation, literals in self._found.items()}

    def _roots(self, statements: Sequence[Statement]) -> Iterator[Expr]:
        """The expressions of the statements in order, a local's before it is noted."""
        for statement in statements:
            match statement:
                case Let():
                    yield statement.value
                    self._lets[statement.local.number] = statement.value
                case Declare():
                    yield statement.initial
                    self._variables.add(statement.local.number)
                case Assign() | StoreElement() | SharedStore():
                    yield statement.value
                case If():
                    yield statement.condition
                    yield from self._roots((*statement.then, *statement.otherwise))
                case Loop():
                    yield from self._roots(statement.body)
                case While():
                    yield from self._roots(statement.prelude)
                    yield statement.condition
                    yield from self._roots(statement.body)
                case Tell():
                    yield from statement.record
                case _:
                    pass

    def _meant(self, node: Expr) -> Expr:
        """What a local stands for, or the expression itself."""
        while isinstance(node, Local) and node.number in self._lets:
            node = self._lets[node.number]
        return node

    def _form(self, node: Expr) -> _Form:
        node = self._meant(node)
        if isinstance(node, Local):  # a variable may hold anything
            return _Form.SUM if node.number in self._variables else _Form.OTHER
        return self._forms.get(id(node), _Form.OTHER)

    def _form_of(self, node: Op | Select) -> _Form:
        if isinstance(node, Select):
            return self._form(node.chosen) | self._form(node.other)
        forms = [self._form(operand) for operand in node.operands]
        has_literal = any(isinstance(operand, Const) for operand in node.operands)
        match node.op:
            case "add" | "sub":
                form = _Form.SUM | (forms[0] & forms[1] & _Form.SCALED)
                return form | _Form.OFFSET if has_literal else form
            case "mul" | "div_f32":
                form = (forms[0] | forms[1]) & (_Form.SUM | _Form.SCALED)
                return form | _Form.SCALED if has_literal else form
            case "neg":
                return forms[0]
        return _Form.OTHER

    def _risks(self, node: Op | Select) -> Iterator[tuple[Op, Const]]:
        """The literals that may be moved because of `node`, each with its operation: `node`, or a product beside a sum
        there."""
        if isinstance(node, Select) or len(node.operands) != 2:
            return
        for operand, other in (node.operands, node.operands[::-1]):
            form = self._form(other)
            if node.op in ("add", "sub") and _Form.SUM in form:
                yield from self._literals_of_term(node, operand)
            elif isinstance(operand, Const) and node.op in ("mul", "div_f32") and _is_risky(float(operand.value), form):
                yield node, operand

    def _literals_of_term(self, node: Op, operand: Expr) -> Iterator[tuple[Op, Const]]:
        """The literals of a term beside a sum: `(1.0 - a) + (c - b)` becomes `(1.0 + c) - a - b`, and `(1.0 - a) * b +
        b * c` becomes `((1.0 - a) + c) * b`."""
        if isinstance(operand, Const):
            yield node, operand
        terms = [(self._meant(operand), 0)]
        while terms:
            term, depth = terms.pop()
            if isinstance(term, Op) and term.op in ("add", "sub", "mul", "neg"):
                for each in term.operands:
                    if isinstance(each, Const):
                        if term.op != "mul" or not _is_exact_factor(float(each.value)):
                            yield term, each
                    elif depth < _DEEPEST_TERM:
                        terms.append((self._meant(each), depth + 1))


def _is_exact_factor(literal: float) -> bool:
    """Whether sums with other such factors round nothing."""
    mantissa, exponent = math.frexp(literal)
    return abs(mantissa) == 0.5 and abs(exponent) <= _LARGE_EXPONENT


def _is_risky(literal: float, other: _Form) -> bool:
    """Whether the product or quotient of such a value and the literal may become another number."""
    if not math.isfinite(literal):
        return False
    if literal == 0.0:
        return True  # a compiler that knows no infinities makes it 0
    mantissa, exponent = math.frexp(literal)
    if _Form.OFFSET in other and abs(mantissa) != 0.5:
        return True  # `0.1 * (a - 0.7)` becomes `0.1 * a - 0.07`; powers of two round nothing
    return _Form.SCALED in other and abs(exponent) > _LARGE_EXPONENT
