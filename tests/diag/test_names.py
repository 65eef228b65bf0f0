"""Names and arguments: what is proposed is what would be valid there, and what a call lacks is named."""

from __future__ import annotations

import pytest

from tests.diag.messages import first_lines, hints, told
from tilec.diag.report import edits, suggest

KERNEL = """
fn focal(x, t, gamma: f32) {{
  let logp = pick(x, t) - logsumexp(x)
  return -pow(1.0 - exp(logp), gamma) * logp
}}
fn split(positive, negative, x) {{
  positive = max(x, 0.0)
  negative = min(x, 0.0)
}}
kernel k(Logits: tensor<f32>[R, C], Target: tensor<i32>[R], Loss: tensor<f32>[R], learning_rate: f32) {{
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  let los = logsumexp(x) * f32(Target[r :+ 8, new]) * learning_rate
  Loss[r :+ 8, new] = los
  {}
}}
"""


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("Loss[r :+ 8, new] = loss", "did you mean `los`?"),
        ("Loss[r :+ 8, new] = lr", ""),
        ("Loss[r :+ 8, new] = tarrget", ""),
        ("Loss[r :+ 8, new] = logits", ""),
        ("Loss[r :+ 8] = learning_rat", "did you mean `learning_rate`?"),
        ("Loss[r :+ 8] = Losss[r :+ 8]", "did you mean `Loss`?"),
        ("losses[r :+ 8] = 1.0", "did you mean `Loss`?"),
        ("los[r :+ 8] = 1.0", "read the part from the tensor, or choose elements with `pick` or `where`"),
        ("xs[r :+ 8] = 1.0", ""),
        ("total = 3.0", "a new name is declared: `let total = ...`, or `var total = ...` if it changes later"),
        ("Loss[r :+ 8, new] = logsumxep(x)", "did you mean `logsumexp`?"),
        ("Loss[r :+ 8, new] = los(x)", "a product needs `*`, a subscript `[...]`"),
        ("Loss[r :+ 8, new] = rowsum(x, 1)", "`rowsum` always reduces the last axis; `sum(x, axis: k)` takes one"),
        ("Loss[r :+ 8] = rowsum(x, axis: 1)", "`rowsum` always reduces the last axis; `sum(x, axis: k)` takes one"),
        ("Loss[r :+ 8, new] = sum(x, 1)", "an axis is named: `sum(x, axis: 1)`"),
        ("Loss[r :+ 8, new] = sum(x, dim: 1)", "it has `axis`: `axis: 1`"),
        (
            "Loss[r :+ 8, new] = max(x)",
            "`rowmax(x)` is the maximum of each row, `amax(x)` of all; `max(x, y)` takes two values",
        ),
        ("Loss[r :+ 8, new] = where(x > 0.0, 1.0)", "write `where(condition, a, b)`"),
    ],
)
def test_hints(statement: str, hint: str):
    assert hints(KERNEL.format(statement)) == [hint]


@pytest.mark.parametrize(
    ("statement", "first", "label"),
    [
        (
            "Loss[r :+ 8, new] = focal(x, 1)", "error[E0210]: the call of `focal` gives nothing for `gamma: f32`",
            "^^^^^^^^^^^ `gamma` is missing, and has no default",
        ),
        (
            "Loss[r :+ 8, new] = focal(x, gamma: 2.0)", "error[E0210]: the call of `focal` gives nothing for `t`",
            "^^^^^^^^^^^^^^^^^^^^ `t` is missing, and has no default",
        ),
        (
            "Loss[r :+ 8, new] = focal(x, 1, 2.0, 3.0)", "error[E0207]: `focal` takes 3 arguments, and 4 are given",
            "                                       ^^^ one too many",
        ),
        (
            "Loss[r :+ 8, new] = focal(x, 1, 2.0, 3.0, 4.0)",
            "error[E0207]: `focal` takes 3 arguments, and 5 are given",
            "                                       ^^^^^^^^ 2 too many",
        ),
        (
            "Loss[r :+ 8, new] = focal(x, 1, gama: 3.0)", "error[E0208]: `focal` has no parameter `gama`",
            "                                  ^^^^^^^^^ not known",
        ),
        ("split(Loss[r :+ 8], Loss[r :+ 8])", "error[E0210]: the call of `split` gives nothing for `x`", "is missing"),
    ],
)  # fmt: skip
def test_arguments_are_named_and_the_signature_is_shown(statement: str, first: str, label: str):
    [found] = told(KERNEL.format(statement))
    assert found.splitlines()[0] == first
    assert label in found
    name = "split" if statement.startswith("split") else "focal"
    assert f"- `{name}` is defined here" in found


def test_a_parameter_that_a_typo_was_meant_for_is_not_called_unused():
    assert first_lines("kernel k(A: tensor<f32>[M], rate: f32) {\n  A[:] = rte\n}") == [
        "error[E0201]: `rte` is not defined"
    ]


@pytest.mark.parametrize(
    ("left", "right", "count"), [("los", "loss", 1), ("abc", "acb", 1), ("", "ab", 2), ("kitten", "sitting", 3)]
)
def test_edits(left: str, right: str, count: int):
    assert edits(left, right) == edits(right, left) == count


@pytest.mark.parametrize(
    ("name", "pool", "found"),
    [
        ("lr", ["r", "lo"], None),
        ("x1", ["x", "x2"], None),
        ("los", ["loss", "rows"], "loss"),
        ("max_value", ["maxValue", "min_value"], "maxValue"),
        ("tagret", ["target", "magnet"], "target"),
        ("abc", ["xyz"], None),
    ],
)
def test_suggestions(name: str, pool: list[str], found: str | None):
    assert suggest(name, pool) == found
