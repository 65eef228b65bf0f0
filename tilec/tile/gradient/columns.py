"""The derivative columns of the pointwise rows, as sums of guarded products."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from tilec.tile import ir
from tilec.tile.gradient.emit import emit
from tilec.tile.gradient.ledger import Ledger
from tilec.tile.gradient.polynomial import Sum, Term, add, guard, invert_powers, multiply, scale

_COMPARISONS: dict[type, str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr:
    """A column's expression; it is an expression of Python too."""
    return ast.parse(text, mode="eval").body


def column(ledger: Ledger, text: str, names: Mapping[str, ir.Value]) -> Sum:
    """The value of a column for operands `x`, `y`, `z` and the result `r`.

    A product stays a product and `where` becomes guards, so that no NaN of the side not taken gets through. A sum is
    one value: what cancels in it must not be multiplied out.
    """
    return _Columns(ledger, names).sum(_parsed(text))


class _Columns:
    def __init__(self, ledger: Ledger, names: Mapping[str, ir.Value]) -> None:
        self._ledger, self._names = ledger, names

    def sum(self, node: ast.expr) -> Sum:
        match node:
            case ast.Constant(value=int() | float() as number):
                return add([Term(float(number))])
            case ast.Name(id=name):
                return add([self._ledger.term(self._names[name])])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return scale(self.sum(operand), -1.0)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return multiply(self.sum(left), self.sum(right))
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return multiply(self.sum(left), self._inverse(right))
            case ast.BinOp(op=ast.Add() | ast.Sub()) | ast.Call(func=ast.Name()) if not _is_where(node):
                return add([self._ledger.term(self.value(node))])
            case ast.Call(args=[condition, chosen, other]):
                number = self._ledger.class_of(self.value(condition))
                return add([*guard(self.sum(chosen), number, True), *guard(self.sum(other), number, False)])
        raise ValueError(f"no derivative is made of {ast.dump(node)}")

    def _inverse(self, node: ast.expr) -> Sum:
        (term,) = self.sum(node)
        return (Term(1.0 / term.coefficient, invert_powers(term.powers)),)

    def value(self, node: ast.expr) -> ir.Value:
        """The expression as one value."""
        match node:
            case ast.Name(id=name):
                return self._names[name]
            case ast.Compare(left=left, ops=[comparison], comparators=[right]):
                return self._ledger.make(_COMPARISONS[type(comparison)], self.value(left), self.value(right))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                name = "add" if isinstance(op, ast.Add) else "sub"
                return self._ledger.make(name, self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=arguments) if not _is_where(node):
                return self._ledger.make(name, *map(self.value, arguments))
        return emit(self._ledger, self.sum(node))


def _is_where(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "where"
