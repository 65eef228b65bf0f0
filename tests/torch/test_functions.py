"""Kernels as functions of tensors: values and gradients against torch's own, and torch's gradcheck."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.reference.execution import EXECUTIONS
from tests.torch.kernels import kernels
from tilec.torch import function

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
REDUCTIONS = ("none", "sum", "mean")

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
each_reduction = pytest.mark.parametrize("reduction", REDUCTIONS)
each_execution = pytest.mark.parametrize("execution", EXECUTIONS)

UNIT = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


def drawn(rows: int, columns: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(seed)
    logits = (3 * torch.randn(rows, columns, generator=generator)).to(dtype).requires_grad_()
    return logits, torch.randint(0, columns, (rows,), generator=generator)


def assert_near(got: torch.Tensor, expected: torch.Tensor, unit: float = 2.0**-24) -> None:
    """Within a few roundings of the result's type and 2e-6 of the computation in float32."""
    size = float(expected.abs().nan_to_num().max()) if expected.numel() else 0.0
    torch.testing.assert_close(got.double(), expected, rtol=2 * unit + 2e-6, atol=2e-6 * size, equal_nan=True)


@each_execution
@each_dtype
@each_reduction
def test_cross_entropy(reduction: str, dtype: torch.dtype, execution: str):
    """With ignored rows, one of them of NaNs, by torch's conventions."""
    for name in ("plain", "ignoring"):
        logits, target = drawn(13, 37, dtype)
        target[[2, 7]] = -100
        with torch.no_grad():
            logits[7] = torch.nan
        loss_of = function(kernels()[name], reduction=reduction, ignore_index=-100, device=execution)
        loss = loss_of(logits, target if name == "plain" else target[:, None])
        exact = logits.detach().double().nan_to_num().requires_grad_()
        expected = functional.cross_entropy(exact, target, reduction=reduction)
        assert_near(loss.detach().reshape(expected.shape), expected.detach())
        weights = torch.linspace(0.5, 2.0, loss.numel()).reshape(loss.shape)
        (loss * weights).sum().backward()
        (expected * weights.reshape(expected.shape)).sum().backward()
        assert logits.grad.dtype is dtype
        assert_near(logits.grad, exact.grad, UNIT[dtype])
        assert not logits.grad[[2, 7]].any()


@each_reduction
def test_no_row_counts(reduction: str):
    logits, target = drawn(5, 4)
    target[:] = -100
    for name in ("plain", "ignoring"):
        given = target if name == "plain" else target[:, None]
        loss = function(kernels()[name], reduction=reduction, ignore_index=-100, device="numpy")(logits, given)
        exact = logits.detach().double().requires_grad_()
        expected = functional.cross_entropy(exact, target, reduction=reduction)
        torch.testing.assert_close(loss.reshape(expected.shape).double(), expected, equal_nan=True)
        (gradient,) = torch.autograd.grad(loss.sum(), logits)
        assert not gradient.any()


@each_reduction
@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(reduction: str, rows: int):
    logits, target = drawn(rows, 3)
    loss = function(kernels().plain, reduction=reduction, device="numpy")(logits, target)
    exact = logits.detach().double().requires_grad_()
    expected = functional.cross_entropy(exact, target, reduction=reduction)
    torch.testing.assert_close(loss.double(), expected, equal_nan=True, rtol=1e-6, atol=1e-6)
    loss.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(logits.grad.double(), exact.grad, rtol=1e-6, atol=1e-6)


@each_execution
@each_reduction
def test_gradcheck_in_float32(reduction: str, execution: str):
    """A central difference of step h is off by h^2 / 6 of the third derivative, at most 1/8 here, and by a rounding of
    the loss, 5 * 2^-24, over h: 2^-7 makes that 1.3e-6 + 4e-5."""
    loss_of = function(kernels().ignoring, "Loss", "Logits", reduction=reduction, device=execution)
    logits = torch.randn(4, 5, generator=torch.Generator().manual_seed(3), requires_grad=True)
    target = torch.tensor([[1], [4], [-100], [0]])
    assert gradcheck(lambda x: loss_of(x, target, alpha=0.1), logits, 2.0**-7, 1e-4, 1e-4)


