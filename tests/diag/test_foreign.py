"""Habits of NumPy, PyTorch, Triton and C: the first line, the hint, and that the hint, taken literally, compiles."""

from __future__ import annotations

import time

import pytest

from tests.diag.messages import first_lines, hints, told

KERNEL = """
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M, V], T: tensor<i32>[M], L: tensor<f32>[M], s: f32 = 1.0, m: i32 = 1) {{
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  let t = T[r :+ 8, new]
  {}
  B[r :+ 8, :] = x * s * f32(m) * f32(t)
}}
"""


def errors(statement: str) -> list[tuple[str, str]]:
    """The first line and the hint of each error."""
    text = KERNEL.format(statement)
    pairs = zip(first_lines(text), hints(text), strict=True)
    return [(line, hint) for line, hint in pairs if line.startswith("error")]


@pytest.mark.parametrize(
    ("statement", "first", "hint", "fixed"),
    [
        ("L[r :+ 8, new] = x.sum()", "E0139]: values have no methods: `x.sum(...)`",
         "`rowsum(x)` of each row, `sum(x)` of everything", "L[r :+ 8, new] = rowsum(x)"),
        ("L[r :+ 8, new] = x.sum(axis=1)", "E0139]: values have no methods: `x.sum(...)`",
         "write `sum(x, axis: 1)`", "L[r :+ 8] = sum(x, axis: 1)"),
        ("L[r :+ 8] = x.sum(dim=1)", "E0139]: values have no methods: `x.sum(...)`",
         "write `sum(x, axis: 1)`", "L[r :+ 8] = sum(x, axis: 1)"),
        ("B[r :+ 8, :] = x.abs()", "E0139]: values have no methods: `x.abs(...)`",
         "write `abs(x)`", "B[r :+ 8, :] = abs(x)"),
        ("B[r :+ 8, :] = x.clamp(0.0, 1.0)", "E0139]: values have no methods: `x.clamp(...)`",
         "write `clamp(x, 0.0, 1.0)`", "B[r :+ 8, :] = clamp(x, 0.0, 1.0)"),
        ("B[r :+ 8, :] = np.exp(x)", "E0139]: there are no modules: `np.exp(...)`",
         "functions have no module in front: `exp(x)`", "B[r :+ 8, :] = exp(x)"),
        ("B[r :+ 8, :] = tl.load(A + r)", "E0139]: there are no modules: `tl.load(...)`",
         "a tensor is read with a subscript: `A[r :+ 8, :]`", "B[r :+ 8, :] = A[r :+ 8, :]"),
        ("L[r :+ 8] = sum(x, axis=1)", "E0115]: `=` inside an expression",
         "a named argument has a colon: `axis: 1`", "L[r :+ 8] = sum(x, axis: 1)"),
        ("L[r :+ 8] = sum(x, dim=1)", "E0115]: `=` inside an expression",
         "a named argument has a colon: `axis: 1`", "L[r :+ 8] = sum(x, axis: 1)"),
        ("L[r :+ 8, new] = rowsum(t[:, :, None])", "E0201]: `None` is not defined",
         "an axis of extent 1 is `new`, in a subscript; there is no empty value",
         "let _y = t[:, :, new]"),
        ("L[r :+ 8, new] = rowsum(t[:, :, np.newaxis])", "E0203]: `np` has no member `newaxis`",
         "write `new`", "let _y = t[:, :, new]"),
        ("let _y = True", "E0201]: `True` is not defined", "write `true`", "let _y = true"),
        ("for i in range(8) {\n  L[r + i] = 0.0\n  }", "E0130]: `range` takes 2 or 3 arguments, and 1 is given",
         "say where it starts: `range(0, 8)`", "for i in range(0, 8) {\n  L[r + i] = 0.0\n  }"),
        ("for i in range(0, 8):\n  L[r + i] = 0.0", "E0101]: expected `{` or an operator, found `:`",
         "a body stands in braces: `for ... {`, and `}` behind its last line",
         "for i in range(0, 8) {\n  L[r + i] = 0.0\n  }"),
        ("if s > 0.0:\n  L[r] = 0.0", "E0101]: expected `{` or an operator, found `:`",
         "a body stands in braces: `if ... {`, and `}` behind its last line", "if s > 0.0 {\n  L[r] = 0.0\n  }"),
        ("B[r :+ 8, :] = x if s > 0.0 else -x", "E0119]: the statement before the keyword `if` has not ended",
         "a choice between values: `where(s > 0.0, x, -x)`", "B[r :+ 8, :] = where(s > 0.0, x, -x)"),
        ("B[r :+ 8, :] = where(not (x > 0.0), x, 0.0)", "E0202]: there is no function `not`",
         "write `!` before the condition", "B[r :+ 8, :] = where(!(x > 0.0), x, 0.0)"),
        ("B[r :+ 8, :] = A[r :+ 8, ::2]", "E0101]: expected an expression, `]` or `,`, found `:`",
         "a span has no stride: `a : b` and `a :+ n` take neighbours", "B[r :+ 8, :] = A[r :+ 8, :]"),
        ("B[r :+ 8, ...] = x", "E0101]: expected a subscript or `]`, found `.`",
         "write `:` for each axis that is taken whole", "B[r :+ 8, :] = x"),
        ("B[r :+ 8 :] = x", "E0101]: expected `]`, `,` or an operator, found `:`",
         "`a :+ n` is a whole subscript; a comma separates subscripts: `A[r :+ 8, :]`", "B[r :+ 8, :] = x"),
        ("B[r :+ 8, :] = 2 x", "E0119]: the statement before `x` has not ended",
         "a product needs `*`: `2 * x`", "B[r :+ 8, :] = 2 * x"),
        ("B[r :+ 8, :] = abs x", "E0119]: the statement before `x` has not ended",
         "a call needs parentheses, `abs(x)`, and a product `*`", "B[r :+ 8, :] = abs(x)"),
        ("L[r :+ 8, new] = x @ x", "E0119]: the statement before `@` has not ended",
         "matrix products are a later step", "L[r :+ 8, new] = rowsum(x)"),
        ("let mut y = 1.0", "E0101]: expected `:` or `=`, found `y`",
         "what is assigned again is a `var`: `var y = ...`", "var y = 1.0"),
        ("y: f32 = 1.0", "E0101]: expected `=`, `+=`, the end of the line or an operator, found `:`",
         "a new name is declared: `let y: f32 = 1.0`", "let y: f32 = 1.0"),
        ("float y = 1.0", "E0119]: the statement before `y` has not ended",
         "a new name is declared with `let` or `var`, its type behind it: `let y = ...`", "let y = 1.0"),
        ("let _y = float(m)", "E0202]: there is no function `float`", "write `f32(...)`", "let _y = f32(m)"),
        ("let _y = maximum(x, 0.0)", "E0202]: there is no function `maximum`", "write `max(x, y)`",
         "let _y = max(x, 0.0)"),
        ("let _y = A.shape[0]", "E0203]: `A` has no member `shape`",
         "the length of an axis is `extent(x, axis)`, or the dim by its name", "let _y = extent(x, 0) + M"),
        ("let _i = threadIdx.x", "E0203]: `threadIdx` has no member `x`",
         "a block's number is `ctx.block.x`; what its threads do is the compiler's", "let _i = ctx.block.x"),
        ("print(f\"{x}\")", "E0101]: expected `)` or an operator, found the string \"{x}\"",
         "strings are not formatted: `print(x)` shows a value under its name", "print(x)"),
        ("m++", "E0101]: expected an expression, found `+`", "write `m += 1`", "var n = m\n  n += 1"),
    ],
)  # fmt: skip
def test_habits(statement: str, first: str, hint: str, fixed: str):
    assert errors(statement) == [(f"error[{first}", hint)]
    assert errors(fixed) == []


