"""The fused loss and gradient of training losses cost what hand-written kernels do: sweeps over memory, reductions,
exponentials an element."""

from __future__ import annotations

from pathlib import Path

import pytest

import tilec
from tests.gradients.test_counts import HEAD, TAIL, counted
from tilec.facts import Facts
from tilec.options import Options
from tilec.plan.make import make_plan

STORES = TAIL.replace("  Out", "  C[r :+ 4, :] = loss\n  Out", 1)
# Sweeps; reductions; exponentials, logarithms, divisions an element outside the log-sum-exp's own.
COSTS = {
    "cross_entropy_smooth(x, t, 0.0)": (2, 2, 1),
    # The mean over the classes that are there, and their number
    "cross_entropy_smooth(x, t, s)": (2, 4, 1),
    "training_cross_entropy(x, t, s, 0.25)": (2, 4, 1),
    "training_cross_entropy(x, t)": (2, 2, 1),
    "cross_entropy_weighted(x, t, w)": (2, 2, 1),
    "cross_entropy_soft(x, y)": (2, 4, 1),
    "focal_loss(x, t)": (2, 2, 1),
    "z_loss(x, s)": (2, 2, 1),
    # One more of the sums that are taken with the log-sum-exp, and is the log-sum-exp's own
    "softmax_entropy(x)": (2, 4, 2),
    # Two divisions by the temperature
    "distillation_loss(x, y, 2.0)": (2, 5, 4),
    "sigmoid_focal_loss(x, y)": (1, 1, 1),
}


@pytest.mark.parametrize("expression", COSTS)
def test_counts(expression: str):
    sweeps, reductions, exponentials = COSTS[expression]
    kernel, cost = counted(HEAD + f"  let loss = {expression}\n  let g = grad(loss, x)\n" + STORES)
    plan = make_plan(kernel, Facts({}), Options())
    assert sum(len(phase.items) for dispatch in plan.dispatches for phase in dispatch.items) == sweeps
    assert cost["reductions"] == reductions
    assert sum(cost[f"wide {name}"] for name in ("exp", "log", "div_f32", "log1p")) <= exponentials


@pytest.mark.parametrize("name", ["sgd", "adamw"])
def test_a_step_of_an_optimiser_is_one_sweep(name: str):
    """The library's steps, in place, as the example calls them: everything is read once, nothing kept aside."""
    plan = tilec.compile(Path(__file__).parents[2] / "examples" / "optimizer.ph")[name].plan()
    assert plan.count("sweep over") == 1
    assert "scratch" not in plan
