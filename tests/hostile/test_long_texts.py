"""Long texts of every kind end in a diagnostic or an output, and cost as much more as they are longer.

Work is counted in calls of functions, as in `test_growth.py`. The longest that a source may have are tried too.
"""

from __future__ import annotations

import cProfile
import sys
from collections.abc import Callable

import pytest

import tilec
from tests.fuzz.hostile import limited as seconds
from tilec import driver
from tilec.diag.deadline import limited
from tilec.diag.report import Reporter
from tilec.errors import CompileError
from tilec.source import Source
from tilec.syntax.parse import MAXIMUM_SIZE, parse


def kernel(body: str = "  A[:] = 1.0\n", parameters: str = "A: tensor<f32>[M]", before: str = "") -> str:
    return f"{before}kernel k({parameters}) {{\n{body}}}\n"


def each(count: int, text: str, between: str = "") -> str:
    return between.join(text.replace("#", str(number)) for number in range(count))


Make = Callable[[int], str]
FAMILIES: dict[str, Make] = {
    "tensors": lambda n: kernel(parameters="A: tensor<f32>[M], " + each(n, "A#: tensor<f32>[M]", ", ")),
    "scalars": lambda n: kernel(parameters="A: tensor<f32>[M], " + each(n, "s#: f32", ", ")),
    "dims": lambda n: kernel(parameters="A: tensor<f32>[" + each(n, "M#", ", ") + "]"),
    "type parameters": lambda n: kernel(parameters="A: tensor<T0>[M]").replace(
        "k(", "k<" + each(n, "T#: f32|f16", ", ") + ">("
    ),
    "alternatives": lambda n: kernel(parameters="A: tensor<" + "f32|" * n + "f16>[M]"),
    "attributes": lambda n: kernel(before="@threads(32)\n" * n),
    "attributes in a line": lambda n: kernel(before="@threads(32) " * n),
    "attributes of nothing": lambda n: "@threads(32)\n" * n,
    "attribute's arguments": lambda n: kernel(before="@disjoint(" + "A, " * n + "A)\n"),
    "functions": lambda n: each(n, "fn f#(x) = x\n") + kernel(),
    "functions in a chain": lambda n: each(n, "fn f#(x) = g#(x)\nfn g#(x) = x\n") + kernel(),
    "functions of one name": lambda n: each(n, "fn f(x) = x\n") + kernel(),
    "kernels of one name": lambda n: each(n, "kernel k(A: tensor<f32>[M]) {\n  A[:] = 0.0\n}\n"),
    "constants": lambda n: each(n, "const c# = #.0\n") + kernel(),
    "imports": lambda n: each(n, 'import "missing#.ph"\n') + kernel(),
    "arguments": lambda n: kernel("  A[:] = max(" + "1.0, " * n + "1.0)\n"),
    "named arguments": lambda n: kernel("  A[:] = max(" + "a: 1.0, " * n + "1.0)\n"),
    "subscripts": lambda n: kernel("  A[" + ":, " * n + ":] = 1.0\n"),
    "statements": lambda n: kernel("  A[:] = 1.0\n" * n),
    "lets": lambda n: kernel(each(n, "  let x# = 1.0\n") + "  A[:] = 1.0\n"),
    "lets of one name": lambda n: kernel("  let x = 1.0\n" * n + "  A[:] = 1.0\n"),
    "unknown names": lambda n: kernel(each(n, "  A[:] = y#\n")),
    "prints": lambda n: kernel("  print(A[0])\n" * n),
    "semicolons": lambda n: kernel(";" * n + "A[:] = 1.0\n"),
    "newlines": lambda n: "\n" * n + kernel(),
    "returns of the carriage": lambda n: "\r" * n + kernel(),
    "comments": lambda n: "// x\n" * n + kernel(),
    "docs": lambda n: "/// x\n" * n + kernel(),
    "docs of nothing": lambda n: kernel("  /// x\n" * n),
    "strings": lambda n: kernel('  require M > 0, "x"\n' * n),
    "quotes": lambda n: kernel('  A[:] = "\n' * n),
    "brackets": lambda n: kernel("  A[:] = (1.0\n" * n),
    "closing braces": lambda n: "}\n" * n + kernel(),
    "elses": lambda n: kernel("  if M > 1 { A[:] = 1.0 }" + " else if M > 1 { A[:] = 1.0 }" * n + "\n"),
    "elses of nothing": lambda n: kernel("  else { A[:] = 1.0 }\n" * n),
}  # fmt: skip
SHORT, LONG = 100, 400
MOST = 7
"""More than four times as much for four times the length; what grows with the square is 16 times as much."""
SQUARES = {"statements": 18}
"""Every store of one tensor is compared with those before it; 4,096 statements and 30 seconds are the most."""


def calls(text: str) -> int:
    """How many calls of functions reading and compiling take."""
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    try:
        outcome(text)
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def outcome(text: str) -> str:
    """The codes that are found, or none: anything else is raised."""
    try:
        loaded = driver.parse_file(Source("long.ph", text))
        for name in [*loaded.signatures][:2]:
            _ = driver.compile_built(driver.build_kernel(loaded.program, name).kernel).wgsl
    except CompileError as error:
        found = error
    else:
        return ""
    assert str(found)
    return " ".join(sorted({one.code for one in found.diagnostics}))  # type: ignore[attr-defined]