def test_a_floor_division_is_a_comment():
    found = [one for one in told(KERNEL.format("let half = m // 2\n  L[r] = f32(half)")) if "W0102" in one]
    assert found == ["""\
warning[W0102]: `// 2` is a comment, not a division
 --> my.ph:5:16
  |
5 |   let half = m // 2
  |                ^^^^ left out
  |
  = hint: write `div(n, 2)`; if it is meant to be a comment, say in words what the number is"""]


@pytest.mark.parametrize(
    "statement",
    ["let half = m    // 2 rows", "// 2", "let half = m // of them", "let half = m /// 2", 'assert m > 0, "a // 2"'],
)
def test_comments_of_words_are_comments(statement: str):
    assert not [one for one in first_lines(KERNEL.format(statement)) if "W0102" in one]


def test_methods_are_labelled_from_the_value_on():
    [found] = [one for one in told(KERNEL.format("L[r :+ 8, new] = x.sum()")) if "E0139" in one]
    assert "5 |   L[r :+ 8, new] = x.sum()\n  |                    ^^^^^ called with a point" in found


WHOLE = [
    ("import numpy as np\nkernel k(A: tensor<f32>[M]) { A[:] = 0.0 }", "E0101]: expected a string, found `numpy`",
     'every function of the library is in scope; a file of your own is `import "my.ph"`'),
    ("from math import pi\nkernel k(A: tensor<f32>[M]) { A[:] = 0.0 }",
     "E0113]: `from` stands outside a kernel and a function",
     'every function of the library is in scope; a file of your own is `import "my.ph"`'),
    ("kernel k(A: tensor<float>[M]) { A[:] = 0.0 }", "E0232]: `float` is not an element type", "write `f32`"),
    ("kernel k(A: tensor<f32>[M][V]) { A[:] = 0.0 }", "E0101]: expected `)`, `,` or `=`, found `[`",
     "the dims of a tensor stand in one bracket: `[M, V]`"),
    ("kernel k(A: f32[M]) { A[:] = 0.0 }", "E0122]: `f32` needs an element type", "write `tensor<f32>[M, V]`"),
    ("kernel k(A: tensor<f32>[M] B: tensor<f32>[M]) { A[:] = B[:] }",
     "E0101]: expected `)`, `,` or `=`, found `B`", "a comma separates parameters"),
    ("kernel k(A: tensor<f32>[M]) -> f32 { A[:] = 0.0 }", "E0117]: `->` is not an operator of the language",
     "results have no declared type: a function is `fn f(x) = value`, a kernel stores into its parameters"),
    ("fn f(x) { x * 2.0 }", "E0112]: an expression alone is not a statement",
     "what a function gives is returned, `return x * 2.0`; else name it, `let y = ...`, or store it"),
    ("fn f(x) = { return x }", "E0101]: expected an expression, found `{`",
     "a function is `fn f(x) = value`, or `fn f(x) { ... }` without `=`"),
    ("fn f(x, y) { return x, y }", "E0101]: expected the end of the line or an operator, found `,`",
     "a function has one value; further results go into parameters that it assigns"),
    ("kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M]) {\n  let x = A[:, :]\n  B[:] = x - rowmean(x)\n}",
     "E0309]: a value of the shape [M, V] does not fit the place `B[:]`, which is [M]",
     "one value a row is made by a reduction, such as `rowsum(...)` or `rowmean(...)`"),
    ("kernel k(A: tensor<f32>[M, V], B: tensor<f32>[1]) {\n  B[0] += sum(A[ctx.block.x * 8 :+ 8, :])\n}",
     "E0404]: two blocks write the same elements of `B`",
     "begin the span at `ctx.block.x`; one result of all blocks needs a kernel of its own, which reads whole tensors "
     "and names no block"),
    ("kernel k(A: tensor<f32>[M], G: tensor<f32>[M]) {\n  G[:] = grad(sum(square(A[:])), A)\n}",
     "E0318]: `A` is a tensor, not a value",
     "a derivative is by a tile that was read: `let x = A[...]`, then `grad(y, x)`"),
    ("kernel k(A: tensor<f32>[M], C: tensor<f32>[M]) {\n  C[0] = A[i]\n}", "E0201]: `i` is not defined",
     "the number of a block is `ctx.block.x`, a counter is that of a `for`"),
    ("kernel k(A: tensor<f32>[M]) {\n  A[0] = A[ctx.thread.x]\n}", "E0203]: `ctx.thread` has no member `x`",
     "threads are the compiler's: take a span for a block, `ctx.block.x * 256 :+ 256`"),
    ("kernel k(A: tensor<f32>[M]) {\n  A[:] = A[:] + f32(iota(1))\n}", "E0306]: nothing says how long this `iota` is",
     "axes count from 0; or say how long it is: `iota(1, n)`"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "first", "hint"), WHOLE)
