"""JSON values from outside, read as what they have to be: anything else raises ValueError."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

MOST_TEXT = 1 << 20
MOST_ITEMS = 4096

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def check(is_right: bool) -> None:
    """Raises ValueError."""
    if not is_right:
        raise ValueError("values of another shape")


def items(values: Any, most: int = MOST_ITEMS) -> list[Any]:
    """A list of not too many."""
    check(isinstance(values, list) and len(values) <= most)
    return cast("list[Any]", values)


def fields(values: Any, most: int = MOST_ITEMS) -> Mapping[str, Any]:
    """An object of not too many fields."""
    check(isinstance(values, dict) and len(values) <= most)
    return cast("Mapping[str, Any]", values)


def text(value: Any, most: int = MOST_TEXT) -> str:
    """A text of not too many characters."""
    check(isinstance(value, str) and len(value) <= most)
    return value


def name(value: Any) -> str:
    """A word that is a name in the language, which a text of the language's kind cannot leave."""
    check(_NAME.match(text(value)) is not None)
    return value


def code(value: Any) -> str:
    """WGSL as the compiler writes it: ASCII, and nothing in it that a terminal acts on."""
    check(text(value).isascii() and value.replace("\n", "").isprintable())
    return value


def integer(value: Any, low: int, high: int) -> int:
    """A whole number in a range."""
    check(type(value) is int and low <= value <= high)
    return value


def boolean(value: Any) -> bool:
    check(type(value) is bool)
    return value
