"""What the shape of a body must satisfy beyond the grammar: loops, returns, the number of statements."""

from __future__ import annotations

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.syntax import ast

MAXIMUM_STATEMENTS = 4096
"""In one kernel or function."""

MAXIMUM_EXPRESSION_DEPTH = 256
"""Operators, calls and subscripts along one path of an expression: what recursive walks may rely on."""


def check_item(item: ast.Kernel | ast.Function, reporter: Reporter) -> bool:
    """Reports misplaced `break`, `continue` and `return`, and too many statements. False if there were any."""
    found = False
    count = 0
    pending: list[tuple[ast.Statement, bool]] = [(statement, False) for statement in reversed(item.body)]
    while pending:
        statement, in_loop = pending.pop()
        count += 1
        if count > MAXIMUM_STATEMENTS:
            reporter.error(catalog.TOO_MANY_STATEMENTS, statement.span, name=item.name.name, limit=MAXIMUM_STATEMENTS)
            return False
        found |= _check_statement(item, statement, in_loop, reporter)
        pending.extend(_inner(statement, in_loop))
    return not found


def _inner(statement: ast.Statement, in_loop: bool) -> list[tuple[ast.Statement, bool]]:
    match statement:
        case ast.If(then=then, otherwise=otherwise):
            return [(inner, in_loop) for inner in reversed(then + (otherwise or ()))]
        case ast.For(body=body) | ast.While(body=body):
            return [(inner, True) for inner in reversed(body)]
    return []


def _check_statement(
    item: ast.Kernel | ast.Function, statement: ast.Statement, in_loop: bool, reporter: Reporter
) -> bool:
    match statement:
        case ast.Break() | ast.Continue() if not in_loop:
            reporter.error(catalog.OUTSIDE_LOOP, statement.span, keyword=statement.span.text)
        case ast.Return(value=value) if isinstance(item, ast.Kernel):
            if value is None:
                return False
            reporter.error(catalog.RETURN_IN_KERNEL, value.span, text=" ".join(value.span.text.split())[:60])
        case ast.Return(value=None) if (returned := _returned(item)) is not None:
            notes = [(returned.span, "the value is returned here")]
            reporter.error(catalog.RETURN_WITHOUT_VALUE, statement.span, notes=notes)
        case ast.Return(value=value) if value is not None:
            reporter.error(catalog.RETURN_NOT_LAST, statement.span)
        case _:
            return False
    return True


def _returned(item: ast.Kernel | ast.Function) -> ast.Expr | None:
    return item.value if isinstance(item, ast.Function) else None


def too_deep(roots: list[ast.Node]) -> ast.Node | None:
    """A node that lies deeper than `MAXIMUM_EXPRESSION_DEPTH` below one of `roots`, found without recursion."""
    pending: list[tuple[ast.Node, int]] = [(root, 0) for root in roots]
    while pending:
        node, depth = pending.pop()
        if depth > MAXIMUM_EXPRESSION_DEPTH:
            return node
        pending.extend((inner, depth + 1) for inner in _children(node))
    return None


def _children(node: ast.Node) -> list[ast.Node]:
    """The expressions directly inside an expression, a subscript or a statement (without the statements in blocks)."""
    inner: list[ast.Node] = []
    for name in node.__match_args__[1:]:
        value = getattr(node, name)
        if isinstance(value, ast.Node):
            inner.append(value)
        elif isinstance(value, tuple) and name not in ("then", "otherwise", "body"):
            inner.extend(child for child in value if isinstance(child, ast.Node))
    return inner
