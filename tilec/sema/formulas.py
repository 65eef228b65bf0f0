"""Integer formulas of dims written in types and attributes, as extents."""

from __future__ import annotations

from collections.abc import Callable

from tilec.sema import fold
from tilec.syntax import ast
from tilec.types import Extent, apply

_FUNCTIONS = frozenset({"ceildiv", "div", "min", "max"})
_DEPTH = 60


def read_formula(
    node: ast.Expr,
    read_name: Callable[[ast.Name], Extent | None],
    refuse: Callable[[ast.Expr, str], None],
    depth: int = 0,
) -> Extent | None:
    """The extent of a formula of integers, names, `+ - * %`, ceildiv, div, min and max.

    `read_name` gives a name's extent (or None after reporting); `refuse` reports what is no formula.
    """
    operands: tuple[ast.Expr, ...] = ()
    match node:
        case ast.Number(value=int(value)) if value <= fold.I32_HIGHEST:
            return Extent.of(value)
        case ast.Name():
            return read_name(node)
        case ast.Binary(op="+" | "-" | "*" | "%" as op) if depth < _DEPTH:
            operands = (node.left, node.right)
        case ast.Call(function=op) if op in _FUNCTIONS and len(node.arguments) == 2 and depth < _DEPTH:
            operands = tuple(argument.value for argument in node.arguments)
        case _:
            refuse(node, "not an integer formula of dims")
            return None
    left, right = (read_formula(operand, read_name, refuse, depth + 1) for operand in operands)
    if left is None or right is None:
        return None
    result = _applied(op, left, right)
    if result.constant is None and not result.is_small:
        refuse(node, "its formula has more than 12 terms of 4 factors")
        return None
    return result


def _applied(op: str, left: Extent, right: Extent) -> Extent:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "%":
            return apply("mod", left, right)
    return apply(op, left, right)
