"""Requirements as texts that a host can evaluate: nothing but dims and scalar parameters is named in them."""

from __future__ import annotations

from tilec.tile import ir

LONGEST = 4096
"""Characters of a text; values that are used twice are written twice, so that a few lines may make a long one."""

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div_f32": "/", "rem": "%", "and": "&&", "or": "||",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
_PREFIX = {"neg": "-", "not": "!"}


def condition_text(condition: ir.Value) -> str | None:
    """The condition of a requirement as a formula; None if it is longer than `LONGEST`."""
    texts: dict[int, str] = {}
    stack = [condition]
    while stack:
        value = stack[-1]
        operands = value.operands if isinstance(value, ir.Pointwise) else ()
        missing = [operand for operand in operands if id(operand) not in texts]
        if missing:
            stack += missing
            continue
        text = _text(value, [texts[id(operand)] for operand in operands])
        if len(text) > LONGEST:
            return None
        texts[id(stack.pop())] = text
    return _bare(texts[id(condition)])


def _text(value: ir.Value, operands: list[str]) -> str:
    match value:
        case ir.Const():
            # `repr` of a float has a point or an exponent; infinities and NaN are words.
            return str(value.value).lower() if isinstance(value.value, bool) else repr(value.value)
        case ir.Scalar():
            return value.parameter
        case ir.Dim():
            text = str(value.extent)
            return text if text.isidentifier() else f"({text})"
        case ir.Pointwise() if value.op in _INFIX:
            return f"({operands[0]} {_INFIX[value.op]} {operands[1]})"
        case ir.Pointwise() if value.op in _PREFIX:
            return f"({_PREFIX[value.op]}{operands[0]})"
        case ir.Pointwise():
            return f"{value.op}({', '.join(map(_bare, operands))})"
    raise AssertionError(f"{type(value).__name__} in a requirement")


def _bare(text: str) -> str:
    """Without the parentheses around the whole of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text
