"""Faults inside functions: the argument that does not fit is labelled, not the whole call."""

from __future__ import annotations

import pytest

from tests.diag.fixtures import diagnostics_of
from tests.diag.messages import told
from tilec.diag.render import to_json
from tilec.source import Source

INNER = """
fn inner(a, b) {
  let d = a - b
  return square(d)
}
fn f(x, y) {
  let q = rowmean(x)
  return inner(x, y) + q
}
kernel k(A: tensor<f32>[R, C], B: tensor<f32>[R, D], Loss: tensor<f32>[R]) {
  let r = ctx.block.x * 8
  let y = B[r :+ 8, :]
  Loss[r :+ 8, new] = rowmean(f(A[r :+ 8, :], {}))
}
"""


def test_both_arguments_that_disagree():
    [found] = told(INNER.replace("{}", "exp(y)"))
    assert found == """\
error[E0312]: the shapes [8, C] and [8, D] do not match in `-`
  --> my.ph:12:33
   |
12 |   Loss[r :+ 8, new] = rowmean(f(A[r :+ 8, :], exp(y)))
   |                                 ^^^^^^^^^^^^ this is [8, C]
   |                                               ^^^^^^ this is [8, D]
  ::: my.ph:7:10 (in `f`, called there)
   |
 7 |   return inner(x, y) + q
   |          ----------- in this call
  ::: my.ph:2:11 (in `inner`, called there)
   |
 2 |   let d = a - b
   |           ^^^^^ [8, C] meets [8, D]"""


def test_a_name_as_an_argument_is_labelled_where_it_is_passed():
    [found] = told(INNER.replace("{}", "y"))
    lines = found.splitlines()
    assert lines[5] == "   |                                               ^ this is [8, D]"
    assert lines[-4] == "  ::: my.ph:11:11"
    assert lines[-1] == "   |           ------------ made here"


def test_the_place_of_the_diagnostic_is_the_argument():
    [found] = diagnostics_of(Source("my.ph", INNER.strip("\n").replace("{}", "y")))
    assert str(found).startswith("my.ph:12:33: error[E0312]")
    assert (to_json(found)["line"], to_json(found)["column"]) == (12, 33)


def test_a_shape_made_inside_a_function():
    [found] = told("""
fn weighted(x, t, w) {
  let lse = logsumexp(x)
  return (lse - pick(x, t)) * w
}
kernel k(Logits: tensor<f32>[R, C], Target: tensor<i32>[R], W: tensor<f32>[C], Loss: tensor<f32>[R]) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, new] = weighted(Logits[r :+ 8, :], Target[r :+ 8, new], W[:])
}
""")
    assert found == """\
error[E0309]: a value of the shape [8, C] does not fit the place `Loss[r :+ 8, new]`, which is [8, 1]
 --> my.ph:7:3
  |
7 |   Loss[r :+ 8, new] = weighted(Logits[r :+ 8, :], Target[r :+ 8, new], W[:])
  |   ^^^^^^^^^^^^^^^^^ this place is [8, 1]
  |                       ------------------------------------------------------ the value is [8, C]
  |                                                                        ---- this is [C]
 ::: my.ph:3:10
  |
3 |   return (lse - pick(x, t)) * w
  |          ---------------------- [8, 1] meets [C]
  |
  = hint: one value a row is made by a reduction, such as `rowsum(...)` or `rowmean(...)`"""


@pytest.mark.parametrize(
    ("call", "first", "label"),
    [
        (
            "chosen(x, x)", "error[E0304]: the condition of `where` is `f32`, not `bool`",
            "  |                              ^ this is `tile<f32>[8, C]`",
        ),
        (
            "chosen(x > 0.0, s)", "error[E0313]: `rowmax` needs a tile of at least one axis, and this is a scalar",
            "  |                                       ^ this is a scalar",
        ),
        (
            "last(x)", "error[E0323]: there is no axis 2 in the shape [8, C]",
            "  |                            ^ this is [8, C]",
        ),
    ],
)  # fmt: skip
def test_types_and_ranks_inside_functions(call: str, first: str, label: str):
    found = told(f"""
fn largest(t) = rowmax(t)
fn chosen(a, b) = where(a, largest(b), 1.0)
fn last(a) = sum(a, axis: 2)
kernel k(A: tensor<f32>[R, C], Loss: tensor<f32>[R], s: f32) {{
  let r = ctx.block.x * 8
  let x = A[r :+ 8, :]
  Loss[r :+ 8, new] = {call}
}}
""")
    assert found[-1].splitlines()[0] == first
    assert label in found[-1].splitlines()
