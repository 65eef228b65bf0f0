"""Derived kernels cost what hand-written ones do: reductions, exponentials and wide operations after all passes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tilec
from tests.gradients.cases import FUNCTIONS
from tests.gradients.harness import build, draw, tensors_of
from tests.plan.harness import check
from tilec.driver import _run_passes
from tilec.facts import Facts
from tilec.options import Options
from tilec.plan.ir import Phase
from tilec.plan.make import make_plan
from tilec.tile import interp, ir
from tilec.tile.passes import PASSES
from tilec.tile.walk import walk

HEAD = (
    "kernel k(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], W: tensor<f32>[V], C: tensor<f32>[M, 1], "
    "T: tensor<i32>[M, 1], Out: tensor<f32>[M, V], s: f32) {\n  let r = ctx.block.x * 4\n  let x = X[r :+ 4, :]\n"
    "  let y = Y[r :+ 4, :]\n  let w = W[:]\n  let c = C[r :+ 4, :]\n  let t = T[r :+ 4, :]\n"
)
TAIL = "  Out[r :+ 4, :] = g\n}\n" + FUNCTIONS

P = "  let m = rowmax(x)\n  let e = exp(x - m)\n  let k = 1.0 / rowsum(e)\n"
SOFTMAX = "  let p = softmax(x)\n"

PAIRS = {
    "logsumexp": ("logsumexp(x)", P + "  let g = e * k\n"),
    "cross-entropy": ("logsumexp(x) - pick(x, t)", P + "  let g = e * k - where(iota(1) == t, 1.0, 0.0)\n"),
    "cross-entropy with all options": (
        "logsumexp(x) - (1.0 - s) * pick(x, t) - s * rowmean(x) + s * square(logsumexp(x))",
        P + "  let l = logsumexp(x)\n  let k1 = k * (1.0 + 2.0 * s * l)\n"
        "  let g = e * k1 - where(iota(1) == t, 1.0 - s, 0.0) - s / f32(V)\n",
    ),
    "softmax": ("softmax(x) * y", SOFTMAX + "  let g = p * (y - rowsum(p * y))\n"),
    "log softmax": ("log_softmax(x) * y", P + "  let g = y - e * (k * rowsum(y))\n"),
    "entropy": (
        "-rowsum(softmax(x) * log_softmax(x))",
        "  let l = log_softmax(x)\n  let p = exp(l)\n  let g = -(p * (l - rowsum(p * l)))\n",
    ),
    "kl to a fixed target": (
        "rowsum(y * (log(y) - log_softmax(x)))", P + "  let g = e * (k * rowsum(y)) - y\n",
    ),
    "focal": (
        "square(1.0 - exp(pick(log_softmax(x), t))) * pick(log_softmax(x), t)",
        P + "  let l = pick(log_softmax(x), t)\n  let q = 1.0 - exp(l)\n  let a = q * (q - 2.0 * l * exp(l))\n"
        "  let g = where(t >= 0 && t < V, where(iota(1) == t, a, 0.0) - e * (k * a), 0.0)\n",
    ),
    "layer norm": (
        "layer_norm(x, w, w, 1e-5) * y",
        "  let d = x - rowmean(x)\n  let q = rsqrt(rowmean(square(d)) + 1e-5)\n  let z = y * w\n"
        "  let g = q * (z - d * (q * q * rowsum(z * d) / f32(V)) - rowsum(z) / f32(V))\n",
    ),
    "rms norm": (
        "rms_norm(x, w, 1e-5) * y",
        "  let q = rsqrt(rowmean(square(x)) + 1e-5)\n  let z = y * w\n"
        "  let g = q * (z - x * (q * q * rowsum(z * x) / f32(V)))\n",
    ),
    "jsd": (
        "_jsd(x, y)",
        "  let a = log_softmax(x)\n  let p = exp(a)\n  let d = a - log(0.5 * (p + softmax(y)))\n"
        "  let g = 0.5 * (p * (d - rowsum(p * d)))\n",
    ),
    "cosine": (
        "rowsum(x * y) / sqrt(rowsum(x * x) * rowsum(y * y))",
        "  let n = rowsum(x * x)\n  let d = rowsum(x * y)\n  let k = 1.0 / sqrt(n * rowsum(y * y))\n"
        "  let g = (y - x * (d / n)) * k\n",
    ),
    "one condition twice": (
        "where(x > 0.0, square(where(x > 0.0, sin(x), x * y)), 3.0 * where(x > 0.0, sin(x), x * y))",
        "  let z = where(x > 0.0, sin(x), x * y)\n  let g = where(x > 0.0, 2.0 * z * cos(x), 3.0 * y)\n",
    ),
    "variance": ("rowvar(x)", "  let g = (x - rowmean(x)) * (2.0 / f32(V))\n"),
}  # fmt: skip
EXPONENTIALS = {"exp", "log", "log1p", "div_f32", "rsqrt", "sqrt", "tanh", "sigmoid", "softplus"}


def counted(text):
    """Reductions, and operations on whole tiles by kind, of the kernel after all passes."""
    kernel = _run_passes(build(text), PASSES, True)
    counts: Counter = Counter()
    for value in walk(kernel.body):
        if isinstance(value, ir.Reduce):
            counts["reductions"] += 1
        if isinstance(value, ir.Pointwise) and sum(not extent.is_one for extent in value.type.shape) == 2:
            counts["wide operations"] += 1
            if value.op in EXPONENTIALS:
                counts[f"wide {value.op}"] += 1
    return kernel, counts


def sweeps(kernel):
    """How often the plan goes over memory, if nothing is known of sizes."""
    plan = make_plan(kernel, Facts({}), Options())
    return sum(len(item.items) for dispatch in plan.dispatches for item in dispatch.items if isinstance(item, Phase))


@pytest.mark.parametrize("name", PAIRS)
def test_counts(name):
    expression, by_hand = PAIRS[name]
    derived, cost = counted(HEAD + f"  let l0 = {expression}\n  let g = grad(l0, x)\n" + TAIL)
    written, limit = counted(HEAD + by_hand + TAIL)
    for kind in {*cost, *limit}:
        assert cost[kind] <= limit[kind], (kind, cost, limit)
    assert sweeps(derived) <= sweeps(written)
    values = draw(np.random.default_rng(0), 5, 7)
    if name.startswith("kl"):
        values["y"] = np.abs(values["y"])
    dims, scalars = {"M": 5, "V": 7}, {"s": 0.25}
    one, other = (interp.run(kernel, tensors_of(values), scalars, dims)["Out"] for kernel in (derived, written))
    np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


def test_several_gradients_share_their_work():
    """In x and y at once: one softmax, and of a loss and its gradient one logsumexp."""
    text = HEAD + "  let l0 = softmax(x) * y\n  let gx = grad(l0, x)\n  let gy = grad(l0, y)\n"
    text += "  let g = gx + gy\n" + TAIL
    by_hand = HEAD + SOFTMAX + "  let g = p * (y - rowsum(p * y)) + p\n" + TAIL
    cost, limit = (counted(one)[1] for one in (text, by_hand))
    for kind in {*cost, *limit}:
        assert cost[kind] <= limit[kind], (kind, cost, limit)
    twice = HEAD + "  let l0 = logsumexp(x)\n  let g = grad(l0, x) + 2.0 * grad(square(l0), x)\n" + TAIL
    _, cost = counted(twice)
    assert cost["reductions"] == 2
    assert cost["wide exp"] == 1


@pytest.mark.parametrize("name", PAIRS)
def test_plans(name):
    expression, _ = PAIRS[name]
    kernel, _ = counted(HEAD + f"  let l0 = {expression}\n  let g = grad(l0, x)\n" + TAIL)
    values = draw(np.random.default_rng(1), 5, 7)
    if name.startswith("kl"):
        values["y"] = np.abs(values["y"])
    tensors = tensors_of(values) | {"Out": np.zeros((5, 7), np.float32)}
    check(kernel, tensors, {"s": 0.25}, atol=3e-6)


# --- the plan of the training loss ---------------------------------------------------------------------------

EXAMPLES = Path(__file__).parents[2] / "examples"
TRAIN_LOSS = (EXAMPLES / "train_loss.ph").read_text(encoding="utf-8")


def train_plan(constants=(), dims=None):
    kernel = _run_passes(build(TRAIN_LOSS, "train_loss", constants), PASSES, True)
    return kernel, make_plan(kernel, Facts(dims or {}), Options())


@pytest.mark.parametrize("constants", [(), (("alpha", 0.0),), (("alpha", 0.1), ("beta", 1e-4))])
def test_the_training_loss_takes_two_sweeps(constants):
    _, plan = train_plan(constants)
    (dispatch,) = plan.dispatches
    (phase,) = dispatch.items
    assert isinstance(phase, Phase)
    assert len(phase.items) == 2
    first, second = phase.items
    assert {sink.kind for sink in second.sinks} == {"store"}
    assert [sink.store.tensor for sink in second.sinks] == ["Logits"]
    assert [sink.store.tensor for sink in first.sinks if sink.kind == "store"] == ["Loss"]
    # The target's logit is read by the lane that owns it, in the sweep before the one that writes.
    assert [sink.kind for sink in first.sinks].count("pick") == 1
    assert not any(item.fence for item in phase.items)


def test_a_row_that_fits_is_read_once():
    _, plan = train_plan(dims={"V": 1000, "M": 64})
    (dispatch,) = plan.dispatches
    (phase,) = dispatch.items
    assert phase.mapping.resident > 0


def test_without_smoothing_the_mean_is_not_computed():
    kernel, _ = train_plan((("alpha", 0.0),))
    operations = [value.op for value in walk(kernel.body) if isinstance(value, ir.Reduce)]
    assert sorted(operations) == ["max", "rest"]
    with_mean, _ = train_plan()
    assert sorted(value.op for value in walk(with_mean.body) if isinstance(value, ir.Reduce)) == ["max", "rest", "sum"]


def test_a_loss_of_a_whole_tensor_is_shared_by_workgroups():
    """One block, and yet rows are jobs of many workgroups, and the sum over rows is shared too."""
    kernel = _run_passes(build((EXAMPLES / "batch_loss.ph").read_text(encoding="utf-8")), PASSES, True)
    plan = make_plan(kernel, Facts({}), Options())
    assert [dispatch.kind for dispatch in plan.dispatches] == ["jobs", "split", "finish", "jobs"]
    text = tilec.compile(EXAMPLES / "batch_loss.ph").batch_loss.plan()
    assert sum("reads" in line and "X[0 :+ M, 0 :+ V]" in line for line in text.splitlines()) == 2
    assert sum("stores X" in line for line in text.splitlines()) == 1


def test_the_plan_is_readable():
    """What `tilec compile --emit plan` prints: each sweep with what it reads, reduces and stores."""
    text = tilec.compile(EXAMPLES / "train_loss.ph").train_loss.plan()
    for words in ("plan of train_loss", "reads Logits", "max of", "pick from", "stores Logits", "stores Loss"):
        assert words in text
    assert text.count("sweep over V") == 2
    assert "barrier" not in text
