"""Derived gradients of the whole library on drawn shapes and odd values, in double precision: against central
differences of the twins, and against torch's autograd, also at kinks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.every import EVERY
from tests.reference.training_table import Input, Loss
from tests.std.odd import LOGITS, WAYS, draw_odd, ignored_rows
from tests.std.slopes import Slopes, slopes
from tests.std.test_training import by_torch, differentiated, interpret

# The slope in an advantage of 0, where both sides of PPO's minimum are 0 and no policy is learned from
ANY_OF_A_KINK = {("ppo_loss", "Advantage"), ("grpo_loss", "Advantage")}


def by_autograd(loss: Loss, values: dict[str, Any], expected: np.ndarray) -> dict[str, np.ndarray]:
    """torch's slopes; NaN where torch does not compute what the twin says, as with classes outside, or refuses."""
    nothing = {one.name: np.full(values[one.name].shape, np.nan) for one in differentiated(loss)}
    if ignored_rows(loss, values).any() or (loss.function == "softmax_entropy" and np.isnan(expected).any()):
        return nothing
    result, found = by_torch(loss, values)
    same = np.isclose(result, expected, rtol=1e-6, atol=1e-9, equal_nan=True)
    if any(one.name == "smoothing" for one in loss.inputs):
        # torch spreads the smoothing over masked classes too, so that its loss is infinite.
        same &= np.isfinite(expected)
    if loss.result == "scalar" or any(one.kind == "feature" for one in loss.inputs):
        return found if same.all() else nothing
    return {
        name: slope if slope.ndim < 2 else np.where(same.all(axis=1, keepdims=True), slope, np.nan)
        for name, slope in found.items()
    }


def check_slope(loss: Loss, one: Input, found: np.ndarray, twin: Slopes, torch: np.ndarray, row: np.ndarray) -> None:
    """`row`: the sum of each row's results."""
    scale = np.abs(twin.central[twin.is_smooth]).max(initial=0.0)
    slack = 3e-6 * scale + 1e-5 * np.abs(twin.central) + 20 * twin.noise
    agree(one, found, twin.central, slack, twin.is_smooth, "the twin's")
    at_kink = ~twin.is_smooth & np.isfinite(torch)
    noise = np.nan_to_num(20 * twin.noise, posinf=0.0)
    if (loss.function, one.name) in ANY_OF_A_KINK:
        nearest = np.clip(found, twin.low, twin.high)
        slack = noise + 1e-5 * (1 + np.abs(nearest))
        agree(one, found, nearest, slack, at_kink & np.isfinite(twin.low), "between the sides'")
    else:
        agree(one, found, torch, 1e-5 * np.abs(torch) + 1e-6 * (1 + scale) + noise, at_kink, "torch's")
    if one.kind == "feature" or loss.result == "scalar":
        return
    is_nan = np.broadcast_to(np.isnan(row) & (one is loss.inputs[0]), found.shape)
    assert not np.isfinite(found[is_nan]).any(), f"{one.name}: a NaN does not stay"
    # Neither 0 times infinity nor the difference of two
    is_finite = np.isfinite(row) & ~(np.isinf(twin.low) | np.isinf(twin.high))
    assert np.isfinite(found[is_finite]).all(), f"{one.name} of a finite loss"


def agree(one: Input, found: np.ndarray, right: np.ndarray, slack: np.ndarray, where: np.ndarray, whose: str) -> None:
    with np.errstate(invalid="ignore"):
        bad = where & ~(np.abs(found - right) <= slack)
    for place in np.argwhere(bad)[:1]:
        at = tuple(place)
        raise AssertionError(f"the slope in {one.name} at {at} is {found[at]}, {whose} is {right[at]}")


def check(loss: Loss, values: dict[str, Any]) -> None:
    with np.errstate(all="ignore"):
        expected = loss.expected(*(values[one.name] for one in loss.inputs))
        got = interpret(loss, values)
        row = expected.sum(axis=1, keepdims=True)
    size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    np.testing.assert_allclose(got["Result"], expected, rtol=1e-6, atol=1e-6 * size + 1e-9)
    torch = by_autograd(loss, values, expected)
    ignored = ignored_rows(loss, values)
    if ignored.any():
        assert not got["Result"][ignored].any()
        assert not got["SlopeX"][ignored].any()
    for one in differentiated(loss):
        found, twin = got[f"Slope{one.name}"], slopes(loss, values, one)
        if loss.function == "gaussian_nll_loss" and one.name == "V":
            # Below the bound the twin is flat, and torch's slope, as ours, that at the bound.
            twin.is_smooth[values["V"] < values["eps"]] = False
        check_slope(loss, one, found, twin, torch[one.name], row)
        if loss.function in LOGITS and one.kind == "tile" and loss.result != "scalar":
            masked = np.isneginf(values[one.name]) & np.isfinite(row)
            assert not found[masked].any(), "the slope of a masked class is exactly 0"


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**20), rows=st.integers(1, 5), columns=st.integers(1, 6), ways=st.sets(st.sampled_from(WAYS))
)
@pytest.mark.parametrize("loss", EVERY, ids=lambda loss: loss.name)
def test_in_double(loss: Loss, seed: int, rows: int, columns: int, ways: set[str]):
    check(loss, draw_odd(loss, seed, rows, columns, frozenset(ways)))
