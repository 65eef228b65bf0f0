"""The smallest kernels that a missing mask, bound or identity shows in, under plans of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diff.harness import CPU, Data, Execution, Subject, zeros_for
from tests.plan.corners import KERNELS
from tilec.loop.print import print_program
from tilec.options import Limits, Options

PLANS = (
    Execution("naive, dims unknown", Options(fusion=False, threads=32), known=False),
    Execution("grouped, dims unknown", Options(threads=64), known=False),
    Execution("grouped, dims known", Options(threads=64)),
    Execution("for a CPU", CPU),
    Execution("sweeps split", Options(threads=16, split=0)),
    Execution("rows in turn", Options(threads=16, rows=True)),
    Execution("subgroups of 4", Options(threads=32, limits=Limits(subgroup=4))),
)

def draw(subject: Subject, dims: dict[str, int]) -> Data:
    rng = np.random.default_rng(1)
    arrays = zeros_for(subject.kernel, dims)
    for tensor in subject.kernel.tensors:
        array = arrays[tensor.name]
        if tensor.access == "out":
            continue
        if tensor.name == "T":
            array[...] = rng.integers(-2, dims["V"] + 6, array.shape)
        elif array.dtype.kind == "f":
            array[...] = rng.standard_normal(array.shape) * 3.0
            if tensor.name == "Some":
                array[rng.random(array.shape) < 0.02] = np.nan
        else:
            array[...] = rng.integers(0, 2 if array.dtype.kind == "b" else 100, array.shape)
    return Data(arrays, {scalar.name: 2.5 for scalar in subject.kernel.scalars}, dims)


@pytest.mark.parametrize("name", KERNELS)
def test_every_plan_gives_what_is_right(name: str) -> None:
    text, dims = KERNELS[name]
    subject = Subject(text)
    plans = PLANS[1::3] if name == "reductions of every kind" else PLANS  # its code is long
    assert subject.check(draw(subject, dims), plans).silent == 0


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_the_mean_of_a_stretched_row_that_does_not_exist_is_no_number(plan: Execution) -> None:
    subject = Subject("""
kernel run(X: tensor<f32>[M, V], W: tensor<f32>[M, V], Y: tensor<f32>[ceildiv(M, 8), V]) {
  let r = ctx.block.x * 8
  Y[ctx.block.x :+ 1, :] = colmean(X[r :+ 8, :] + W[r + 5 :+ 1, :])
}
""")
    data = draw(subject, {"M": 11, "V": 6})
    means = subject.run(plan, data)["Y"]
    np.testing.assert_allclose(means[0], (data.tensors["X"][:8] + data.tensors["W"][5]).mean(axis=0), rtol=1e-5)
    assert np.isnan(means[1]).all()


def test_a_branch_does_not_ask_again_what_one_around_it_has_decided() -> None:
    """The row is swept where both conditions hold, and else by one of two loops."""
    text, dims = KERNELS["a sum under two conditions of which a store asks one"]
    program = Subject(text).compiled(Options(threads=64), dims).program
    assert print_program(program).count("for round") == 3


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_the_mean_of_no_lane_is_no_number(plan: Execution) -> None:
    """Behind the tensor, where less than no lanes are left."""
    subject = Subject("""
kernel run(X: tensor<f32>[M, V], Y: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, :] = rowmean(X[r :+ 4, 11 :+ 8])
}
""")
    assert np.isnan(subject.run(plan, draw(subject, {"M": 5, "V": 9}))["Y"]).all()


@pytest.mark.parametrize("name", ["the first NaN wins", "a pick from a whole row that is overwritten", "padding"])
@pytest.mark.parametrize("dims", [{"M": 1, "V": 1}, {"M": 3, "V": 2}, {"M": 5, "V": 0}])
def test_of_next_to_nothing_too(name: str, dims: dict[str, int]) -> None:
    subject = Subject(KERNELS[name][0])
    subject.check(draw(subject, dims), PLANS[1:5])
