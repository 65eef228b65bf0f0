"""Texts from outside, as terminals, logs and JSON may show them."""

from __future__ import annotations

import json
import re
from typing import Any


def printable(text: str, keep: str = "") -> str:
    """The text with U+FFFD for what a terminal acts on or hides: control and format characters, odd spaces, halves of
    surrogate pairs. Characters of `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else "\ufffd" for c in text)


def json_text(value: Any, indent: int | None = 2) -> str:
    """JSON in which such characters are escaped, so that it can be printed and embedded, and says the same."""
    return _ESCAPED.sub(_escape, json.dumps(value, indent=indent, ensure_ascii=False))


# Outside of strings JSON is ASCII; `indent` brings newlines. `<` before a letter or `/` could end a script of a page.
_ESCAPED = re.compile(r"<(?=[/!?A-Za-z])|[^\x20-\x7e\n]")


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character.isprintable() and character != "<":
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
