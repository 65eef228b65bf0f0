"""The training losses: values against NumPy twins and torch, derived gradients against torch's autograd and against
central differences of the twins."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import torch

from tests.gradients.double import in_double
from tests.gradients.harness import build
from tests.reference.execution import compiled
from tests.reference.training_table import DIMS, LOSSES, Input, Loss
from tilec.tile import interp

STD = Path(__file__).parents[2] / "std"
FILES = ("classification", "regression", "divergence", "ranking", "segmentation", "policy", "moe", "optim", "cast")
FLAGS = {"is_class", "top1_hit", "token_accuracy"}
STEPS = {"sgd_step", "nesterov_step", "adamw_step", "lion_step", "gradient_norm", "clip_factor"}
CASTS = {"saturate_f16", "bf16_remainder", "int8_scale", "to_int8", "from_int8"}
"""Tested by `test_training_edges` and `test_training_steps`."""
ROWS, COLUMNS = 5, 7
READS = {"tile": "[0 :+ 8, :]", "column": "[0 :+ 8, :]", "classes": "[0 :+ 8, :]", "feature": "[:]"}
EVERY = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
ON_DEVICE = (
    "cross_entropy_smooth-weighted", "focal_loss-gamma", "binary_cross_entropy_with_logits",
    "js_div", "gaussian_nll_loss", "multilabel_margin_loss", "ppo_loss", "load_balance_loss",
)  # fmt: skip


def differentiated(loss: Loss) -> list[Input]:
    return [one for one in loss.inputs if one.kind in ("tile", "column", "feature") and not one.is_constant]


def kernel_text(loss: Loss, *, by_scalars: bool = False) -> str:
    """A kernel of one block: the result, and the gradient of its sum weighed by U in every argument, or, instead, in
    every scalar."""
    width = {"column": "[M, 1]", "tile": "[M, C]", "scalar": "[1, 1]"}[loss.result]
    span = "[0 :+ 1, :]" if loss.result == "scalar" else "[0 :+ 8, :]"
    parameters = [f"U: tensor<f32>{width}"]
    lines, names, scalars = [], [], []
    for one in loss.inputs:
        name = one.name.lower() + "0"
        names.append(name)
        if one.kind == "scalar":
            scalars.append(f"{name}: f32")
            continue
        parameters.append(f"{one.name}: tensor<{'i32' if one.kind == 'classes' else 'f32'}>{DIMS[one.kind]}")
        lines.append(f"  let {name} = {one.name}{READS[one.kind]}\n")
    lines.append(f"  let f = {loss.function}({', '.join(names)})\n  let z = f * U{span}\n  Result{span} = f\n")
    for one in loss.inputs:
        if by_scalars and one.kind == "scalar":
            parameters.append(f"Slope{one.name}: tensor<f32>[1]")
            lines.append(f"  Slope{one.name}[0] = grad(z, {one.name.lower()}0)\n")
    for one in () if by_scalars else differentiated(loss):
        parameters.append(f"Slope{one.name}: tensor<f32>{DIMS[one.kind]}")
        lines.append(f"  Slope{one.name}{READS[one.kind]} = grad(z, {one.name.lower()}0)\n")
    signature = ", ".join([*parameters, f"Result: tensor<f32>{width}", *scalars])
    return f"kernel run({signature}) {{\n{''.join(lines)}}}\n"


def draw(loss: Loss, rows: int = ROWS, columns: int = COLUMNS) -> dict[str, Any]:
    """Arguments of the domain, as f32 holds them, and weights of the result."""
    rng = np.random.default_rng([crc32(loss.name.encode()), columns])
    shapes = {"tile": (rows, columns), "column": (rows, 1), "feature": (1, columns)}
    values: dict[str, Any] = {}
    for one in loss.inputs:
        if one.kind == "scalar":
            values[one.name] = one.value
        elif one.kind == "classes":
            values[one.name] = rng.integers(0, columns, (rows, 1)).astype(np.int32)
        else:
            drawn = one.draw(rng, shapes[one.kind]).astype(np.float32).astype(np.float64)
            values[one.name] = drawn[0] if one.kind == "feature" else drawn
    size = {"column": (rows, 1), "tile": (rows, columns), "scalar": (1, 1)}[loss.result]
    values["U"] = rng.normal(size=size).astype(np.float32).astype(np.float64)
    return values


@cache
def built(text: str):
    return build(text)


def interpret(loss: Loss, values: dict[str, Any], *, by_scalars: bool = False) -> dict[str, np.ndarray]:
    """What the interpreter gives in double precision."""
    scalars = {one.name.lower() + "0": values[one.name] for one in loss.inputs if one.kind == "scalar"}
    tensors = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    rows, columns = next((v.shape for v in values.values() if np.ndim(v) == 2 and v.shape[-1] > 1), (ROWS, 1))
    with in_double():
        return interp.run(built(kernel_text(loss, by_scalars=by_scalars)), tensors, scalars, {"M": rows, "C": columns})


def arguments(loss: Loss, values: dict[str, Any]) -> list[Any]:
    return [values[one.name] for one in loss.inputs]


def by_torch(loss: Loss, values: dict[str, Any]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The result and its slopes by autograd, in float64."""
    given = {
        one.name: torch.tensor(values[one.name]) if one.kind != "scalar" else values[one.name] for one in loss.inputs
    }
    wanted = [given[one.name].requires_grad_() for one in differentiated(loss)]
    result = loss.torch(*given.values())
    slopes = torch.autograd.grad((result * torch.tensor(values["U"])).sum(), wanted)
    return result.detach().numpy(), {
        one.name: slope.numpy() for one, slope in zip(differentiated(loss), slopes, strict=True)
    }


