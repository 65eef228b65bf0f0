"""The tree as text, one node a line: what `tilec compile --emit ast` shows."""

from __future__ import annotations

from tilec.syntax import ast

_INDENT = "  "


def print_ast(node: ast.Node) -> str:
    """The node and everything below it. Scalars stand beside the node's name, children below it."""
    lines: list[str] = []
    pending: list[tuple[str, object, int]] = [("", node, 0)]
    while pending:
        label, value, depth = pending.pop()
        head = f"{_INDENT * depth}{label}"
        if isinstance(value, ast.Node):
            children, scalars = _split(value)
            words = [type(value).__name__, *(f"{name}={scalar!r}" for name, scalar in scalars)]
            lines.append(head + " ".join(words))
            pending.extend((f"{name}: ", child, depth + 1) for name, child in reversed(children))
        elif isinstance(value, tuple):
            lines.append(f"{head}{len(value)}")
            pending.extend(("", child, depth + 1) for child in reversed(value))
        else:
            lines.append(f"{head}{value!r}")
    return "\n".join(lines)


def _split(node: ast.Node) -> tuple[list[tuple[str, object]], list[tuple[str, object]]]:
    """The fields of a node that are nodes or lists of them, and the others; empty ones are left out."""
    children: list[tuple[str, object]] = []
    scalars: list[tuple[str, object]] = []
    for name in node.__match_args__:
        value = getattr(node, name)
        if name == "function_span" or isinstance(value, ast.Span):
            continue
        if isinstance(value, ast.Node) or (isinstance(value, tuple) and value):
            children.append((name, value))
        elif value is not None and value not in ((), "", frozenset()):
            scalars.append((name, value))
    return children, scalars
