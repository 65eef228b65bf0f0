"""Number literals: `12`, `0x1f`, `1_000`, `1.0`, `1e-6`."""

from __future__ import annotations

import re

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.source import Span

_NUMBER = re.compile(r"0x[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|([0-9]+(?:_[0-9]+)*)(\.[0-9]+(?:_[0-9]+)*)?([eE][+-]?[0-9]+)?")
_LONGEST_INTEGER = 100
"""Digits. Beyond, nothing is computed: turning digits into a number takes quadratic time."""


def read_number(text: str, span: Span, reporter: Reporter) -> int | float | None:
    """The value of a literal, an int or a float by how it is written. None after a report."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        _report_malformed(text, span, reporter)
        return None
    digits = text.replace("_", "")
    if match.group(2) or match.group(3):
        return float(digits)
    if len(digits) > _LONGEST_INTEGER:
        reporter.error(
            catalog.INTEGER_TOO_LARGE,
            span,
            text=f"{digits[:12]}...",
            type="u32",
            largest=0xFFFFFFFF,
            hint="write a float in the form `1e6`, if you mean a float",
        )
        return None
    return int(digits, 16 if digits.startswith("0x") else 10)


def _report_malformed(text: str, span: Span, reporter: Reporter) -> None:
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    if re.fullmatch(r"\.[0-9]+([eE][+-]?[0-9]+)?", text):
        reporter.error(catalog.NUMBER_NEEDS_DIGIT, span, text=shown, fixed=f"0{shown}")
    elif re.fullmatch(r"[0-9][0-9_]*\.([eE][+-]?[0-9]+)?", text):
        reporter.error(catalog.NUMBER_NEEDS_DIGIT, span, text=shown, fixed=shown.replace(".", ".0", 1))
    else:
        reporter.error(catalog.BAD_NUMBER, span, text=shown, hint=_hint(text))


def _hint(text: str) -> str | None:
    if ".." in text:
        start, _, stop = text.partition("..")
        return f"a loop counts with `range({start}, {stop.lstrip('.') or 'n'})`"
    suffixed = re.fullmatch(r"([0-9][0-9_]*(?:\.[0-9]+)?)([A-Za-z_]+[0-9]*)", text)
    if suffixed is None:
        return None
    digits, suffix = suffixed.groups()
    if suffix in ("f", "F", "f32", "f16", "h", "d"):
        return f"write `{digits}`" if "." in digits else f"write `{digits}.0`"
    if suffix in ("u", "U", "u32"):
        return f"write `u32({digits})`"
    if suffix in ("i", "l", "L", "i32"):
        return f"write `{digits}`"
    return None if "." in digits else "a name cannot begin with a digit"
