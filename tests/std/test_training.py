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
from tests.reference.execution import DTYPES, assert_within, compiled, exact, rounded
from tests.reference.training_table import DIMS, LOSSES, Input, Loss
from tilec.tile import interp

STD = Path(__file__).parents[2] / "std"
FILES = ("classification", "regression", "divergence", "ranking", "segmentation", "policy", "moe", "optim", "cast")
FLAGS = {"is_class", "top1_hit", "token_accuracy"}
STEPS = {"sgd_step", "nesterov_step", "adamw_step", "lion_step", "gradient_norm", "clip_factor"}
CASTS = {"saturate_f16", "bf16_remainder", "int8_scale", "to_int8", "from_int8"}
"""Tested by `test_training_edges` and `test_training_steps`."""
ROWS, COLUMNS = 5, 7
READS = {"tile": "[r :+ 8, :]", "column": "[r :+ 8, :]", "classes": "[r :+ 8, :]", "feature": "[:]"}
EVERY = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
ON_DEVICE = (
    "cross_entropy_smooth-weighted", "focal_loss-gamma", "binary_cross_entropy_with_logits",
    "js_div", "gaussian_nll_loss", "multilabel_margin_loss", "ppo_loss", "load_balance_loss",
)  # fmt: skip


def differentiated(loss: Loss) -> list[Input]:
    return [one for one in loss.inputs if one.kind in ("tile", "column", "feature") and not one.is_constant]


def kernel_text(loss: Loss, *, by_scalars: bool = False, is_stored: bool = False, most: int = 99) -> str:
    """The result, and the gradient of its sum weighed by U in every argument, or, instead, in every scalar; blocks of 8
    rows, or one block where all rows have a part in a gradient. `is_stored`: of type E are the tensors of a value a row
    or an element, all but U and the column of results. There are `most` tensors, gradients of the first arguments."""
    element = "E" if is_stored else "f32"
    width = {"column": "[M, 1]", "tile": "[M, C]", "scalar": "[1, 1]"}[loss.result]
    span = "[0 :+ 1, :]" if loss.result == "scalar" else "[r :+ 8, :]"
    is_shared = by_scalars or loss.result == "scalar" or any(one.kind == "feature" for one in loss.inputs)
    types = {"tile": element, "column": element, "classes": "i32", "feature": "f32"}
    parameters = [f"U: tensor<f32>{width}"]
    lines, names, scalars = [f"  let r = {0 if is_shared else 'ctx.block.x * 8'}\n"], [], []
    for one in loss.inputs:
        name = one.name.lower() + "0"
        names.append(name)
        if one.kind == "scalar":
            scalars.append(f"{name}: f32")
            continue
        parameters.append(f"{one.name}: tensor<{types[one.kind]}>{DIMS[one.kind]}")
        lines.append(f"  let {name} = {one.name}{READS[one.kind]}\n")
    call = f"{loss.function}({', '.join(names)})"
    if loss.form == "statement":
        tile = {"column": "tile<f32>[8, 1]", "tile": "tile<f32>[8, C]"}[loss.result]
        lines.append(f"  var f: {tile} = 0.0\n  {call.replace('(', '(f, ', 1)}\n")
    else:
        lines.append(f"  let f = {call}\n")
    lines.append(f"  let z = f * U{span}\n  Result{span} = f\n")
    for one in loss.inputs:
        if by_scalars and one.kind == "scalar":
            parameters.append(f"Slope{one.name}: tensor<f32>[1]")
            lines.append(f"  Slope{one.name}[0] = grad(z, {one.name.lower()}0)\n")
    for one in () if by_scalars else differentiated(loss)[: most - len(parameters) - 1]:
        parameters.append(f"Slope{one.name}: tensor<{types[one.kind]}>{DIMS[one.kind]}")
        lines.append(f"  Slope{one.name}{READS[one.kind]} = grad(z, {one.name.lower()}0)\n")
    result = element if loss.result == "tile" else "f32"
    signature = ", ".join([*parameters, f"Result: tensor<{result}>{width}", *scalars])
    variable = "<E: f32|f16|bf16>" if is_stored else ""
    return f"kernel run{variable}({signature}) {{\n{''.join(lines)}}}\n"


def draw(loss: Loss, rows: int = ROWS, columns: int = COLUMNS, *seed: int) -> dict[str, Any]:
    """Arguments of the domain, as f32 holds them, and weights of the result."""
    rng = np.random.default_rng([crc32(loss.name.encode()), columns, *seed])
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
    with in_double():
        return interp.run(built(kernel_text(loss, by_scalars=by_scalars)), tensors, scalars, dims_of(loss, values))


def dims_of(loss: Loss, values: dict[str, Any]) -> dict[str, int]:
    tiles = [values[one.name].shape for one in loss.inputs if one.kind in ("tile", "column")]
    return {"M": tiles[0][0], "C": max(shape[1] for shape in tiles)}


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


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@EVERY
def test_half_precision(loss: Loss, dtype: str):
    """Stored in 16 bits: computed from what is stored, in f32, and rounded once. Devices: `test_drawn_on_devices`."""
    stored = {
        one.name: rounded(value, dtype) if one.kind in ("tile", "column") else value
        for one, value in zip(loss.inputs, arguments(loss, draw(loss, 8, 60)), strict=True)
    }
    values = {
        name: exact(value) if isinstance(value, np.ndarray) and value.dtype.kind != "i" else value
        for name, value in stored.items()
    } | {"U": draw(loss, 8, 60)["U"]}
    given = {one.name.lower() + "0" if one.kind == "scalar" else one.name: stored[one.name] for one in loss.inputs}
    features = {one.name: stored[one.name].astype(np.float32) for one in loss.inputs if one.kind == "feature"}
    kernel = compiled(kernel_text(loss, is_stored=True)).run
    result = kernel(**(given | features), U=values["U"].astype(np.float32), device="numpy")
    torch_result, slopes = by_torch(loss, values)
    for name, expected in {"Result": torch_result, **{f"Slope{name}": slope for name, slope in slopes.items()}}.items():
        size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        bound = 2e-5 * (size + np.abs(np.nan_to_num(expected, posinf=0.0, neginf=0.0))) + 5e-7
        known = np.isfinite(expected)
        assert_within(np.where(known, result[name], 0), np.where(known, expected, 0.0), bound, f"{loss.name} {name}")
        is_wide = (name == "Result" and loss.result != "tile") or name.removeprefix("Slope") in features
        assert result[name].dtype == (np.float32 if is_wide else DTYPES[dtype])


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
