"""Damaged and recombined programs: the repository's sources, changed in characters, tokens, lines and trees."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

from tests.hostile.families import FAMILIES
from tilec.diag.report import Reporter
from tilec.source import Source
from tilec.syntax import ast
from tilec.syntax.parse import parse

ROOT = Path(__file__).resolve().parents[2]
_TOKEN = re.compile(r'[A-Za-z_]\w*|0x[0-9a-fA-F]+|[0-9][0-9_]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|"[^"\n]*"|//[^\n]*|'
                    r":\+|[=!<>]=|&&|\|\||[-+*/]=|\n| +|.", re.DOTALL)  # fmt: skip
_CHARACTERS = "abxyzMN_019.+-*/%=<>!&|()[]{},:;@\"'#$\\ \n\t\0\r\u00e9\u03b1\u2028\ufeff\U0001f600"
_NUMBERS = re.findall(r"\S+", """
0 1 2 3 7 8 64 255 256 65535 65536 2147483647 2147483648 4294967295 4294967296 1e38 1e39 1e-46 0.0 0.5 1.0 3.5
0x7fffffff 99999999999999999999
""")  # fmt: skip
_WORDS = re.findall(r"\S+", """
M N V x r inf nan true false f32 f16 bf16 i32 u32 bool i64 exp log max min sum rowmax rowsum rowargmax logsumexp softmax
pick iota onehot where pad grad stop_grad extent div ceildiv amax colsum rowvar pow if else for while break continue
return let var require assert print new ctx.block.x ctx.block.y range const fn kernel import
""")  # fmt: skip
_OPERATORS = re.findall(r"\S+", "+ - * / % == != < <= > >= && || :+ : = += *= , ;")


@cache
def bases() -> tuple[str, ...]:
    """Texts with one kernel each: from the examples, the tests and the documentation, one for each function of std, and
    the chains of `tests/hostile`."""
    found: list[str] = []
    for folder in ("examples", "tests/kernels", "tests/diag", "tests/bench"):
        for path in sorted((ROOT / folder).rglob("*.ph")):
            found += _by_kernel(path.read_text(encoding="utf-8", errors="replace"))
    for path in sorted((ROOT / "std").glob("*.ph")):
        found += _functions_in_use(path.read_text(encoding="utf-8"))
    language = (ROOT / "docs/language.md").read_text(encoding="utf-8")
    for text in re.findall(r"```ph\n(.*?)```", language, re.DOTALL):
        found += _by_kernel(text)
    found += [family(3) for family in FAMILIES.values()]
    return tuple(text for text in found if len(text) < 6000)


def _by_kernel(text: str) -> list[str]:
    items = parse(Source("base.ph", text), Reporter()).items
    kernels = [item for item in items if isinstance(item, ast.Kernel)]
    others = [item.span.text for item in items if not isinstance(item, ast.Kernel)]
    return ["\n\n".join([*others, kernel.span.text]) + "\n" for kernel in kernels] or [text]


def _functions_in_use(text: str) -> list[str]:
    found: list[str] = []
    for item in parse(Source("base.ph", text), Reporter()).items:
        if isinstance(item, ast.Function):
            given = ["x", "t", "y", "2.0", "c", "0.5"]
            arguments = ", ".join(given[: len([p for p in item.parameters if p.default is None])])
            found.append(
                f"{item.span.text}\n\n"
                "kernel k(A: tensor<f32|f16>[M, N], T: tensor<i32>[M], C: tensor<f32>[M], B: tensor<f32>[M, N]) {\n"
                "  let r = ctx.block.x * 4\n  let x = A[r :+ 4, :]\n  let t = T[r :+ 4, new]\n"
                "  let c = C[r :+ 4, new]\n  let y = B[r :+ 4, :]\n"
                f"  B[r :+ 4, :] = {item.name.name}({arguments})\n}}\n"
            )
    return found


def draw(seed: int) -> str:
    """The input of that number."""
    choose = random.Random(seed)
    text = choose.choice(bases())
    level = choose.choices((characters, tokens, lines, trees), (1, 3, 2, 6))[0]
    for _ in range(choose.choice((1, 1, 1, 2, 2, 3, 5))):
        text = level(text, choose)
        if choose.random() < 0.2:
            level = choose.choice((characters, tokens, lines, trees))
    return text[:20_000]


# --- levels --------------------------------------------------------------------------------------------------


def characters(text: str, choose: random.Random) -> str:
    at = choose.randrange(len(text) + 1)
    length = choose.choice((1, 1, 1, 2, 5, 20))
    match choose.randrange(5):
        case 0:
            return text[:at] + text[at + length :]
        case 1:
            return text[:at] + choose.choice(_CHARACTERS) * length + text[at:]
        case 2:
            return text[:at] + choose.choice(_CHARACTERS) + text[at + 1 :]
        case 3:
            return text[:at] + text[at : at + length] * 2 + text[at + length :]
    return text[:at]


def tokens(text: str, choose: random.Random) -> str:
    """Mostly another token of the same kind, so that the result often parses."""
    parts = _TOKEN.findall(text)
    places = [number for number, part in enumerate(parts) if part.strip(" ")]
    if not places:
        return text
    at = choose.choice(places)
    part = parts[at]
    match choose.randrange(8):
        case 0:
            del parts[at]
        case 1:
            parts.insert(at, part)
        case 2:
            other = choose.choice(places)
            parts[at], parts[other] = parts[other], part
        case 3:
            parts[at] = choose.choice((*_WORDS, *_NUMBERS, *_OPERATORS, "(", ")", "[", "]", "{", "}", "@", "\n"))
        case _:
            parts[at] = _another(part, parts, choose)
    return "".join(parts)


def _another(part: str, parts: list[str], choose: random.Random) -> str:
    if part[0].isdigit():
        return choose.choice(_NUMBERS)
    if part[0].isalpha() or part[0] == "_":
        names = [other for other in parts if other[0].isalpha()]
        return choose.choice(names if choose.random() < 0.7 else _WORDS)
    return choose.choice(_OPERATORS) if part in _OPERATORS else part


def lines(text: str, choose: random.Random) -> str:
    rows = text.split("\n")
    at, other = choose.randrange(len(rows)), choose.randrange(len(rows))
    match choose.randrange(6):
        case 0:
            del rows[at]
        case 1:
            rows[at:at] = [rows[at]] * choose.choice((1, 1, 1, 3, 30))
        case 2:
            rows[at], rows[other] = rows[other], rows[at]
        case 3:
            rows.insert(at, rows.pop(other))
        case 4:
            rows.insert(at, choose.choice(choose.choice(bases()).split("\n")))
        case _:
            low, high = sorted((at, other))
            rows[low:high] = rows[low:high] * 2
    return "\n".join(rows)


def trees(text: str, choose: random.Random) -> str:
    """An expression or statement replaced by another one, wrapped, doubled or left out."""
    places = _nodes(text)
    if not places:
        return tokens(text, choose)
    kind, start, end = choose.choice(places)
    own = text[start:end]
    if kind == "statement":
        return text[:start] + _statement(own, text, places, choose) + text[end:]
    return text[:start] + _expression(own, text, places, choose) + text[end:]


def _expression(own: str, text: str, places: list[tuple[str, int, int]], choose: random.Random) -> str:
    if choose.random() < 0.5:
        return f"({_some('expression', text, places, choose)})"
    a, b = own, _some("expression", text, places, choose)
    forms: tuple[Callable[[], str], ...] = (
        lambda: f"{choose.choice(_CALLS)}({a})",
        lambda: f"{choose.choice(_CALLS)}({a}, {b})",
        lambda: f"where({a}, {b}, {a})",
        lambda: f"where({b} > 0.0, {a}, {b})",
        lambda: f"({a} {choose.choice(_OPERATORS[:13])} ({b}))",
        lambda: f"-({a})",
        lambda: f"!({a})",
        lambda: choose.choice(_NUMBERS),
        lambda: choose.choice(_WORDS),
        lambda: f"({a})[:, new]",
    )
    return choose.choice(forms)()


_CALLS = [word for word in _WORDS if word.isidentifier()]


def _statement(own: str, text: str, places: list[tuple[str, int, int]], choose: random.Random) -> str:
    condition, other = _some("expression", text, places, choose), _some("statement", text, places, choose)
    forms = (
        "",
        f"{own}\n{own}",
        f"{own}\n{other}",
        f"{other}\n{own}",
        other,
        f"if {condition} {{\n{own}\n}}",
        f"if {condition} {{\n{own}\n}} else {{\n{other}\n}}",
        f"for i in range(0, {condition}) {{\n{own}\n}}",
        f"for i in range(0, 3) {{\n{own}\n{other}\n}}",
        f"while {condition} {{\n{own}\n}}",
        f"let g = grad({condition}, x)\n{own}",
    )
    return choose.choice(forms)


def _some(kind: str, text: str, places: list[tuple[str, int, int]], choose: random.Random) -> str:
    """A node of this kind, of this text or of another one."""
    if choose.random() < 0.2:
        text = choose.choice(bases())
        places = _nodes(text)
    fitting = [place for place in places if place[0] == kind and place[2] - place[1] < 300]
    if not fitting:
        return "1.0" if kind == "expression" else "let z = 1"
    _, start, end = choose.choice(fitting)
    return text[start:end]


def _nodes(text: str) -> list[tuple[str, int, int]]:
    """The statements and expressions of a text, with where they are."""
    found: list[tuple[str, int, int]] = []
    stack: list[object] = list(parse(Source("base.ph", text), Reporter()).items)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Number | ast.Name | ast.Unary | ast.Binary | ast.Call | ast.Index):
            found.append(("expression", node.span.start, node.span.end))
        elif isinstance(node, ast.Let | ast.Var | ast.Assign | ast.If | ast.For | ast.While | ast.CallStatement):
            found.append(("statement", node.span.start, node.span.end))
        stack.extend(_inner(node))
    return found


def _inner(node: object) -> Iterator[object]:
    if isinstance(node, ast.Node):
        for one in fields(node):
            value = getattr(node, one.name)
            if isinstance(value, ast.Node):
                yield value
            elif isinstance(value, tuple):
                yield from (part for part in value if isinstance(part, ast.Node))
