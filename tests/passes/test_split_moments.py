"""Sums relative to a maximum or a mean, brought into the form that one sweep can take."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.gradients.harness import build
from tests.passes.checks import assert_same, floats
from tilec.facts import Facts
from tilec.options import Options
from tilec.plan.make import make_plan
from tilec.tile import interp, ir
from tilec.tile.moments import moment_of
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.passes.merge_equal import merge_equal
from tilec.tile.passes.raise_reductions import raise_reductions
from tilec.tile.passes.split_moments import split_moments
from tilec.tile.walk import walk

HEAD = (
    "kernel k(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], W: tensor<f32>[V], A: tensor<f32>[M, 1]) {\n"
    "  let r = ctx.block.x * 4\n  let x = X[r :+ 4, :]\n  let y = Y[r :+ 4, :]\n  let w = W[:]\n"
)
SPLIT = {
    "softmax-weighted sum": "rowsum(softmax(x) * y)",
    "by a reciprocal": "rowsum(exp(x - rowmax(x)) * (y / rowsum(exp(x - rowmax(x)))))",
    "two weights apart": "rowsum(w * exp(x - rowmax(x)) * y)",
    "entropy": "-rowsum(softmax(x) * log_softmax(x))",
    "entropy of masked classes": "softmax_entropy(x)",
    "squares of probabilities": "rowsum(square(softmax(x)))",
    "second moment of log-probabilities": "rowsum(softmax(x) * square(log_softmax(x)))",
    "divergence from fixed targets": "rowsum(y * (log(y) - log_softmax(x)))",
    "cross-entropy with fixed targets": "-rowsum(y * log_softmax(x))",
    "a covariance by a deviation": "rowsum(y * ((x - rowmean(x)) * rsqrt(rowvar(x) + 1.0)))",
    "a factor that is known late": "rowsum(softmax(x) * (y * rowsum(y)))",
}
KEPT = {
    "a difference that would be distributed": "rowsum(softmax(x) * (y - rowmean(y)))",
    "two maxima": "rowsum(softmax(x) * softmax(y))",
    "a function of the distance": "rowsum(abs(x - rowmean(x)))",
    "a third power": "rowsum((x - rowmax(x)) * square(x - rowmax(x)))",
    "a condition on the probability": "rowsum(where(softmax(x) > 0.1, softmax(x), 0.0))",
    "no reference": "rowsum(x * y)",
}
DIMS = {"M": 5, "V": 3}


def prepared(expression):
    return merge_equal(raise_reductions(merge_equal(build(HEAD + f"  A[r :+ 4, :] = {expression}\n}}\n"))))


def split(kernel):
    return drop_dead(merge_equal(split_moments(kernel)))


def sweeps(kernel):
    (dispatch,) = make_plan(kernel, Facts({}), Options()).dispatches
    return len(dispatch.phase.items)


@pytest.mark.parametrize("expression", SPLIT.values(), ids=SPLIT)
def test_one_sweep_is_enough(expression):
    before = prepared(expression)
    after = split(before)
    assert sweeps(before) > sweeps(after) == 1
    assert split_moments(after) is after
    sums = [value for value in walk(after.body) if isinstance(value, ir.Reduce) and value.op == "sum"]
    assert any(moment_of(value) is not None for value in sums)


@pytest.mark.parametrize("expression", KEPT.values(), ids=KEPT)
def test_the_rest_is_left_alone(expression):
    before = prepared(expression)
    assert split_moments(before) is before


@pytest.mark.parametrize("expression", [*SPLIT.values(), *KEPT.values()], ids=[*SPLIT, *KEPT])
@given(x=floats(5, 3, specials=False), y=floats(5, 3, specials=False))
def test_the_same_results(expression, x, y):
    before = prepared(expression)
    y = np.abs(y) + np.float32(0.01) if "log(y)" in expression else y
    tensors = {"X": x, "Y": y, "W": np.array([0.5, -2.0, 3.0], np.float32)}
    scale = 1e-6 * (1 + np.abs(x).max()) * (1 + np.abs(y).max()) ** 2
    assert_same(before, split(before), tensors, DIMS, tolerance=max(1e-5, float(scale)))


@pytest.mark.parametrize("expression", SPLIT.values(), ids=SPLIT)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e30, -1e30])
def test_special_values(expression, value):
    before = prepared(expression)
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    x[0, 1] = x[1, :] = x[2, 0] = value
    y = np.full((5, 3), 0.25, np.float32)
    tensors = {"X": x, "Y": y, "W": np.ones(3, np.float32)}
    with np.errstate(all="ignore"):
        one, other = (interp.run(kernel, tensors, {}, DIMS)["A"] for kernel in (before, split(before)))
    np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("offset", [1e4, 1e6])
def test_shifted_values_lose_nothing(offset):
    rng = np.random.default_rng(1)
    x = (np.round(rng.normal(size=(5, 300)) * 48) / 16).astype(np.float32)
    y = rng.random((5, 300)).astype(np.float32)
    for name, expression in SPLIT.items():
        kernel = split(prepared(expression))
        w = np.ones(300, np.float32)
        plain, shifted = (
            interp.run(kernel, {"X": x + np.float32(shift), "Y": y, "W": w}, {}, {"M": 5, "V": 300})["A"]
            for shift in (0, offset)
        )
        # The mean of shifted values has a rounding of its own.
        slack = offset * 1e-7 * y.sum() if "covariance" in name else 0.0
        np.testing.assert_allclose(shifted, plain, rtol=2e-5, atol=2e-5 + slack, err_msg=name)
