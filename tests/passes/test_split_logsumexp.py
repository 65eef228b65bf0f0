from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.gradients.harness import build
from tests.passes.checks import assert_same, count, floats, outcome
from tests.passes.kernels import row_kernel
from tests.plan.harness import check
from tilec.driver import _run_passes
from tilec.tile import interp, ir
from tilec.tile.passes import PASSES
from tilec.tile.passes.split_logsumexp import split_logsumexp
from tilec.tile.verify import verify

FORMS = {
    "on the left": lambda b, x: b.op("sub", b.logsumexp(x), b.reduce("sum", x)),
    "on the right": lambda b, x: b.op("sub", b.reduce("sum", x), b.logsumexp(x)),
    "on both sides": lambda b, x: b.op("sub", b.logsumexp(x), b.logsumexp(b.op("mul", x, 0.5))),
    "twice": lambda b, x: b.op("sub", b.op("sub", b.logsumexp(x), b.reduce("min", x)), b.logsumexp(x)),
    "through views": lambda b, x: b.op("sub", b.view(b.view(b.logsumexp(x), (0,)), (0, None)), b.reduce("max", x)),
    "through an update": lambda b, x: b.op("sub", b.update(b.reduce("sum", x), b.logsumexp(x)), b.reduce("max", x)),
    "of a tile": lambda b, x: b.reduce("sum", b.op("sub", x, b.logsumexp(x))),
}


@pytest.mark.parametrize("form", FORMS)
@given(x=floats(5, 3, specials=False))
def test_same_values_of_mild_numbers(form, x):
    before = row_kernel(FORMS[form])
    after = split_logsumexp(before)
    assert after is not before
    assert_same(before, after, {"X": x}, {"M": 5, "V": 3}, tolerance=2e-4)


@pytest.mark.parametrize("form", FORMS)
def test_no_difference_has_a_logsumexp_left(form):
    after = split_logsumexp(row_kernel(FORMS[form]))
    for value in after.body.body:
        if isinstance(value, ir.Pointwise) and value.op == "sub":
            assert not any(isinstance(each, ir.Pointwise) and each.op == "lse_add" for each in value.operands)
    assert split_logsumexp(after) is after


def test_logits_near_1e8():
    before = row_kernel(lambda b, x: b.op("sub", b.logsumexp(x), b.reduce("max", x)))
    x = np.full((1, 4), 1e8, np.float32)
    split = outcome(split_logsumexp(before), {"X": x}, {"M": 1, "V": 4})["Out"]
    np.testing.assert_allclose(split, np.log(4.0), rtol=1e-6)
    assert outcome(before, {"X": x}, {"M": 1, "V": 4})["Out"][0, 0] == 0.0


def test_other_uses_of_a_logsumexp_stay():
    before = row_kernel(lambda b, x: b.op("add", b.logsumexp(x), b.reduce("max", x)))
    assert split_logsumexp(before) is before


@pytest.mark.parametrize("side", ["left", "right"])
@given(x=floats(5, 3, specials=False))
def test_an_update_that_covers_only_some_lanes(side, x):
    """`old` is active in every row of a block, the logsumexp only in those inside the tensor."""

    def build(b, x):
        old = b.broadcast(b.const(1.0), (4, 1))
        total = b.reduce("sum", x)
        operands = [b.update(old, b.logsumexp(x)), b.reduce("sum", b.broadcast(total, (4, 1)), (0,))]
        difference = b.op("sub", *(operands if side == "left" else reversed(operands)))
        # The lanes that keep `old` show in a sum over the rows.
        return b.op("add", b.reduce("sum", difference, (0,)), total)

    before = row_kernel(build)
    after = split_logsumexp(before)
    assert count(after, ir.Update) == 2
    assert_same(before, after, {"X": x}, {"M": 5, "V": 3}, tolerance=2e-4)


def test_values_used_elsewhere_too():
    before = row_kernel(
        lambda b, x: (lambda lse: b.op("mul", b.op("sub", lse, b.reduce("max", x)), lse))(b.logsumexp(x))
    )
    after = split_logsumexp(before)
    verify(after)
    assert count(after, ir.Pointwise, "lse_add") == 1


# --- through branches ----------------------------------------------------------------------------------------

BRANCHES = {
    "both": "  var l = rowmax(x)\n  if a > 0.0 {\n    l = logsumexp(x)\n  } else {\n    l = logsumexp(x + a)\n  }\n",
    "one": "  var l = rowmax(x)\n  if a > 0.0 {\n    l = logsumexp(x)\n  }\n",
    "nested": "  var l = rowmax(x)\n  if a > 0.0 {\n    if a > 1.0 {\n      l = logsumexp(x)\n    }\n"
    "  } else {\n    l = logsumexp(x + a)\n  }\n",
    "one after the other": "  var l = rowmax(x)\n  if a > 0.0 {\n    l = logsumexp(x)\n  }\n"
    "  if a > 9.0 {\n    l = rowmin(x)\n  }\n",
}


def branch_kernel(before, expression):
    return build(
        "kernel k(X: tensor<f32>[M, V], T: tensor<i32>[M], L: tensor<f32>[M], a: f32) {\n  let r = ctx.block.x\n"
        f"  let x = X[r :+ 1, :]\n  let t = T[r :+ 1, new]\n{before}  L[r :+ 1, new] = {expression}\n}}\n"
    )


@pytest.mark.parametrize("a", [2.0, 0.5, 0.0])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", BRANCHES)
def test_a_difference_from_what_a_branch_hands_on(name, sign, a):
    kernel = branch_kernel(BRANCHES[name], "l - pick(x, t)" if sign > 0 else "pick(x, t) - l")
    x = (1e8 + 8 * np.arange(6).reshape(2, 3)).astype(np.float32)
    x[1] = x[1, 0]
    tensors = {"X": x, "T": np.array([1, 2], np.int32), "L": np.zeros(2, np.float32)}
    got = interp.run(kernel, tensors, {"a": a}, {"M": 2, "V": 3})["L"]
    exact = x.astype(np.float64)
    top = exact.max(axis=1)
    rest = np.log(np.exp(exact - top[:, None]).sum(axis=1))
    is_maximum = {"both": False, "one": a <= 0, "nested": 0 < a <= 1, "one after the other": a <= 0}[name]
    expected = (top - exact[[0, 1], [1, 2]]) + (0.0 if is_maximum else rest)
    np.testing.assert_allclose(got, sign * expected, rtol=1e-6)
    check(_run_passes(kernel, PASSES, True), tensors, {"a": a})


def test_a_branch_without_logsumexp_is_left_alone():
    before = branch_kernel("  var l = rowmax(x)\n  if a > 0.0 {\n    l = rowmin(x)\n  }\n", "l - pick(x, t)")
    assert split_logsumexp(before) is before
