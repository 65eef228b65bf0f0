"""Optimiser steps against torch.optim, gradient clipping, and casts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.reference.execution import compiled

N, ROUNDS = 1000, 5
EXECUTIONS = pytest.mark.parametrize("execution", ["numpy", "llvmpipe"])
PARAMETERS = "P: tensor<f32>[N], M: tensor<f32>[N], V: tensor<f32>[N], G: tensor<f32>[N], lr: f32, step: i32"
CALLS = {
    "sgd": "sgd_step(P[i :+ 256], M[i :+ 256], G[i :+ 256], lr)",
    "sgd decay": "sgd_step(P[i :+ 256], M[i :+ 256], G[i :+ 256], lr, 0.5, 0.25)",
    "nesterov": "nesterov_step(P[i :+ 256], M[i :+ 256], G[i :+ 256], lr, 0.5, 0.25)",
    "adamw": "adamw_step(P[i :+ 256], M[i :+ 256], V[i :+ 256], G[i :+ 256], lr, step)",
    "adamw options": "adamw_step(P[i :+ 256], M[i :+ 256], V[i :+ 256], G[i :+ 256], lr, step, 0.5, 0.75, 1e-3, 0.1)",
    "lion": "lion_step(P[i :+ 256], M[i :+ 256], G[i :+ 256], lr, 0.75, 0.875, 0.125)",
}


class _Lion(torch.optim.Optimizer):
    """The formula of the paper, written out."""

    def __init__(self, parameters: Any, lr: float) -> None:
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.sub_(group["lr"] * (torch.sign(0.75 * m + 0.25 * p.grad) + 0.125 * p))
                m.mul_(0.875).add_(p.grad, alpha=0.125)


OPTIMISERS = {
    "sgd": lambda p: torch.optim.SGD([p], 0.125, momentum=0.9),
    "sgd decay": lambda p: torch.optim.SGD([p], 0.125, momentum=0.5, weight_decay=0.25),
    "nesterov": lambda p: torch.optim.SGD([p], 0.125, momentum=0.5, weight_decay=0.25, nesterov=True),
    "adamw": lambda p: torch.optim.AdamW([p], 0.125),
    "adamw options": lambda p: torch.optim.AdamW([p], 0.125, (0.5, 0.75), 1e-3, 0.1),
    "lion": lambda p: _Lion([p], 0.125),
}


@pytest.mark.parametrize(
    ("name", "execution"), [(name, "numpy") for name in CALLS] + [("nesterov", "llvmpipe"), ("adamw", "llvmpipe")]
)
def test_steps(name: str, execution: str):
    text = f"kernel run({PARAMETERS}) {{\n  let i = ctx.block.x * 256\n  {CALLS[name]}\n}}\n"
    kernel = compiled(text.replace("V: tensor<f32>[N], ", "") if "V[" not in text else text).run
    rng = np.random.default_rng(0)
    start = rng.normal(size=N).astype(np.float32)
    reference = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64))
    optimiser = OPTIMISERS[name](reference)
    state = {"P": start, "M": np.zeros(N, np.float32)} | ({"V": np.zeros(N, np.float32)} if "V[" in text else {})
    for step in range(1, ROUNDS + 1):
        gradient = (rng.normal(size=N) * 10.0 ** rng.integers(-3, 2, N)).astype(np.float32)
        reference.grad = torch.tensor(gradient, dtype=torch.float64)
        optimiser.step()
        result = kernel(**state, G=gradient, lr=0.125, step=step, device=execution)
        state = {key: result[key] for key in state}
    np.testing.assert_allclose(state["P"], reference.detach().numpy(), rtol=5e-6, atol=5e-6)


def test_the_first_steps_of_adamw_have_all_digits():
    """1 - 0.999 in f32 keeps 5 digits of the decay's rounding only where it is not computed by a power."""
    text = f"kernel run({PARAMETERS}) {{\n  adamw_step(P[:], M[:], V[:], G[:], lr, step, 0.0, 0.999, 0.0, 0.0)\n}}\n"
    zeros, one = np.zeros(1, np.float32), np.ones(1, np.float32)
    for execution in ("numpy", "llvmpipe"):
        result = compiled(text).run(P=zeros, M=zeros.copy(), V=zeros.copy(), G=one, lr=1.0, step=1, device=execution)
        np.testing.assert_allclose(result.P, [-1.0], rtol=1e-6)


