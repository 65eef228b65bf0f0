"""Random scalar programs with jumps, loops, branches and out parameters, against the same program in Python."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.sema.support import run

VARIABLES = ["a", "b", "c"]
ROUNDS = 40


class Writer:
    """Writes one random program twice: as a kernel and as Python. Values stay small by `% 100`."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.loops = 0
        self.counters: list[str] = []
        self.variables = VARIABLES
        self.may_call = True

    def expression(self, depth: int = 0) -> tuple[str, str]:
        names = [*self.variables, "n", *self.counters, str(self.random.randrange(10))]
        if depth > 1 or self.random.random() < 0.4:
            name = self.random.choice(names)
            return name, name
        left, right = self.expression(depth + 1), self.expression(depth + 1)
        match self.random.choice("+-*md"):
            case "m":
                return f"max({left[0]}, {right[0]})", f"max({left[1]}, {right[1]})"
            case "d":
                return f"div({left[0]}, 3)", f"quotient({left[1]}, 3)"
            case operator:
                return f"({left[0]} {operator} {right[0]})", f"({left[1]} {operator} {right[1]})"

    def condition(self) -> tuple[str, str]:
        left, right = self.expression(1), self.expression(1)
        operator = self.random.choice(["<", "==", "!=", ">="])
        return f"{left[0]} {operator} {right[0]}", f"{left[1]} {operator} {right[1]}"

    def block(self, indent: str, depth: int, in_loop: bool, may_return: bool) -> tuple[list[str], list[str]]:
        source: list[str] = []
        python: list[str] = []
        for _ in range(self.random.randint(1, 4)):
            ours, theirs = self.statement(indent, depth, in_loop, may_return)
            source += ours
            python += theirs
            if ours[-1].strip() in ("break", "continue", "return"):
                break
        return source, python

    def statement(self, indent: str, depth: int, in_loop: bool, may_return: bool) -> tuple[list[str], list[str]]:
        kinds = ["assign"] * 4 + (["if"] * 3 + ["for", "while"] + ["call"] * self.may_call if depth < 3 else [])
        kinds += ["break", "continue"] * in_loop + ["return"] * may_return * (depth > 0)
        kind = self.random.choice(kinds)
        inner = indent + "  "
        if kind == "assign":
            name, value = self.random.choice(self.variables), self.expression()
            return [f"{indent}{name} = ({value[0]}) % 100"], [f"{indent}{name} = remainder({value[1]}, 100)"]
        if kind == "if":
            condition = self.condition()
            then = self.block(inner, depth + 1, in_loop, may_return)
            source = [f"{indent}if {condition[0]} {{", *then[0], f"{indent}}}"]
            python = [f"{indent}if {condition[1]}:", *then[1]]
            if self.random.random() < 0.6:
                other = self.block(inner, depth + 1, in_loop, may_return)
                source[-1:] = [f"{indent}}} else {{", *other[0], f"{indent}}}"]
                python += [f"{indent}else:", *other[1]]
            return source, python
        if kind == "for":
            self.loops += 1
            counter = f"i{self.loops}"
            start, stop, step = self.random.randrange(3), self.random.randrange(6), self.random.randint(1, 2)
            self.counters.append(counter)
            body = self.block(inner, depth + 1, True, may_return)
            self.counters.remove(counter)
            head = f"{indent}for {counter} in range({start}, {stop}, {step})"
            return [head + " {", *body[0], indent + "}"], [head + ":", *body[1]]
        if kind == "while":
            condition = self.condition()
            body = self.block(inner, depth + 1, True, may_return)
            self.loops += 1
            rounds = f"rounds{self.loops}"
            return (
                [f"{indent}while {condition[0]} {{", *body[0], indent + "}"],
                [
                    f"{indent}{rounds} = 0",
                    f"{indent}while {condition[1]} and {rounds} < {ROUNDS}:",
                    f"{inner}{rounds} += 1",
                    *body[1],
                ],
            )
        if kind == "call":
            first, second = self.random.sample(self.variables, 2)
            value = self.expression()
            return (
                [f"{indent}callee({first}, {second}, ({value[0]}) % 100)"],
                [f"{indent}{first}, {second} = callee({first}, {second}, remainder({value[1]}, 100))"],
            )
        return [indent + kind], [indent + ("return result()" if kind == "return" else kind)]

    def program(self) -> tuple[str, str]:
        main = self.block("  ", 0, False, False)
        self.variables, self.may_call = VARIABLES[:2], False
        callee = self.block("  ", 0, False, True)
        source = [
            "fn callee(a, b, n) {", *callee[0], "  a = a + 0", "}",
            f"@bound({ROUNDS})", "kernel k(Out: tensor<i32>[3], n: i32) {",
            *(f"  var {name} = {number}" for number, name in enumerate(VARIABLES)), *main[0],
            *(f"  Out[{number}] = {name}" for number, name in enumerate(VARIABLES)), "}",
        ]  # fmt: skip
        python = [
            "def callee(a, b, n):", "  result = lambda: (a, b)",
            *callee[1], "  return result()",
            "def k(n):", *(f"  {name} = {number}" for number, name in enumerate(VARIABLES)), *main[1],
            f"  return [{', '.join(VARIABLES)}]",
        ]  # fmt: skip
        return "\n".join(source), "\n".join(python)


def _quotient(x: int, y: int) -> int:
    return abs(x) // y * (1 if x >= 0 else -1)


@pytest.mark.parametrize("seed", range(120))
def test_a_program_means_what_it_means_in_python(seed: int):
    source, python = Writer(seed).program()
    scope: dict = {"quotient": _quotient, "remainder": lambda x, y: x - y * _quotient(x, y)}
    exec(python, scope)
    for n in (-3, 0, 7):
        expected = scope["k"](n)
        np.testing.assert_array_equal(run(source, {}, n=n)["Out"], expected, err_msg=f"{source}\n{python}")