@each_execution
@each_reduction
@pytest.mark.parametrize("dtype", DTYPES[1:], ids=str)
def test_gradcheck_in_half_precision(dtype: torch.dtype, reduction: str, execution: str):
    """Logits are multiples of 1/16 below 1 in magnitude, so that steps of 1/16 are exact: off by 1/256/48 of the third
    derivative's size, and the derived gradient by its rounding."""
    loss_of = function(kernels().ignoring, "Loss", "Logits", reduction=reduction, device=execution)
    draw = torch.randint(-8, 8, (4, 5), generator=torch.Generator().manual_seed(3)) / 16
    logits = draw.to(dtype).requires_grad_()
    target = torch.tensor([[1], [4], [-100], [0]])
    assert gradcheck(lambda x: loss_of(x, target, alpha=0.1), logits, 2.0**-4, 5e-4, UNIT[dtype])


def test_gradcheck_of_two_inputs():
    distance = function(kernels().distance, "Loss", device="numpy")
    assert distance.wrt == ("X", "Y")
    x, y = (torch.randint(-8, 8, (3, 4)).float().div(8).requires_grad_() for _ in range(2))
    # A polynomial of degree 2: steps of 1/16 are exact but for the sums' roundings.
    assert gradcheck(distance, x, 2.0**-4, 1e-5, 1e-5, y)


def gradcheck(call: Any, x: torch.Tensor, step: float, atol: float, rtol: float, *more: torch.Tensor) -> bool:
    with warnings.catch_warnings():
        # That it was made for float64; the tolerances are reasoned for what is given.
        warnings.filterwarnings("ignore", message=".*double precision.*")
        return torch.autograd.gradcheck(call, (x, *more), eps=step, atol=atol, rtol=rtol)


def test_gradients_of_what_asks_for_them():
    distance = function(kernels().distance, "Loss", device="numpy")
    x, y = torch.randn(5, 3), torch.randn(5, 3, dtype=torch.float16).requires_grad_()
    distance(x, y).sum().backward()
    torch.testing.assert_close(y.grad.float(), (2 / 3) * (y.detach().float() - x), rtol=1e-3, atol=1e-3)
    assert x.grad is None
    assert distance(x, y.detach()).grad_fn is None
    with torch.no_grad():
        assert distance(x, y).grad_fn is None


def test_any_layout_of_memory():
    logits, target = drawn(12, 6)
    loss_of = function(kernels().plain, device="numpy")
    turned = logits.detach().t().contiguous().t().requires_grad_()
    every_other = torch.stack([logits.detach(), -logits.detach()], dim=2)[:, :, 0].requires_grad_()
    expected = loss_of(logits, target)
    (gradient,) = torch.autograd.grad(expected.sum(), logits)
    for other in (turned, every_other):
        loss = loss_of(Logits=other, Target=target)
        # An expanded upstream gradient has strides of 0.
        (found,) = torch.autograd.grad(loss, other, torch.ones(()).expand(loss.shape))
        assert torch.equal(loss, expected)
        assert torch.equal(found, gradient)


def test_the_largest_upstream_gradient_reaches_a_half_precision_gradient():
    """Loss scaling multiplies before the gradient is rounded: what would be 0 in float16 alone is not."""
    logits, target = drawn(8, 16, torch.float16)
    loss = function(kernels().plain, reduction="mean", device="numpy")(logits, target)
    (small,) = torch.autograd.grad(loss * 2.0**-24, logits, retain_graph=True)
    (large,) = torch.autograd.grad(loss * 2.0**10, logits)
    assert not small.any()
    assert large.count_nonzero() > 100
    assert torch.isfinite(large).all()


def test_whole_tensor_loss():
    logits, target = drawn(20, 7)
    loss = function(kernels().total, device="numpy")(logits, target)
    assert loss.shape == (1,)
    loss.backward()
    expected = torch.softmax(logits.detach().double(), 1) - functional.one_hot(target, 7)
    assert_near(logits.grad, expected)


@each_execution
def test_training_follows_torch(execution: str):
    """Ten steps of a linear model: the same losses as with torch's cross-entropy."""
    generator = torch.Generator().manual_seed(1)
    pixels, classes = torch.randn(40, 9, generator=generator), torch.randint(0, 5, (40,), generator=generator)
    classes[3] = -100
    ours = function(kernels().plain, reduction="mean", ignore_index=-100, device=execution)
    losses = []
    for criterion in (ours, functional.cross_entropy):
        model = torch.nn.Linear(9, 5)
        with torch.no_grad():
            model.weight.copy_(torch.linspace(-1, 1, 45).reshape(5, 9))
            model.bias.zero_()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
        found = []
        for _ in range(10):
            optimizer.zero_grad()
            loss = criterion(model(pixels), classes)
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        losses.append(found)
    assert losses[0][-1] < losses[0][0]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
