"""Tiles of one and of three axes, and axes put in and taken out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.gradients.double import in_double
from tests.gradients.harness import build
from tests.plan.harness import check
from tilec.driver import _run_passes
from tilec.tile import interp
from tilec.tile.passes import PASSES

CASES = {
    "vector": (
        "kernel k(X: tensor<f32>[N], Y: tensor<f32>[N], Out: tensor<f32>[N]) {\n  let i = ctx.block.x * 4\n"
        "  let x = X[i :+ 4]\n  let z = square(sum(x * Y[i :+ 4])) + rowmax(x)\n  Out[i :+ 4] = grad(z, x)\n}\n",
        {"X": (10,), "Y": (10,)},
        lambda X, Y: sum((a * b).sum() ** 2 + a.max() for a, b in zip(X.split(4), Y.split(4), strict=True)),
    ),
    "three axes": (
        "kernel k(X: tensor<f32>[B, S, D], Y: tensor<f32>[S, D], Out: tensor<f32>[B, S, D]) {\n"
        "  let b = ctx.block.x\n  let x = X[b :+ 1, :, :]\n"
        "  let z = log_softmax(x * Y[:, :]) * square(mean(x, axis: 1))\n  Out[b :+ 1, :, :] = grad(z, x)\n}\n",
        {"X": (3, 4, 5), "Y": (4, 5)},
        lambda X, Y: ((X * Y).log_softmax(2) * X.mean(1, keepdim=True) ** 2).sum(),
    ),
    "by what two axes share": (
        "kernel k(Y: tensor<f32>[B, S, D], X: tensor<f32>[S, 1], Out: tensor<f32>[S, 1]) {\n"
        "  let x = X[:, :]\n  let z = square(Y[:, :, :] - x)\n  Out[:, :] = grad(z, x)\n}\n",
        {"Y": (3, 4, 5), "X": (4, 1)},
        lambda Y, X: ((Y - X) ** 2).sum(),
    ),
    "pairs": (
        "kernel k(X: tensor<f32>[N, D], Y: tensor<f32>[N, D], Out: tensor<f32>[N, D]) {\n  let x = X[:, :]\n"
        "  let s = sum(x[:, new, :] * Y[new, :, :], axis: 2)\n  let q = s[:, :, :] * 2.0\n"
        "  let z = logsumexp(q, axis: 1) - amax(q, axis: 1)\n  Out[:, :] = grad(z, x)\n}\n",
        {"X": (5, 3), "Y": (5, 3)},
        lambda X, Y: ((2 * X @ Y.T).logsumexp(1) - (2 * X @ Y.T).amax(1)).sum(),
    ),
    "an axis left out": (
        "kernel k(X: tensor<f32>[M, V], T: tensor<f32>[M], Out: tensor<f32>[M, V]) {\n  let r = ctx.block.x\n"
        "  let x = X[r, :]\n  let z = square(logsumexp(x) - T[r])\n  Out[r, :] = grad(z, x)\n}\n",
        {"X": (5, 4), "T": (5,)},
        lambda X, T: ((X.logsumexp(1) - T) ** 2).sum(),
    ),
    "a column as a vector": (
        "kernel k(X: tensor<f32>[M], Y: tensor<f32>[M, V], Out: tensor<f32>[M]) {\n  let r = ctx.block.x * 2\n"
        "  let x = X[r :+ 2]\n  let z = softplus(x[:, new] * Y[r :+ 2, :])\n  Out[r :+ 2] = grad(z, x)\n}\n",
        {"X": (5,), "Y": (5, 3)},
        lambda X, Y: torch.nn.functional.softplus(X[:, None] * Y).sum(),
    ),
    "a scalar read": (
        "kernel k(X: tensor<f32>[1], Y: tensor<f32>[M, V], Out: tensor<f32>[1]) {\n  let x = X[0]\n"
        "  let z = tanh(Y[:, :] * x)\n  Out[0] = grad(z, x)\n}\n",
        {"X": (1,), "Y": (5, 3)},
        lambda X, Y: torch.tanh(Y * X).sum(),
    ),
}


def dims_of(kernel, tensors):
    return {
        str(extent): size
        for parameter in kernel.tensors
        if parameter.name in tensors
        for extent, size in zip(parameter.dims, tensors[parameter.name].shape, strict=True)
        if extent.constant is None
    }


@pytest.mark.parametrize("name", CASES)
def test_against_torch(name):
    text, shapes, function = CASES[name]
    rng = np.random.default_rng(2)
    values = {key: rng.normal(size=shape) for key, shape in shapes.items()}
    inputs = {key: torch.tensor(value) for key, value in values.items()}
    inputs["X"].requires_grad_(True)
    function(**inputs).backward()
    kernel = build(text)
    with in_double():
        got = interp.run(kernel, values, {}, dims_of(kernel, values))["Out"]
    np.testing.assert_allclose(got, inputs["X"].grad.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_plans(name):
    text, shapes, _ = CASES[name]
    rng = np.random.default_rng(3)
    values = {key: rng.normal(size=shape).astype(np.float32) for key, shape in shapes.items()}
    kernel = _run_passes(build(text), PASSES, True)
    check(kernel, values | {"Out": np.zeros_like(values["X"])}, atol=1e-5)