@pytest.mark.parametrize("family", FAMILIES)
def test_work_grows_with_the_length(family: str) -> None:
    outcome(FAMILIES[family](3))
    most = SQUARES.get(family, MOST)
    assert calls(FAMILIES[family](LONG)) < most * calls(FAMILIES[family](SHORT))


SIZE = MAXIMUM_SIZE - 200
LONGEST: dict[str, tuple[str, str]] = {
    "a name": (kernel("  let " + "x" * SIZE + " = 1.0\n  A[:] = 1.0\n"), ""),
    "a kernel's name": ("kernel " + "k" * SIZE + "(A: tensor<f32>[M]) {\n  A[:] = 1.0\n}\n", "E0512"),
    "a string": (kernel('  require M > 0, "' + "x" * SIZE + '"\n  A[:] = 1.0\n'), ""),
    "an open string": (kernel('  require M > 0, "' + "x" * SIZE), "E0103 E0106"),
    "a comment": ("//" + "x" * SIZE + "\n" + kernel(), ""),
    "a doc": ("///" + "x" * SIZE + "\n" + kernel(), ""),
    "a line": (kernel(" " * SIZE + "A[:] = 1.0\n"), ""),
    "digits": (kernel("  A[:] = 1" + "0" * SIZE + ".0\n"), ""),
    "digits of an integer": (kernel("  A[:] = 1" + "0" * SIZE + "\n"), "E0325"),
    "digits behind the point": (kernel("  A[:] = 0." + "1" * SIZE + "\n"), ""),
    "hexadecimal digits": (kernel("  A[:] = 0x" + "f" * SIZE + "\n"), "E0325"),
    "an exponent": (kernel("  A[:] = 1e" + "9" * SIZE + "\n"), ""),
    "digits in groups": (kernel("  A[:] = 1" + "_0" * (SIZE // 2) + "\n"), "E0325"),
}  # fmt: skip


@pytest.mark.parametrize("what", LONGEST)
def test_the_longest(what: str) -> None:
    text, codes = LONGEST[what]
    assert len(text) <= MAXIMUM_SIZE
    found = outcome(text)
    assert found == codes


BRACKETS = [
    "(", "[", "{", "f(", "A[", "-", "!", "- ! ", "if a {\n", "while a {\n", "for i in range(0, 2) {\n", "else {",
    "fn f(", "kernel k(", "tensor<", "A[0] else ", "x = (", "where(a, ", "[[", "({[", "let x = (", "1 + (", "-(",
]  # fmt: skip


@pytest.mark.parametrize("opening", BRACKETS)
@pytest.mark.parametrize(
    "around",
    ["{}", "kernel k(A: tensor<f32>[M]) {{\n  x = {}\n}}\n", "fn f(x) = {}\n", "const c = {}\n",
     "kernel k(A: tensor<f32>[{}]) {{\n}}\n", "@grid({})\n"],
)  # fmt: skip
def test_every_bracket_ends_in_a_diagnostic(opening: str, around: str) -> None:
    """With as little room on Python's stack as a deep caller leaves: nothing recurses over the source."""
    closing = {"(": ")", "[": "]", "{": "}"}
    ends = "".join(closing.get(character, "") for character in reversed(opening))
    for text in (opening * 3000, opening * 3000 + ends * 3000, ends * 3000, (opening + ends) * 1000):
        assert outcome(around.format(text)) != "" or text.count("-") or around == "{}"


def test_conditions_of_requires_use_each_part_once() -> None:
    """What a `let` names is one value, however often it is used: in checks, in texts of stages, before launches."""
    lets = each(300, "  let a@ = a# + a#\n")
    for number in range(300):
        lets = lets.replace("@", str(number + 1), 1)
    body = f'  let a0 = s * 1.5\n{lets}  require a300 <= 1.0, "no"\n  A[:] = A[:] + s\n'
    with seconds(60.0):
        k = tilec.compile(source=kernel(body, "A: tensor<f32>[M], s: f32 = 0.0")).k
        assert k([1.0], device="numpy").A.tolist() == [1.0]
        with pytest.raises(tilec.ArrayError, match="no"):
            k([1.0], 1.0, device="numpy")
        assert len(k.ir()) < 100_000
        built = driver.build_kernel(k._program, "k", verify=True).kernel
        assert len(built.requirements) == 1


def test_nothing_raises_the_limit_of_recursion() -> None:
    before = sys.getrecursionlimit()
    outcome(FAMILIES["functions in a chain"](50))
    assert sys.getrecursionlimit() == before


def test_reading_ends_when_its_time_is_over() -> None:
    """In the middle of a statement too."""
    text = kernel("  A[:] = max(" + "1.0, " * 2000 + "1.0)\n")
    with limited(0.0), pytest.raises(CompileError, match="E0514"):
        driver.parse_file(Source("long.ph", text))
    assert driver.parse_file(Source("short.ph", kernel())).signatures.keys() == {"k"}
    reporter = Reporter()
    parse(Source("without a limit.ph", kernel()), reporter)
    assert not reporter.has_errors
