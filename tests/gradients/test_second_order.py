"""Gradients of gradients: products of the Hessian with a vector, against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.gradients.cases import CASES, FUNCTIONS
from tests.gradients.double import in_double
from tests.gradients.harness import ROWS, build, draw, tensors_of
from tilec.tile import interp

NAMES = [
    "mul self", "exp", "tanh", "square", "sqrt", "sigmoid", "rowsum", "rowmean", "rowvar",
    "logsumexp", "pick", "softmax", "log softmax", "own softmax", "own logsumexp", "cross-entropy", "entropy", "kl",
    "focal", "cosine", "jsd", "huber", "z-loss", "soft targets", "whole logsumexp", "min max", "logs", "rowprod",
]  # fmt: skip
CHOSEN = [case for case in CASES if case.name in NAMES]


def second_order_text(expression):
    """(d^2 z / dx^2) v for v = Out's old value, from the gradient of `grad(z, x) * v`."""
    span = f"[r :+ {ROWS}, :]"
    return (
        "kernel k(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], W: tensor<f32>[V], C: tensor<f32>[M, 1], "
        "T: tensor<i32>[M, 1], D: tensor<f32>[M, V], Out: tensor<f32>[M, V], s: f32) {\n"
        f"  let r = ctx.block.x * {ROWS}\n  let x = X{span}\n  let y = Y{span}\n  let w = W[:]\n  let c = C{span}\n"
        f"  let t = T{span}\n  let d = D{span}\n  let z = {expression}\n  let g = grad(z, x)\n"
        f"  let v = g * d\n  Out{span} = grad(v, x)\n}}\n" + FUNCTIONS
    )


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_hessian_times_vector(case):
    values = draw(np.random.default_rng(1), 5, 7, scale=0.5, positive=case.positive)
    direction = np.random.default_rng(2).normal(size=(5, 7))
    kernel = build(second_order_text(case.expression))
    with in_double():
        tensors = tensors_of(values, np.float64) | {"D": direction}
        got = interp.run(kernel, tensors, {"s": float(values["s"])}, {"M": 5, "V": 7})["Out"]
    arguments = {
        name: torch.tensor(np.asarray(value, np.float64 if name != "t" else np.int64)) for name, value in values.items()
    }
    x = arguments["x"].requires_grad_(True)
    (first,) = torch.autograd.grad(case.torch(**arguments).sum(), x, create_graph=True)
    (expected,) = torch.autograd.grad((first * torch.tensor(direction)).sum(), x)
    size = np.abs(expected.numpy()).max() + 1.0
    np.testing.assert_allclose(got, expected.numpy(), rtol=1e-8, atol=1e-9 * size)
