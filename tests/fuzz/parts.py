"""What the program generator keeps of a program while it writes it: axes, tensors, typed expressions, choices."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")


class Choices(Protocol):
    """Where decisions come from; smaller numbers are simpler."""

    def integer(self, low: int, high: int) -> int: ...


class RandomChoices:
    """From a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


class DrawnChoices:
    """From hypothesis, which shrinks them. `draw` takes a strategy."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        from hypothesis import strategies

        return self._draw(strategies.integers(low, high))


class Chooser:
    """Decisions in the forms that the generator needs. `leaner` is a number that the choice 0 makes simplest."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def integer(self, low: int, high: int) -> int:
        return self._choices.integer(low, high)

    def one_of(self, items: Sequence[Item]) -> Item:
        """The first item is the simplest."""
        return items[self._choices.integer(0, len(items) - 1)]

    def flag(self, percent: int) -> bool:
        """True that often; False is simpler."""
        return self._choices.integer(0, 99) >= 100 - percent


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the space that tiles are over: the tensors' dim along it, the subscript that a block has there, the
    extent of tiles, the start of the span ("0" for a whole axis)."""

    dim: str
    span: str
    extent: str
    start: str = "0"

    @property
    def is_whole(self) -> bool:
        return self.span == ":"

    @property
    def is_block(self) -> bool:
        return self.start != "0"


Mask = tuple[bool, ...]
"""Per axis (aligned at the last) whether a tile has the axis' extent there, else 1. Rank 0 is a scalar."""


def joined(*masks: Mask) -> Mask:
    """The mask of a broadcast."""
    rank = max(len(mask) for mask in masks)
    padded = [(False,) * (rank - len(mask)) + mask for mask in masks]
    return tuple(any(parts) for parts in zip(*padded, strict=True))


def padded(mask: Mask, rank: int) -> Mask:
    return (False,) * (rank - len(mask)) + mask


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression's text, compute type, mask and a bound on its magnitude."""

    text: str
    dtype: str
    mask: Mask = ()
    size: float = 1.0


@dataclass(slots=True)
class Tensor:
    """A tensor parameter. `role` says what data it gets: "float", "index", "int", "bool", "out", "point"; `mask` over
    the axes of the top space; `written` once a statement stores to it, `in_place` if it may be both read and stored."""

    name: str
    dtypes: tuple[str, ...]
    dims: tuple[str, ...]
    mask: Mask
    role: str
    compute: str
    in_place: bool = False
    type_variable: str = ""
    size: float = 1.0
    written: bool = False


@dataclass(slots=True)
class Scalar:
    name: str
    dtype: str
    default: str = ""
    is_const: bool = False


@dataclass(slots=True)
class Space:
    """The axes of tiles at a point of the program."""

    axes: tuple[Axis, ...]

    @property
    def rank(self) -> int:
        return len(self.axes)

    @property
    def full(self) -> Mask:
        return (True,) * len(self.axes)


@dataclass(slots=True)
class Variable:
    """A `let` or a `var` in scope."""

    name: str
    value: Expr
    is_mutable: bool = False
    axes: tuple[Axis, ...] = ()


@dataclass(slots=True)
class Program:
    """A finished program: its text, and what data its kernel needs."""

    text: str
    kernel: str
    tensors: list[Tensor] = field(default_factory=list)
    scalars: list[Scalar] = field(default_factory=list)
    dims: list[str] = field(default_factory=list)
    blocks: dict[str, int] = field(default_factory=dict)
    """By dim, how many of it a block takes (absent: all)."""
