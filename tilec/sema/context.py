"""Where an expansion stands: what names mean, how the body was reached, which loops are around."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tilec.sema import core
from tilec.sema.program import FileScope
from tilec.source import Span
from tilec.syntax import ast


class TooLargeError(Exception):
    """The kernel was reported to be beyond a limit; what was expanded is of no use."""


@dataclass(frozen=True, slots=True)
class TensorName:
    """What a tensor's name (or a parameter to which a tensor was passed whole) stands for."""

    tensor: str


Binding: TypeAlias = "core.Node | core.Cell | TensorName"


@dataclass(slots=True)
class Loop:
    """A loop around the statement at hand, with its flags (None where no statement inside sets them)."""

    broke: core.Cell | None
    continued: core.Cell | None


@dataclass(slots=True)
class Context:
    """One body: the file whose names it sees, how it was reached, its blocks' names, its loops."""

    scope: FileScope
    via: Span | None
    frames: list[dict[str, Binding]]
    loops: list[Loop] = field(default_factory=list)
    returned: core.Cell | None = None
    functions: tuple[ast.Function, ...] = ()
    """Those whose bodies this one is inlined in, itself included."""
