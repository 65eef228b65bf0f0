"""The library's losses as functions of tensors, in each precision: values, gradients, and torch's gradcheck."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

import tilec
from tests.reference.training_table import DIMS, LOSSES, Loss
from tests.std.test_training import differentiated, draw
from tests.torch.test_functions import DTYPES, REDUCTIONS, UNIT, gradcheck
from tilec.torch import Function, function

SMOOTH = (
    "cross_entropy_smooth", "training_cross_entropy", "focal_loss", "sigmoid_focal_loss", "info_nce", "softmax_entropy",
    "class_logp", "z_loss", "cross_entropy_soft", "log_cosh_loss", "poisson_nll_loss",
    "kl_div_log_target", "js_div-beta", "distillation_loss-temperature", "soft_margin_loss",
    "multilabel_soft_margin_loss", "dice_loss", "tversky_loss-weights", "dpo_loss-smooth", "simpo_loss", "orpo_loss",
    "kto_loss", "kl_estimate",
)  # fmt: skip
"""Those whose slopes have no jump that a step could meet."""
EACH = pytest.mark.parametrize("name", SMOOTH)


@cache
def loss_of(name: str, reduction: str, execution: str = "numpy") -> tuple[Loss, Function]:
    """The loss, and it as a function of its arguments, of any precision where they have gradients."""
    (loss,) = (one for one in LOSSES if one.name == name)
    types = {"tile": "tensor<f32|f16|bf16>", "column": "tensor<f32|f16|bf16>", "classes": "tensor<i32>"}
    parameters = [f"{one.name}: {types[one.kind]}{DIMS[one.kind]}" for one in loss.inputs if one.kind != "scalar"]
    values = [str(one.value) if one.kind == "scalar" else f"{one.name}[r :+ 8, :]" for one in loss.inputs]
    text = (
        f"kernel run({', '.join(parameters)}, Loss: tensor<f32>[M, 1]) {{\n  let r = ctx.block.x * 8\n"
        f"  Loss[r :+ 8, :] = {loss.function}({', '.join(values)})\n}}\n"
    )
    wrt = [one.name for one in differentiated(loss)]
    return loss, function(tilec.compile(source=text).run, "Loss", wrt, reduction=reduction, device=execution)


def arguments(loss: Loss, dtype: torch.dtype, rows: int, columns: int) -> dict[str, Any]:
    """Tensors by name: numbers that bfloat16 holds with steps of 1/64 around, so that steps are exact."""
    wanted = {one.name for one in differentiated(loss)}
    found: dict[str, Any] = {}
    for one in loss.inputs:
        value = draw(loss, rows, columns)[one.name]
        if one.kind == "scalar":
            continue
        if one.kind == "classes":
            found[one.name] = torch.from_numpy(value)
            continue
        steps = np.round(np.clip(value, -1.5, 1.5) * 32) / 32 if one.name in wanted else value
        found[one.name] = torch.tensor(steps, dtype=dtype, requires_grad=one.name in wanted)
    return found


@EACH
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_against_torch(name: str, dtype: torch.dtype, reduction: str):
    loss, call = loss_of(name, reduction)
    given = arguments(loss, dtype, 9, 7)
    result = call(**given)
    exact = {key: value.detach().double() if value.dtype.is_floating_point else value for key, value in given.items()}
    wanted = [exact[one.name].requires_grad_() for one in differentiated(loss)]
    scalars = {one.name: one.value for one in loss.inputs if one.kind == "scalar"}
    expected = loss.torch(*((exact | scalars)[one.name] for one in loss.inputs))
    expected = expected if reduction == "none" else getattr(expected, reduction)()
    torch.testing.assert_close(result.double(), expected, rtol=1e-5, atol=1e-5)
    result.sum().backward()
    for one, slope in zip(differentiated(loss), torch.autograd.grad(expected.sum(), wanted), strict=True):
        got = given[one.name].grad
        assert got.dtype is dtype
        known = torch.isfinite(slope)
        scale = float(slope[known].abs().max())
        torch.testing.assert_close(
            got.double()[known], slope[known], rtol=2 * UNIT[dtype] + 2e-5, atol=2e-5 * scale + UNIT[dtype] / 1000
        )


@EACH
def test_gradcheck_in_float32(name: str):
    """A central difference of step h is off by h^2 / 6 of the third derivative and by a rounding of the loss over h."""
    loss, call = loss_of(name, "none")
    given = arguments(loss, torch.float32, 3, 4)
    for key in [one.name for one in differentiated(loss)]:

        def along(x: torch.Tensor, key: str = key) -> torch.Tensor:
            return call(**{k: v.detach() for k, v in given.items()} | {key: x})

        assert gradcheck(along, given[key].detach().requires_grad_(), 2.0**-7, 2e-3, 2e-3)