def test_whole_programs(text: str, first: str, hint: str):
    found = list(zip(first_lines(text), hints(text), strict=True))
    assert [one for one in found if one[0].startswith("error")] == [(f"error[{first}", hint)]


def test_a_let_that_was_meant_to_assign():
    body = "var best = 0.0\n  for i in range(0, M) {\n    let best = A[i]\n    A[i] = best\n  }\n  A[0] = best"
    text = f"kernel k(A: tensor<f32>[M]) {{\n  {body}\n}}"
    assert "to change the outer one leave out `let`: `best = ...`" in hints(text)


@pytest.mark.parametrize(
    "line",
    [
        f"let _a = m //1{' ' * 200_000}x",
        f"let _a = m //{' ' * 200_000}x",
        f"let _a = {'m if m else ' * 20_000}",
    ],
    ids=["spaces behind", "spaces before", "choices"],
)
def test_long_lines_take_no_time(line: str):
    """Looking for a habit must not take the square of a line."""
    start = time.perf_counter()
    told(KERNEL.format(line))
    assert time.perf_counter() - start < 5.0


def test_long_names_take_no_time():
    start = time.perf_counter()
    lets = "\n  ".join(f"let _{'a' * 5000}{n} = 1.0" for n in range(40))
    uses = "\n  ".join(f"L[r] = _{'a' * 5000}{n}b" for n in range(40))
    assert len(errors(f"{lets}\n  {uses}")) == 40
    assert time.perf_counter() - start < 10.0
