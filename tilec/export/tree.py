"""Any tree of dataclasses as indented text: the syntax tree, for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

_SKIPPED = frozenset({"span"})
_DEEPEST = 200


def tree_text(node: Any) -> str:
    """One line a node: its class, then its fields; nested nodes are indented below it. Places are left out."""
    return "\n".join(_lines(node, "", 0)) + "\n"


def _lines(value: Any, label: str, depth: int) -> list[str]:
    indent = "  " * depth + (f"{label}: " if label else "")
    if depth > _DEEPEST:
        return [f"{indent}..."]
    if is_dataclass(value) and not isinstance(value, type):
        simple, nested = [], []
        for field in fields(value):
            if field.name in _SKIPPED or field.name.endswith("_span"):
                continue
            content = getattr(value, field.name)
            if _is_nested(content):
                nested.append((field.name, content))
            elif content not in (None, (), ""):
                simple.append(f"{field.name}={_simple(content)}")
        lines = [f"{indent}{type(value).__name__}({', '.join(simple)})"]
        for name, content in nested:
            lines += _lines(content, name, depth + 1)
        return lines
    if isinstance(value, Sequence) and _is_nested(value):
        lines = [f"{indent}["]
        for one in value:
            lines += _lines(one, "", depth + 1)
        return [*lines, "  " * depth + "]"]
    return [indent + _simple(value)]


def _is_nested(value: Any) -> bool:
    if is_dataclass(value) and not isinstance(value, type):
        return True
    return isinstance(value, Sequence) and not isinstance(value, str) and any(map(_is_nested, value))


def _simple(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value)
    return repr(value)