def test_lion_holds_still_without_a_gradient():
    text = (
        "kernel run(P: tensor<f32>[N], M: tensor<f32>[N], G: tensor<f32>[N], lr: f32) {\n"
        "  lion_step(P[:], M[:], G[:], lr)\n}\n"
    )
    zeros = np.zeros(3, np.float32)
    result = compiled(text).run(P=zeros + 2, M=zeros, G=zeros.copy(), lr=1.0, device="numpy")
    assert result.P.tolist() == [2, 2, 2]


CLIP = """
kernel run(G: tensor<f32>[N], Norm: tensor<f32>[1], most: f32) {
  let g = G[:]
  let norm = gradient_norm(g)
  Norm[0] = norm
  G[:] = g * clip_factor(norm, most)
}
"""


@EXECUTIONS
@pytest.mark.parametrize("most", [0.5, 1e6])
def test_clipping(most: float, execution: str):
    gradient = np.random.default_rng(1).normal(size=5000).astype(np.float32)
    parameter = torch.nn.Parameter(torch.zeros(5000, dtype=torch.float64))
    parameter.grad = torch.tensor(gradient, dtype=torch.float64)
    norm = torch.nn.utils.clip_grad_norm_([parameter], most)
    result = compiled(CLIP).run(gradient, most=most, device=execution)
    np.testing.assert_allclose(result.Norm, [norm.item()], rtol=2e-6)
    np.testing.assert_allclose(result.G, parameter.grad.numpy(), rtol=4e-6)


def test_a_norm_that_is_not_a_number_stays_one():
    gradient = np.array([1.0, np.nan], np.float32)
    result = compiled(CLIP).run(gradient, most=1.0, device="numpy")
    assert np.isnan(result.Norm).all()
    assert np.isnan(result.G).all()


CASTS = """
kernel run(X: tensor<f32>[M, C], Half: tensor<f16>[M, C], Rest: tensor<f32>[M, C], Q: tensor<i8>[M, C],
           Scale: tensor<f32>[M, 1], Back: tensor<f32>[M, C], Slope: tensor<f32>[M, C]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  let half = saturate_f16(x)
  Half[r :+ 8, :] = half
  Slope[r :+ 8, :] = grad(half, x)
  Rest[r :+ 8, :] = bf16_remainder(x)
  let scale = int8_scale(x)
  let q = to_int8(x, scale)
  Scale[r :+ 8, :] = scale
  Q[r :+ 8, :] = q
  Back[r :+ 8, :] = from_int8(q, scale)
}
"""


@EXECUTIONS
def test_casts(execution: str):
    x = np.random.default_rng(2).normal(size=(5, 40)).astype(np.float32) * 100
    x[1] = 0
    x[2, :4] = [1e5, -1e6, 65504, 70000]
    result = compiled(CASTS).run(x, device=execution)
    half = torch.clamp(torch.tensor(x), -65504, 65504).half()
    np.testing.assert_array_equal(result.Half, half.numpy())
    np.testing.assert_array_equal(result.Slope, (np.abs(x) <= 65504).astype(np.float32))
    np.testing.assert_array_equal(result.Rest, (torch.tensor(x) - torch.tensor(x).bfloat16().float()).numpy())
    scale = np.abs(x).max(axis=1, keepdims=True) / np.float32(127)
    scale[1] = 1
    np.testing.assert_allclose(result.Scale, scale, rtol=3e-7)
    assert np.abs(result.Q).max() == 127
    assert (np.abs(result.Back - x) <= result.Scale * 0.5001).all()
    assert not result.Back[1].any()


def test_casts_of_special_values():
    x = np.array([[np.inf, -np.inf, np.nan, 1.0]], np.float32)
    text = (
        "kernel run(X: tensor<f32>[M, C], Half: tensor<f16>[M, C], Q: tensor<i8>[M, C]) {\n"
        "  Half[:, :] = saturate_f16(X[:, :])\n  Q[:, :] = to_int8(X[:, :], 0.5)\n}\n"
    )
    for execution in ("numpy", "llvmpipe"):
        result = compiled(text).run(x, device=execution)
        np.testing.assert_array_equal(result.Half, np.array([[65504, -65504, np.nan, 1]], np.float16))
        assert result.Q.tolist() == [[127, -127, 0, 2]]
