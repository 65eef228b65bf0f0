"""Derived kernels against torch's autograd in float64: losses, gradients of their weighted sums, everything else."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import tilec
from tests.derived.cases import CASES, Case
from tests.reference.execution import EXECUTIONS, assert_within, exact, rounded
from tilec import driver
from tilec.options import Options
from tilec.source import Source

BY_NAME = {case.name: case for case in CASES}
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@cache
def module(name: str) -> Any:
    return tilec.compile(source=BY_NAME[name].source)


def draw(case: Case, shapes: dict[str, tuple[int, ...]], dtype: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(sum(map(ord, case.name)))
    values = {
        name: rounded(rng.standard_normal(shape), dtype if name == "X" else "f32") for name, shape in shapes.items()
    }
    if case.classes:
        rows, classes = shapes["X"]
        column = "T: tensor<i32>[M, 1]" in case.source
        values["T"] = rng.integers(0, classes, (rows, 1) if column else (rows,)).astype(np.int32)
    return values


def by_torch(case: Case, values: dict[str, np.ndarray], weights: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    inputs = {name: torch.from_numpy(exact(value)) for name, value in values.items() if name != "T"}
    if "T" in values:
        inputs["T"] = torch.from_numpy(values["T"].astype(np.int64))
    for name in case.wrt:
        inputs[name].requires_grad_()
    loss = case.torch(**inputs)
    total = (loss * torch.as_tensor(weights)).sum()
    gradients = torch.autograd.grad(total, [inputs[name] for name in case.wrt])
    return loss.detach().numpy(), {name: g.numpy() for name, g in zip(case.wrt, gradients, strict=True)}


def check(case: Case, shapes: dict, dtype: str, execution: str, *, in_place: bool, upstream: Any) -> None:
    values = draw(case, shapes, dtype)
    kernel = module(case.name).k.grad(case.wrt, "Loss", in_place=in_place, upstream=upstream)
    loss = by_torch(case, values, 1.0)[0]
    weights: Any = 1.0
    given: dict[str, Any] = {}
    if upstream == "tensor":
        weights = given["DLoss"] = np.random.default_rng(1).standard_normal(loss.shape).astype(np.float32)
    elif upstream == "scalar":
        weights = given["DLoss"] = -1.5
    else:
        weights = upstream
    before = {name: value.copy() for name, value in values.items()}
    result = kernel(**values, **given, device=execution)
    expected_loss, expected = by_torch(case, values, np.asarray(weights, np.float64))
    # Sums of a few hundred terms of size 1 to 10, transcendentals of few ulp: far from the sizes of errors of formula
    assert_within(result.Loss, expected_loss, 2e-5 * (1 + np.abs(expected_loss)), "the loss")
    for name, gradient in expected.items():
        got = result[name if in_place else f"D{name}"]
        assert got.dtype == values[name].dtype
        assert_within(got, gradient, 2e-5 * (np.abs(gradient).max(initial=0.0) + np.abs(gradient)), f"d{name}")
        np.testing.assert_array_equal(exact(values[name]), exact(before[name]))


@each_case
@pytest.mark.parametrize("upstream", ["tensor", "scalar", 0.25], ids=str)
def test_interpreted(case: Case, upstream: Any):
    for dtype in case.dtypes:
        for shapes in case.shapes:
            for in_place in (False, True)[: 1 + case.in_place]:
                check(case, shapes, dtype, "numpy", in_place=in_place, upstream=upstream)


@each_case
@pytest.mark.parametrize("execution", [name for name in EXECUTIONS if name != "numpy"])
def test_on_devices(case: Case, execution: str):
    for dtype in case.dtypes:
        for shapes in case.shapes[1:] or case.shapes:
            check(case, shapes, dtype, execution, in_place=False, upstream="scalar")
            if case.in_place:
                check(case, shapes, dtype, execution, in_place=True, upstream="tensor")


@each_case
@pytest.mark.parametrize("upstream", ["tensor", "scalar"])
def test_every_pass_leaves_a_sound_kernel(case: Case, upstream: str):
    loaded = driver.parse_file(Source("case.ph", case.source))
    program, signature = driver.derive(loaded.program, "k", case.wrt, "Loss", upstream=upstream)
    kernel = driver.build_kernel(program, signature.name, verify=True).kernel
    driver.compile_built(kernel, options=Options(verify=True))
