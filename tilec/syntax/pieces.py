"""What layout.py finds: lines, blocks and open brackets."""

from __future__ import annotations

from dataclasses import dataclass, field

from lark import Token


@dataclass(slots=True, eq=False)
class Line:
    """One item or statement: its tokens, with one BLOCK token for each block in `blocks`.

    `broken`: something in it has been reported, and it is not parsed.
    """

    tokens: list[Token] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    broken: bool = False


@dataclass(slots=True, eq=False)
class Block:
    """The statements between braces. `end` lies behind the closing brace."""

    start: int
    end: int = 0
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Frame:
    """An open bracket, with what it interrupts."""

    opener: Token
    depth: int
    fills: int
    line: Line
    block: Block


def is_complete_item(line: Line) -> bool:
    """Whether a line at file level is an item with its body. Of others the parser complains anyway."""
    first, last = line.tokens[0].type, line.tokens[-1].type
    if first in ("KERNEL", "FN", "AT"):
        return last == "BLOCK" or any(token.type == "EQUAL" for token in line.tokens)
    return first in ("CONST", "IMPORT")
