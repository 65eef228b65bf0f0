"""Every loop that the compiler writes ends: counted ones by a positive literal step, others by a literal bound."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.diff.harness import CPU
from tests.fuzz.attempts import cases_of
from tests.fuzz.generate import draw_program
from tests.fuzz.parts import RandomChoices
from tests.golden.test_golden import GOLDEN, TEXTS
from tests.reference.table import ROWS
from tests.reference.training_table import LOSSES
from tests.sandbox.test_sandbox import EXAMPLES, KERNELS
from tests.std.harness import kernel_text as row_text
from tests.std.test_training import kernel_text as loss_text
from tilec import driver
from tilec.loop import ir
from tilec.options import Options
from tilec.source import Source

PLANS = {"grouped": Options(), "naive": Options(fusion=False), "split": Options(split=64), "rows": Options(rows=True)}
PROGRAMS = 200
FIRST_SEED = 7_000_000


def loops_of(program: ir.Program) -> Iterator[ir.Loop | ir.While]:
    stack = [statement for dispatch in program.dispatches for statement in dispatch.body]
    while stack:
        statement = stack.pop()
        for part in ("body", "then", "otherwise", "prelude"):
            stack.extend(getattr(statement, part, ()))
        if isinstance(statement, ir.Loop | ir.While):
            yield statement


def assigned(body: tuple[ir.Statement, ...]) -> set[int]:
    """The numbers of the variables that statements assign."""
    found: set[int] = set()
    stack = list(body)
    while stack:
        statement = stack.pop()
        for part in ("body", "then", "otherwise", "prelude"):
            stack.extend(getattr(statement, part, ()))
        if isinstance(statement, ir.Assign):
            found.add(statement.local.number)
    return found


def judge_loops(program: ir.Program) -> int:
    """How many loops there are, each with an end."""
    count = 0
    for loop in loops_of(program):
        count += 1
        if isinstance(loop, ir.While):
            assert 1 <= loop.bound <= 1 << 31
            continue
        assert isinstance(loop.step, ir.Const)
        assert type(loop.step.value) is int
        assert loop.step.value > 0
        assert loop.index.number not in assigned(loop.body)
    return count


COUNTED = re.compile(r"for \(var (\w+): ([iu]32) = .*; (\(\1 < .*\) & !\w+|\1 < .*); \1 \+= ([1-9][0-9]*)u?\) \{")
BOUNDED = re.compile(r"for \(var (\w+) = 0u; \1 < ([1-9][0-9]*)u; \1 \+= 1u\) \{")
OF_A_HELPER = ["while (places > 0u) {", "let step = min(places, 8u);", "digits = (digits << step) % divisor_digits;",
               "places -= step;", "}"]  # fmt: skip
"""At most 32 rounds, since `places` is a difference of exponents."""


def judge_text(text: str) -> int:
    """How many loops the text has, each with an end."""
    lines, count = text.split("\n"), 0
    for number, line in enumerate(lines):
        code = line.partition("//")[0].strip()
        if not re.search(r"\b(for|while|loop)\b", code):
            continue
        count += 1
        if code == OF_A_HELPER[0]:
            assert [one.strip() for one in lines[number : number + len(OF_A_HELPER)]] == OF_A_HELPER
            continue
        match = COUNTED.fullmatch(code) or BOUNDED.fullmatch(code)
        assert match is not None, code
        indent = line[: len(line) - len(line.lstrip())]
        for inner in lines[number + 1 :]:
            if inner.startswith(f"{indent}}}"):
                break
            assert not re.match(rf"{match[1]}\s*([-+*/%&|^]|<<|>>)?=[^=]", inner.strip()), inner
    return count


def judge(program: Source | Path, plans: dict[str, Options] = PLANS) -> int:
    loaded, count = driver.parse_file(program), 0
    for name, signature in loaded.signatures.items():
        constants = {one.name: 2 for one in signature.parameters if one.is_const and one.default is None}
        built = driver.build_kernel(loaded.program, name, None, constants).kernel
        for options in plans.values():
            compiled = driver.compile_built(built, None, options)
            written = judge_loops(compiled.program)
            assert judge_text(compiled.wgsl) >= written
            count += written
    return count


@pytest.mark.parametrize("path", [*EXAMPLES, *KERNELS], ids=lambda path: path.stem)
def test_examples_and_kernels(path: Path) -> None:
    judge(path)


def test_the_library() -> None:
    texts = {row_text(row) for row in ROWS} | {loss_text(loss, most=7) for loss in LOSSES}
    assert len(texts) > 50
    plans = {"grouped": Options()}
    assert sum(judge(Source("std.ph", text), plans) for text in sorted(texts)) > 100


def test_golden_texts() -> None:
    texts = sorted(TEXTS.glob("*.wgsl"))
    assert len(texts) == len(GOLDEN)
    assert sum(judge_text(path.read_text()) for path in texts) > 50


@pytest.mark.parametrize("part", range(10))
def test_generated_programs(part: int) -> None:
    count = 0
    for seed in range(FIRST_SEED + part * PROGRAMS // 10, FIRST_SEED + (part + 1) * PROGRAMS // 10):
        compiled = cases_of(draw_program(RandomChoices(seed)), seed, 1)[0].subject().compiled(CPU, None)
        written = judge_loops(compiled.program)
        assert judge_text(compiled.wgsl) >= written
        count += written
    assert count > 50


@pytest.mark.parametrize(
    "line",
    [
        "loop {", "while (x > 0u) {",
        "for (var i: i32 = 0; i < n; i += 0) {", "for (var i: i32 = 0; i < n; i += step) {",
        "for (var i: i32 = 0; i < n; i -= 1) {", "for (var i: i32 = 0; i < n; j += 1) {", "for (;;) {",
        "for (var i: i32 = 0; i != n; i += 1) {", "for (var i: i32 = 0; i < n; i += 1) {\n  i = 0;",
        "for (var i: u32 = 0u; i < n; i += 4u) {\n  i -= 4u;", "for (var rounds = 0u; rounds < bound; rounds += 1u) {",
    ],
)  # fmt: skip
def test_planted_loops_are_found(line: str) -> None:
    with pytest.raises(AssertionError):
        judge_text(f"fn f() {{\n{line}\n}}\n")
    assert judge_text("for (var i: i32 = a + 1; i < b; i += 4) {\n  j = i;\n}\n") == 1
