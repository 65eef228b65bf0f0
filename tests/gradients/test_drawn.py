"""Derived gradients of every operation and reduction on drawn shapes and odd values: against torch's autograd in double
precision, also at ties and zeros, and on devices."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diff import backends
from tests.diff.harness import Data, Execution, Subject, zeros_for
from tests.gradients.cases import CASES, FUNCTIONS, Case
from tests.gradients.harness import INPUTS, by_torch, draw, gradient, kernel_text, tensors_of

PAIRS = [pytest.param(case, wrt, id=f"{case.name}-{wrt}") for case in CASES for wrt in case.wrt]
WAYS = ("ties", "zeros", "large", "equal")
DRAWN = {
    "seed": st.integers(0, 2**20),
    "rows": st.integers(1, 9),
    "columns": st.sampled_from([1, 2, 5, 9]),
    "ways": st.sets(st.sampled_from(WAYS)),
}
# torch's has a least length, the case's formula divides by 0.
NOT_AT_ZERO = {"cosine"}


def draw_odd(case: Case, seed: int, rows: int, columns: int, ways: set[str]) -> dict[str, Any]:
    """Inputs by name, f32 numbers, of the case's domain."""
    rng = np.random.default_rng(seed)
    values = draw(rng, rows, columns, positive=case.positive)
    for name in INPUTS:
        value = np.asarray(values[name])
        if "ties" in ways:
            value = np.round(2 * value) / 2
        if "zeros" in ways:
            value = np.where(rng.random(value.shape) < 0.3, 0.0, value)
        if "large" in ways:
            value = np.where(rng.random(value.shape) < 0.2, value * 30, value)
        if case.positive or case.name in NOT_AT_ZERO:
            value = np.maximum(value, 0.125)
        values[name] = value.astype(np.float32)
    if "equal" in ways:
        values["y"] = np.where(rng.random((rows, columns)) < 0.5, values["x"], values["y"])
    return values


@settings(max_examples=8)
@given(**DRAWN)
@pytest.mark.parametrize(("case", "wrt"), PAIRS)
def test_in_double(case: Case, wrt: str, seed: int, rows: int, columns: int, ways: set[str]):
    values = draw_odd(case, seed, rows, columns, ways)
    expected = by_torch(case.torch, values, wrt)
    got = gradient(kernel_text(case.expression, wrt) + FUNCTIONS, values, wrt, double=True)
    known = np.isfinite(expected)
    size = np.abs(expected[known]).max(initial=1.0)
    exactness = 2e-6 if case.has_literals else 1e-9
    np.testing.assert_allclose(
        np.where(known, got, 0.0), np.where(known, expected, 0.0), rtol=exactness, atol=exactness * size
    )


@pytest.mark.parametrize(("case", "wrt"), PAIRS)
def test_on_a_device(case: Case, wrt: str):
    """One text for all sizes, on one device or the other, within the ranges of the interpreter."""
    subject = Subject(kernel_text(case.expression, wrt) + FUNCTIONS, "k")
    device = backends.DEVICE_NAMES[crc32(f"{case.name} {wrt}".encode()) % len(backends.DEVICE_NAMES)]
    lanes, silent = 0, 0

    @settings(max_examples=5)
    @given(**DRAWN)
    def draws(seed: int, rows: int, columns: int, ways: set[str]) -> None:
        nonlocal lanes, silent
        values = draw_odd(case, seed, rows, columns, ways)
        dims = {"M": rows, "V": columns}
        tensors = zeros_for(subject.kernel, dims) | tensors_of(values)
        outcome = subject.check(
            Data(tensors, {"s": float(values["s"])}, dims), [Execution(f"on {device}", known=False, device=device)]
        )
        lanes += outcome.lanes
        silent += outcome.silent

    draws()
    assert silent <= 0.3 * lanes, (silent, lanes)
