"""What a program is told, as a user reads it, for tests of the text."""

from __future__ import annotations

from tests.diag.fixtures import diagnostics_of
from tilec.diag.render import render
from tilec.source import Source


def told(text: str) -> list[str]:
    """Every diagnostic of a program, rendered."""
    return [render(one) for one in diagnostics_of(Source("my.ph", text.strip("\n") + "\n"))]


def first_lines(text: str) -> list[str]:
    """The first line of each."""
    return [one.splitlines()[0] for one in told(text)]


def hints(text: str) -> list[str]:
    """The hint of each, or nothing."""
    return [one.rpartition("= hint: ")[2] if "= hint: " in one else "" for one in told(text)]