def near(got: np.ndarray, expected: np.ndarray, tolerance: float, floor: float = 1e-9) -> None:
    """Within the tolerance of the size of what is expected, or within a rounding of numbers near 1."""
    size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * size + floor)


@EVERY
def test_values_and_gradients_in_double(loss: Loss):
    """What separates the interpreter from the twin is the f32 rounding of the library's literals."""
    values = draw(loss)
    got = interpret(loss, values)
    expected, slopes = by_torch(loss, values)
    near(got["Result"], loss.expected(*arguments(loss, values)), 1e-6)
    near(got["Result"], expected, 1e-6)
    for name, slope in slopes.items():
        # x log x at 0: torch's slope is NaN, ours is that of the side taken.
        known = np.isfinite(slope)
        near(np.where(known, got[f"Slope{name}"], 0.0), np.where(known, slope, 0.0), 2e-6)
        assert np.isfinite(got[f"Slope{name}"]).all()


@EVERY
def test_gradients_against_central_differences_of_the_twin(loss: Loss):
    """The slope along a direction, where steps of two sizes agree on it."""
    values = draw(loss)
    got = interpret(loss, values)
    for one in differentiated(loss):
        center = values[one.name]
        direction = np.random.default_rng(8).normal(size=center.shape) * np.minimum(np.abs(center), 1.0)
        if loss.function == "gaussian_nll_loss" and one.name == "V":
            direction *= center > values["eps"]  # below, the twin is flat, and torch's slope that of the bound
        slopes = []
        for step in (1e-4, 1e-5):
            sides = [values | {one.name: center + sign * step * direction} for sign in (1, -1)]
            ahead, behind = ((loss.expected(*arguments(loss, side)) * values["U"]).sum() for side in sides)
            slopes.append((ahead - behind) / (2 * step))
        products = got[f"Slope{one.name}"] * direction
        size = 1e-5 * (1 + np.abs(products).sum())
        assert abs(slopes[0] - slopes[1]) <= size, "a kink lies between"
        assert abs(products.sum() - slopes[1]) <= size, one.name


@pytest.mark.parametrize(
    "loss", [loss for loss in LOSSES if any(one.kind == "scalar" for one in loss.inputs)], ids=lambda loss: loss.name
)
def test_gradients_in_scalars(loss: Loss):
    """Temperatures and weights are learned too: central differences of the twin."""
    values = draw(loss)
    got = interpret(loss, values, by_scalars=True)
    for one in loss.inputs:
        if one.kind != "scalar":
            continue
        sides = [values | {one.name: values[one.name] + sign * 1e-6} for sign in (1, -1)]
        ahead, behind = ((loss.expected(*arguments(loss, side)) * values["U"]).sum() for side in sides)
        slope = (ahead - behind) / 2e-6
        assert abs(got[f"Slope{one.name}"][0] - slope) <= 1e-5 * (1 + abs(slope)), one.name


def run(loss: Loss, values: dict[str, Any], execution: str) -> Any:
    given = {
        one.name.lower() + "0" if one.kind == "scalar" else one.name: values[one.name]
        if one.kind in ("scalar", "classes")
        else values[one.name].astype(np.float32)
        for one in loss.inputs
    }
    return compiled(kernel_text(loss)).run(**given, U=values["U"].astype(np.float32), device=execution)


@pytest.mark.parametrize("columns", [1, 300])
@EVERY
def test_single_precision(loss: Loss, columns: int):
    check_single_precision(loss, columns, "numpy")


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.name in ON_DEVICE], ids=lambda loss: loss.name)
def test_on_a_device(loss: Loss):
    check_single_precision(loss, 130, "llvmpipe")


def check_single_precision(loss: Loss, columns: int, execution: str) -> None:
    values = draw(loss, 8, columns)
    result = run(loss, values, execution)
    floor = 5e-7
    if loss.function == "cosine_embedding_loss":  # its slope is a difference of numbers as large as 1 / length
        floor /= min(np.linalg.norm(values[name], axis=1).min() for name in "AB")
    near(result.Result, loss.expected(*arguments(loss, values)), 2e-5, floor)
    for name, slope in by_torch(loss, values)[1].items():
        known = np.isfinite(slope)
        near(np.where(known, result[f"Slope{name}"], 0.0), np.where(known, slope, 0.0), 2e-5, floor)


def test_every_public_function_has_a_row_and_a_doc_comment():
    found = {}
    for name in FILES:
        text = (STD / f"{name}.ph").read_text(encoding="utf-8")
        for match in re.finditer(r"^((?:///[^\n]*\n)*)fn ([A-Za-z]\w*)\(", text, re.MULTILINE):
            found[match[2]] = match[1]
    assert set(found) == {loss.function for loss in LOSSES} | FLAGS | STEPS | CASTS
    for name, doc in found.items():
        for word in ("Domain", "Equals", "torch"):
            assert word.lower() in doc.lower(), f"{name}: its doc comment lacks '{word}'"
