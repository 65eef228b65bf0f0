"""The derived gradient of every function of the library, in every float argument, against torch's autograd and against
central differences, all in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.gradients.double import in_double
from tests.gradients.harness import build
from tests.reference.table import ROWS, Argument, Row
from tests.std.harness import draw_case
from tilec.tile import interp

ROW_COUNT, COLUMNS = 5, 7
CONDITIONS = {("threshold", "bound"), ("hardshrink", "bound")}
PAIRS = [
    pytest.param(row, argument, id=f"{row.label}-by-{argument.name}")
    for row in ROWS
    for argument in row.arguments
    if argument.kind != "classes" and (row.function, argument.name) not in CONDITIONS
]
"""All but the bounds that only conditions look at."""
TORCH_CANNOT = ("Mean", "Variance")
CENTRAL = [pair for pair in PAIRS if pair.values[1].kind == "tile" or pair.values[1].name in TORCH_CANNOT]
BY_TORCH = [pair for pair in PAIRS if pair.values[1].name not in TORCH_CANNOT]


def source(row: Row, wrt: Argument | None) -> str:
    """A kernel that stores sum(f(...) * U) by rows, and its gradient."""
    types = {"tile": "tensor<f32>[M, C]", "classes": "tensor<i32>[M, 1]", "feature": "tensor<f32>[C]"}
    reads = {"tile": "[0 :+ 8, :]", "classes": "[0 :+ 8, :]", "feature": "[:]"}
    parameters, lets, values = [], [], []
    for argument in row.arguments:
        name = argument.name.lower() + "0"
        values.append(name)
        if argument.kind == "scalar":
            parameters.append(f"{name}: f32")
        else:
            parameters.append(f"{argument.name}: {types[argument.kind]}")
            lets.append(f"  let {name} = {argument.name}{reads[argument.kind]}\n")
    width = "1" if row.result == "column" else "C"
    call = f"  let f = {row.function}({', '.join(values)})\n"
    if row.form == "statement":
        call = f"  var f: tile<f32>[8, {width}] = 0.0\n  {row.function}(f, {', '.join(values)})\n"
    result = ""
    if wrt is not None:
        place = {"tile": "[0 :+ 8, :]", "feature": "[:]", "scalar": "[0]"}[wrt.kind]
        dims = {"tile": "M, C", "feature": "C", "scalar": "1"}[wrt.kind]
        parameters.append(f"Out: tensor<f32>[{dims}]")
        result = f"  Out{place} = grad(z, {wrt.name.lower()}0)\n"
    tensors = ", ".join([*parameters, f"U: tensor<f32>[M, {width}]", "Z: tensor<f32>[M, 1]"])
    return (
        f"kernel run({tensors}) {{\n{''.join(lets)}{call}  let z = f * U[0 :+ 8, :]\n"
        f"  Z[0 :+ 8, :] = rowsum(z)\n{result}}}\n"
    )


def drawn(row: Row):
    case = draw_case(row, "f32", (ROW_COUNT, COLUMNS), seed=1)
    columns = 1 if row.result == "column" else COLUMNS
    return case.values, np.random.default_rng(7).normal(size=(ROW_COUNT, columns))


def run(row: Row, wrt: Argument | None, values: dict, upstream: np.ndarray) -> dict:
    tensors = {"U": upstream}
    scalars = {}
    for argument in row.arguments:
        value = values[argument.name]
        match argument.kind:
            case "scalar":
                scalars[argument.name.lower() + "0"] = value
            case "classes":
                tensors[argument.name] = value
            case _:
                tensors[argument.name] = np.asarray(value, np.float64)
    with in_double():
        return interp.run(build(source(row, wrt)), tensors, scalars, {"M": ROW_COUNT, "C": COLUMNS})


@pytest.mark.parametrize(("row", "wrt"), BY_TORCH)
def test_against_torch(row: Row, wrt: Argument):
    values, upstream = drawn(row)
    got = run(row, wrt, values, upstream)["Out"]
    arguments = {}
    for argument in row.arguments:
        value = torch.tensor(values[argument.name])
        arguments[argument.name] = value if argument.kind == "classes" else value.double()
    if wrt.kind == "scalar":
        expected = _slope(row, wrt, values, upstream)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        return
    arguments[wrt.name].requires_grad_(True)
    (row.torch(*arguments.values()) * torch.tensor(upstream)).sum().backward()
    expected = arguments[wrt.name].grad.numpy()
    # q log q at 0: torch's slope is NaN, ours that of the side taken, which is 0.
    is_number = ~np.isnan(expected)
    assert (got[~is_number] == 0).all()
    # Literals of the library are rounded to f32; torch's are not.
    size = 1 + np.abs(expected[is_number]).max()
    np.testing.assert_allclose(got[is_number], expected[is_number], rtol=2e-6, atol=2e-6 * size)


def _slope(row: Row, wrt: Argument, values: dict, upstream: np.ndarray) -> float:
    """The central difference in a scalar argument."""
    step = 1e-5
    ends = [values | {wrt.name: values[wrt.name] + sign * step} for sign in (1, -1)]
    ahead, behind = (run(row, None, end, upstream)["Z"].sum() for end in ends)
    return (ahead - behind) / (2 * step)


@pytest.mark.parametrize(("row", "wrt"), CENTRAL)
def test_against_central_differences(row: Row, wrt: Argument):
    """The slope along a random direction, where two steps agree on it."""
    values, upstream = drawn(row)
    gradient = run(row, wrt, values, upstream)["Out"]
    center = np.asarray(values[wrt.name], np.float64)
    direction = np.random.default_rng(8).normal(size=center.shape) * np.abs(center)
    if row.function in ("kl_div", "binary_cross_entropy_with_logits") and wrt.name in ("Q", "Y"):
        direction *= (center > 0.05) & (center < 0.95)
    expected = (gradient * direction).sum()
    slopes = []
    for step in (1e-4, 1e-5):
        sides = [values | {wrt.name: center + sign * step * direction} for sign in (1, -1)]
        ahead, behind = (run(row, None, side, upstream)["Z"].sum() for side in sides)
        slopes.append((ahead - behind) / (2 * step))
    assert abs(slopes[0] - slopes[1]) <= 1e-5 * (1 + abs(slopes[1])), "a kink lies between"
    assert abs(expected - slopes[1]) <= 1e-5 * (1 + np.abs(gradient * direction).sum())
