"""The fused loss and gradient of training losses cost what hand-written kernels for both do: sweeps over memory,
reductions, exponentials an element."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tilec
from tests.gradients.harness import draw, tensors_of
from tests.gradients.test_counts import EXPONENTIALS, HEAD, TAIL, counted, sweeps
from tilec.tile import interp

STORES = TAIL.replace("  Out", "  C[r :+ 4, :] = loss\n  Out", 1)
ROW = (
    "  let m = rowmax(x)\n  let e = exp(x - m)\n  let total = rowsum(e)\n  let k = 1.0 / total\n  let l = log(total)\n"
)
THEIRS = "  let logq = log_softmax(y)\n  let q = exp(logq)\n"
ONE_HOT = "where(iota(1) == t, 1.0, 0.0)"
SPREAD = (
    "  let count = rowsum(where(x == -inf, 0.0, 1.0))\n"
    "  let spread = rowsum(where(x == -inf, 0.0, m - x)) / count + l\n"
)

BY_HAND = {
    "training_cross_entropy(x, t)": ROW
    + "  let valid = t != -100 && t >= 0 && t < V\n  let loss = where(valid, m - pick(x, t) + l, 0.0)\n"
    f"  let g = where(valid, e * k - {ONE_HOT}, 0.0)\n",
    "cross_entropy_smooth(x, t, 0.0)": ROW
    + f"  let loss = m - pick(x, t) + l\n  let g = e * k - {ONE_HOT}\n",
    "cross_entropy_smooth(x, t, s)": ROW + SPREAD
    + "  let loss = (1.0 - s) * (m - pick(x, t) + l) + s * spread\n"
    "  let g = e * k - where(iota(1) == t, 1.0 - s, 0.0) - where(x == -inf, 0.0, s / count)\n",
    "training_cross_entropy(x, t, s, 0.25)": ROW + SPREAD
    + "  let valid = t != -100 && t >= 0 && t < V\n  let lse = m + l\n"
    "  let all = (1.0 - s) * (m - pick(x, t) + l) + s * spread + 0.25 * square(lse)\n"
    "  let loss = where(valid, all, 0.0)\n  let k1 = k * (1.0 + 0.5 * lse)\n"
    "  let g = where(valid, e * k1 - where(iota(1) == t, 1.0 - s, 0.0) - where(x == -inf, 0.0, s / count), 0.0)\n",
    "cross_entropy_weighted(x, t, w)": ROW
    + "  let loss = pick(w, t) * (m - pick(x, t) + l)\n"
    "  let g = e * (k * pick(w, t)) - where(iota(1) == t, pick(w, t), 0.0)\n",
    "cross_entropy_soft(x, y)": ROW
    + "  let sum_y = rowsum(y)\n  let loss = rowsum(y * (m - x)) + sum_y * l\n  let g = e * (k * sum_y) - y\n",
    "z_loss(x, s)": ROW
    + "  let lse = m + l\n  let loss = s * square(lse)\n  let g = e * (k * 2.0 * s * lse)\n",
    "focal_loss(x, t)":
    "  let others = where(iota(1) == t, -inf, x)\n  let m = rowmax(others)\n  let e = exp(others - m)\n"
    "  let total = rowsum(e)\n  let u = m - pick(x, t) + log(total)\n  let p = sigmoid(u)\n"
    "  let loss = square(p) * softplus(u)\n"
    "  let slope = 2.0 * square(p) * (1.0 - p) * softplus(u) + square(p) * p\n"
    "  let g = e * (slope / total) - where(iota(1) == t, slope, 0.0)\n",
    "softmax_entropy(x)":
    "  let l = log_softmax(x)\n  let p = exp(l)\n  let loss = -rowsum(where(l == -inf, 0.0, p * l))\n"
    "  let g = where(l == -inf, 0.0, -p * (l + loss))\n",
    "kl_div_log_target(log_softmax(x), log_softmax(y))": ROW + THEIRS
    + "  let loss = rowsum(where(q != 0.0, q * (logq - (x - m)), 0.0)) + l\n  let g = e * k - q\n",
    "distillation_loss(x, y, 2.0)":
    "  let a = x / 2.0\n  let m = rowmax(a)\n  let e = exp(a - m)\n  let total = rowsum(e)\n"
    "  let logq = log_softmax(y / 2.0)\n  let q = exp(logq)\n"
    "  let loss = 4.0 * (rowsum(where(q != 0.0, q * (logq - (a - m)), 0.0)) + log(total))\n"
    "  let g = e * (2.0 / total) - 2.0 * q\n",
    "js_div(log_softmax(x), log_softmax(y))": THEIRS
    + "  let logp = log_softmax(x)\n  let p = exp(logp)\n  let d = logp - logq\n  let tail = log1p(exp(-abs(d)))\n"
    "  let half = 0.6931471805599453\n  let of_p = where(p != 0.0, p * (max(-d, 0.0) + tail - half), 0.0)\n"
    "  let of_q = where(q != 0.0, q * (max(d, 0.0) + tail - half), 0.0)\n"
    "  let loss = -0.5 * rowsum(of_p + of_q)\n  let g = -0.5 * (of_p - p * rowsum(of_p))\n",
    "sigmoid_focal_loss(x, y)":
    "  let is_one = y > 0.5\n  let u = where(is_one, -x, x)\n  let a = where(is_one, 0.25, 0.75)\n"
    "  let sp = softplus(u)\n  let p = sigmoid(u)\n  let q = exp(-2.0 * softplus(-u))\n"
    "  let loss = rowmean(a * q * sp)\n"
    "  let slope = a * q * (2.0 * (1.0 - p) * sp + p) / f32(V)\n  let g = where(is_one, -slope, slope)\n",
}  # fmt: skip

# Guards of masked classes keep apart what cancels by hand, and in `jsd` of `tests.gradients.test_counts`, which has no
# masked classes: the slope of the shared logarithm, a quotient.
MORE_EXPONENTIALS = {"js_div(log_softmax(x), log_softmax(y))": 2}


@pytest.mark.parametrize("expression", BY_HAND)
def test_counts(expression: str):
    derived, cost = counted(HEAD + f"  let loss = {expression}\n  let g = grad(loss, x)\n" + STORES)
    written, limit = counted(HEAD + BY_HAND[expression] + STORES)
    assert sweeps(derived) <= sweeps(written)
    assert cost["reductions"] <= limit["reductions"], (cost, limit)
    exponentials = [sum(count[f"wide {name}"] for name in EXPONENTIALS) for count in (cost, limit)]
    assert exponentials[0] <= exponentials[1] + MORE_EXPONENTIALS.get(expression, 0), (cost, limit)
    values = draw(np.random.default_rng(0), 5, 7)
    if expression in ("cross_entropy_soft(x, y)", "sigmoid_focal_loss(x, y)"):
        values["y"] = (values["y"] > 0).astype(np.float32)
    one, other = (
        interp.run(kernel, tensors_of(values), {"s": 0.25}, {"M": 5, "V": 7}) for kernel in (derived, written)
    )
    for name in ("C", "Out"):
        np.testing.assert_allclose(one[name], other[name], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["sgd", "adamw"])
def test_a_step_of_an_optimiser_is_one_sweep(name: str):
    """The library's steps, in place, as the example calls them: everything is read once, nothing kept aside."""
    plan = tilec.compile(Path(__file__).parents[2] / "examples" / "optimizer.ph")[name].plan()
    assert plan.count("sweep over") == 1
    assert "scratch" not in plan
