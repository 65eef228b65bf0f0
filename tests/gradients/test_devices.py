"""The derived training losses on devices."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilec
from tests.gradients.test_train_loss import STORAGE, draw, reference
from tests.reference.execution import EXECUTIONS, bits
from tilec.types import DType

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def module(name: str) -> Any:
    return tilec.compile(EXAMPLES / name)


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    ("dtype", "columns"),
    [(DType.F32, size) for size in (1, 2, 7, 512, 1000, 50257)]
    + [(DType.F16, 7), (DType.F16, 1000), (DType.BF16, 7), (DType.BF16, 50257)],
    ids=str,
)
def test_train_loss(dtype, columns, execution):
    """Right values; ignored rows of NaN are overwritten by zeros."""
    logits, target = draw(np.random.default_rng(columns), 9, columns)
    stored = logits.astype(STORAGE[dtype])
    target[0] = -100
    stored[(target < 0) | (target >= columns)] = np.nan
    result = module("train_loss.ph").train_loss(
        stored.copy(), target.astype(np.int32), alpha=0.1, beta=1e-4, inv_norm=0.5, device=execution
    )
    options = (float(np.float32(0.1)), float(np.float32(1e-4)), 0.5, -100)
    loss, gradient = reference(stored.astype(np.float64), target, *options)
    np.testing.assert_allclose(result.Loss, loss, rtol=5e-6, atol=5e-6)
    step = {DType.F32: 2e-6, DType.F16: 1e-3, DType.BF16: 8e-3}[dtype]
    np.testing.assert_allclose(result.Logits.astype(np.float64), gradient, rtol=step, atol=step * 0.1)


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
@pytest.mark.parametrize("columns", [37, 3000])
def test_the_same_bits_every_time(columns, execution):
    """In place, 1,000 times from the same logits: a race would show sooner or later."""
    logits, target = draw(np.random.default_rng(1), 13, columns)
    logits, target = logits.astype(np.float32), target.astype(np.int32)
    kernel = module("train_loss.ph").train_loss
    device = tilec.device(execution)
    targets = device.array(target)
    first = None
    for _ in range(1000 if columns == 37 else 50):
        updated, loss = device.array(logits), device.array(np.full(13, np.nan, np.float32))
        kernel(updated, targets, Loss=loss, alpha=0.1, device=device)
        seen = bits(updated.numpy()).tobytes() + bits(loss.numpy()).tobytes()
        first = first or seen
        assert seen == first


def test_count_and_total():
    """The helpers of the example: how many rows count, and the total in a fixed order."""
    target = np.array([0, 3, -100, 7, 2, -1], np.int32)
    kernels = module("train_loss.ph")
    assert kernels.count_valid(target, V=5, device="numpy").Count[0] == 3
    losses = np.random.default_rng(0).normal(size=100_003).astype(np.float32)
    total = kernels.sum_losses(losses, device="llvmpipe").Total[0]
    assert abs(total - losses.astype(np.float64).sum()) <= 1e-6 * np.abs(losses).sum()
