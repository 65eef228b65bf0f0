"""Makes the text of a failing program smaller: statements go, blocks are unwrapped, calls become their arguments."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator


def shrink(text: str, fails: Callable[[str], bool], seconds: float) -> str:
    """A smaller text for which `fails` still holds, as far as the time goes.

    A text that does not compile does not fail.
    """
    end = time.monotonic() + seconds
    tried = {text}
    best = text
    while True:
        for candidate in _smaller(best):
            if time.monotonic() > end:
                return best
            if candidate not in tried:
                tried.add(candidate)
                if fails(candidate):
                    best = candidate
                    break
        else:
            return best


def _smaller(text: str) -> Iterator[str]:
    lines = text.split("\n")
    yield from _without_lines(lines)
    yield from _without_parameters(lines)
    yield from _simpler_expressions(text)


def _without_lines(lines: list[str]) -> Iterator[str]:
    """Statements and functions left out, with all that they hold; then blocks without their heads."""
    for first, line in enumerate(lines):
        if line.startswith("kernel") or line.strip() in ("", "}"):
            continue
        last = _end(lines, first)
        yield "\n".join(lines[:first] + lines[last + 1 :])
    for first, line in enumerate(lines):
        if line.endswith("{") and not line.startswith(("kernel", "fn")) and "else" not in line:
            last = _end(lines, first)
            inner = lines[first + 1 : last]
            if not any(one.strip() == "} else {" for one in inner):
                yield "\n".join(lines[:first] + inner + lines[last + 1 :])
            else:
                middle = next(at for at, one in enumerate(inner) if one.strip() == "} else {")
                for part in (inner[:middle], inner[middle + 1 :]):
                    yield "\n".join(lines[:first] + part + lines[last + 1 :])


def _end(lines: list[str], first: int) -> int:
    """The line that closes what the line opens."""
    depth = 0
    for at in range(first, len(lines)):
        depth += lines[at].count("{") - lines[at].count("}")
        if depth <= 0:
            return at
    return first


def _without_parameters(lines: list[str]) -> Iterator[str]:
    at = next(at for at, line in enumerate(lines) if line.startswith("kernel"))
    head = lines[at]
    start, end = head.index("(") + 1, head.rindex(")")
    parameters = _parts(head[start:end])
    body = "\n".join(lines[at + 1 :])
    for number, parameter in enumerate(parameters):
        name = parameter.partition(":")[0].split()[-1]
        if not re.search(rf"\b{name}\b", body):
            rest = ", ".join(parameters[:number] + parameters[number + 1 :])
            yield "\n".join([*lines[:at], head[:start] + rest + head[end:], *lines[at + 1 :]])


def _parts(text: str) -> list[str]:
    """The text cut at its outermost commas."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += character in "([{<"
        depth -= character in ")]}>"
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


_OPERATOR = re.compile(r" (?:[-+*/%<>]|==|!=|<=|>=|&&|\|\|) ")


def _simpler_expressions(text: str) -> Iterator[str]:
    """Calls and brackets replaced by one of their parts, longest first."""
    body = text.index("{", text.index("kernel"))
    groups = []
    stack: list[int] = []
    for at, character in enumerate(text):
        if character == "(":
            stack.append(at)
        elif character == ")" and stack:
            first = stack.pop()
            start = first
            while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
                start -= 1
            groups.append((start, first, at))
    groups.sort(key=lambda group: group[1] - group[2])
    for start, first, last in groups:
        if start < body and not text[:start].rpartition("\n")[2].startswith(("  ", "fn")):
            continue
        inside = text[first + 1 : last]
        parts = [part for piece in _parts(inside) for part in {piece, *_operands(piece)}]
        for part in sorted(set(parts), key=len):
            if part and ":" not in part.partition("[")[0]:
                yield text[:start] + part + text[last + 1 :]


def _operands(piece: str) -> list[str]:
    """The sides of the outermost operators."""
    cuts, depth = [], 0
    for at, character in enumerate(piece):
        depth += character in "(["
        depth -= character in ")]"
        if depth == 0 and _OPERATOR.match(piece, at):
            cuts.append(at)
    return [side.strip() for cut in cuts for side in (piece[:cut], piece[cut + 1 :].lstrip("-+*/%<>=!&| "))]
