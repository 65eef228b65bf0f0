"""The derived training losses on devices."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilec
from tests.gradients.test_train_loss import STORAGE, draw, reference
from tests.reference import loss_bounds, softmax
from tests.reference.bounds import SUM, U
from tests.reference.execution import EXECUTIONS, assert_within, bits
from tilec.types import DType

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def module(name: str) -> Any:
    return tilec.compile(EXAMPLES / name)


def bounds_of(x: np.ndarray, target: np.ndarray, alpha: float, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """What the loss and the gradient may be off by, in rows that count, for logits in float64."""
    there = np.clip(target, 0, x.shape[1] - 1)[:, None]
    lse = softmax.logsumexp(x)
    mean = alpha * np.abs(x).mean(axis=1, keepdims=True)
    terms = np.abs(lse) + np.abs(np.take_along_axis(x, there, 1)) + mean
    of_loss = loss_bounds.cross_entropy(x, there) + SUM * mean + 8 * U * terms
    of_loss += beta * np.abs(lse) * (2 * loss_bounds.logsumexp(x) + 4 * U * np.abs(lse))
    p, factor = softmax.softmax(x), 1 + 2 * beta * np.abs(lse)
    of_gradient = loss_bounds.softmax(x) * factor + p * 2 * beta * loss_bounds.logsumexp(x)
    of_gradient += 8 * U * (p * factor + alpha / x.shape[1] + (np.arange(x.shape[1]) == there))
    return of_loss[:, 0], of_gradient


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("columns", [1, 2, 7, 512, 1000, 50257])
@pytest.mark.parametrize("dtype", STORAGE, ids=str)
def test_train_loss(dtype, columns, execution):
    """Right values for every option; ignored rows, which hold NaN, are overwritten by zeros, and their loss is 0."""
    rng = np.random.default_rng(columns)
    logits, target = draw(rng, 9, columns)
    target[0] = -100
    target = target.astype(np.int64 if dtype is DType.F16 else np.int32)
    kernel = module("train_loss.ph").train_loss
    for alpha, beta in product([0.0, 0.1, 1.0], [0.0, 1e-4]):
        # A class of the row, too, may be the one to ignore.
        ignore_index = -100 if beta else 1
        is_ignored = (target < 0) | (target >= columns) | (target == ignore_index)
        stored = logits.astype(STORAGE[dtype])
        stored[is_ignored] = np.nan
        result = kernel(
            stored.copy(), target, alpha=alpha, beta=beta, inv_norm=0.5, ignore_index=ignore_index, device=execution
        )
        x = np.where(is_ignored[:, None], 0.0, stored.astype(np.float64))
        options = float(np.float32(alpha)), float(np.float32(beta))
        loss, gradient = reference(x, target, *options, 0.5, ignore_index)
        of_loss, of_gradient = bounds_of(x, target, *options)
        assert_within(result.Loss, loss, of_loss, f"the loss for {alpha}, {beta}")
        assert_within(result.Logits, gradient, 0.5 * of_gradient, f"the gradient for {alpha}, {beta}")
        assert not result.Loss[is_ignored].any()
        assert not result.Logits[is_ignored].any()


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 7), (300, 130), (3, 20000)])
def test_batch_loss(rows, columns, execution):
    """The mean over valid rows and its gradient, as several dispatches."""
    rng = np.random.default_rng(rows)
    logits = rng.normal(size=(rows, columns)).astype(np.float32)
    target = rng.integers(0, columns, rows).astype(np.int32)
    target[rng.random(rows) < 0.3] = -1
    result = module("batch_loss.ph").batch_loss(logits.copy(), target, device=execution)
    count = max((target >= 0).sum(), 1)
    loss, gradient = reference(logits, target, 0.0, 0.0, 1.0, -100)
    np.testing.assert_allclose(result.Mean, [loss.sum() / count], rtol=2e-6, atol=1e-7)
    np.testing.assert_allclose(result.X, gradient / count, rtol=1e-5, atol=1e-7 / count)


@pytest.mark.parametrize("execution", EXECUTIONS[1:])
@pytest.mark.parametrize(("columns", "dtype"), [(37, DType.F32), (37, DType.F16), (3000, DType.F32)], ids=str)
def test_the_same_bits_every_time(columns, dtype, execution):
    """In place, 1,000 times from the same logits, the losses' array full of NaN: a race would show sooner or later."""
    logits, target = draw(np.random.default_rng(1), 13, columns)
    logits, target = logits.astype(STORAGE[dtype]), target.astype(np.int32)
    kernel = module("train_loss.ph").train_loss
    device = tilec.device(execution)
    targets = device.array(target)
    seen = set()
    for _ in range(1000):
        updated, loss = device.array(logits), device.array(np.full(13, np.nan, np.float32))
        kernel(updated, targets, Loss=loss, alpha=0.1, beta=1e-4, device=device)
        seen.add(bits(updated.numpy()).tobytes() + bits(loss.numpy()).tobytes())
    assert len(seen) == 1
    assert np.isfinite(loss.numpy()).all()
    assert np.isfinite(updated.numpy().astype(np.float32)).all()


@pytest.mark.parametrize("execution", EXECUTIONS[1:])
def test_a_long_total_has_the_same_bits_every_time(execution):
    """Workgroups share the sweep; their parts are added in one order."""
    device = tilec.device(execution)
    losses = device.array(np.random.default_rng(0).normal(size=300_001).astype(np.float32))
    kernel = module("train_loss.ph").sum_losses
    seen = {bits(kernel(losses, Total=device.array([np.float32("nan")])).Total.numpy()).tobytes() for _ in range(200)}
    assert len(seen) == 1


def test_count_and_total():
    """The helpers of the example: how many rows count, and the total in a fixed order."""
    target = np.array([0, 3, -100, 7, 2, -1], np.int32)
    kernels = module("train_loss.ph")
    assert kernels.count_valid(target, V=5, device="numpy").Count[0] == 3
    losses = np.random.default_rng(0).normal(size=100_003).astype(np.float32)
    total = kernels.sum_losses(losses, device="llvmpipe").Total[0]
    assert abs(total - losses.astype(np.float64).sum()) <= 1e-6 * np.abs(losses).sum()
