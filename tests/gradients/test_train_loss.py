"""The training loss of examples/train_loss.ph against its formulas written in NumPy."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gradients.harness import build
from tests.plan.harness import check
from tilec.driver import _run_passes
from tilec.tile import interp
from tilec.tile.passes import PASSES
from tilec.types import DType

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = (EXAMPLES / "train_loss.ph").read_text(encoding="utf-8")
STORAGE = {DType.F32: np.float32, DType.F16: np.float16, DType.BF16: ml_dtypes.bfloat16}


def reference(logits, target, alpha, beta, inv_norm, ignore_index):
    """Loss and gradient in float64; rows that are ignored are never looked at."""
    x = logits.astype(np.float64)
    rows, columns = x.shape
    loss, gradient = np.zeros(rows), np.zeros_like(x)
    for row in range(rows):
        t = target[row]
        if t == ignore_index or not 0 <= t < columns:
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            top = x[row].max()
            shifted = np.exp(x[row] - top)
            total = shifted.sum()
            lse = top + np.log(total)
            smooth = alpha * x[row].mean() if alpha > 0 else 0.0
            loss[row] = (top - x[row, t]) + np.log(total) if alpha == 0 else lse - (1 - alpha) * x[row, t] - smooth
            loss[row] += beta * lse**2
            gradient[row] = shifted / total * (1 + 2 * beta * lse) - (alpha / columns if alpha > 0 else 0.0)
            gradient[row, t] -= 1 - alpha
            gradient[row] *= inv_norm
    return loss, gradient


def arguments(logits, target, dtype=DType.F32):
    loss = np.zeros(len(target), np.float32)
    return {"Logits": logits.astype(STORAGE[dtype]), "Target": target.astype(np.int32), "Loss": loss}


def scalars(alpha=0.0, beta=0.0, inv_norm=1.0, ignore_index=-100):
    return {"alpha": alpha, "beta": beta, "inv_norm": inv_norm, "ignore_index": ignore_index}


def run(tensors, given, dtype=DType.F32):
    kernel = build(TEXT, "train_loss", (), (("T", dtype),))
    rows, columns = tensors["Logits"].shape
    return interp.run(kernel, tensors, given, {"M": rows, "V": columns})


def draw(rng, rows, columns):
    logits = rng.normal(size=(rows, columns)) * 3
    target = rng.integers(0, columns, rows)
    target[rng.random(rows) < 0.3] = -100
    target[rng.random(rows) < 0.1] = columns
    return logits, target


@pytest.mark.parametrize("dtype", STORAGE, ids=str)
@pytest.mark.parametrize("columns", [1, 2, 7, 512, 1000])
@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.0), (0.1, 0.0), (1.0, 1e-4), (0.0, 1e-4), (0.1, 1e-4)])
def test_against_the_formulas(dtype, columns, alpha, beta):
    logits, target = draw(np.random.default_rng(columns), 11, columns)
    tensors = arguments(logits, target, dtype)
    given_scalars = scalars(alpha, beta, 0.25)
    out = run(tensors, given_scalars, dtype)
    exact = tensors["Logits"].astype(np.float64)
    loss, gradient = reference(exact, target, float(np.float32(alpha)), float(np.float32(beta)), 0.25, -100)
    np.testing.assert_allclose(out["Loss"], loss, rtol=2e-6, atol=2e-6)
    step = {DType.F32: 1e-6, DType.F16: 1e-3, DType.BF16: 8e-3}[dtype]
    np.testing.assert_allclose(out["Logits"].astype(np.float64), gradient, rtol=step, atol=step * 1e-1)


SPECIAL = st.sampled_from([np.nan, np.inf, -np.inf, 3e38, -3e38, 0.0])


@given(data=st.data())
def test_ignored_rows_are_zero_whatever_they_hold(data):
    rows, columns = data.draw(st.integers(1, 10)), data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    logits, target = draw(rng, rows, columns)
    ignored = data.draw(st.lists(st.integers(0, rows - 1), min_size=1))
    target[ignored] = data.draw(st.sampled_from([-100, -1, columns, 2**31 - 1]))
    for row in ignored:
        logits[row] = data.draw(st.lists(SPECIAL, min_size=columns, max_size=columns))
    alpha, beta = data.draw(st.sampled_from([(0.0, 0.0), (0.1, 1e-4), (1.0, 0.0)]))
    out = run(arguments(logits, target), scalars(alpha, beta, 0.5))
    zero = (target < 0) | (target >= columns)
    assert (out["Loss"][zero] == 0).all()
    assert (out["Logits"][zero] == 0).all()
    assert np.isfinite(out["Logits"][~zero]).all()


@pytest.mark.parametrize("shift", [1e4, 1e6, -1e6])
def test_shifted_logits_keep_their_accuracy(shift):
    rng = np.random.default_rng(3)
    logits = (np.round(rng.normal(size=(8, 50)) * 3 * 16) / 16 + shift).astype(np.float32)
    target = rng.integers(0, 50, 8)
    out = run(arguments(logits, target), scalars())
    loss, gradient = reference(logits, target, 0.0, 0.0, 1.0, -100)
    np.testing.assert_allclose(out["Loss"], loss, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(out["Logits"], gradient, rtol=2e-6, atol=1e-7)


def test_masked_classes():
    """-inf logits are classes that are not there: probability and gradient exactly 0."""
    rng = np.random.default_rng(4)
    logits = rng.normal(size=(6, 9))
    target = rng.integers(0, 5, 6)
    plain = run(arguments(logits[:, :5], target), scalars())
    masked = logits.copy()
    masked[:, 5:] = -np.inf
    out = run(arguments(masked, target), scalars())
    np.testing.assert_allclose(out["Loss"], plain["Loss"], rtol=1e-6)
    np.testing.assert_allclose(out["Logits"][:, :5], plain["Logits"], rtol=1e-6, atol=1e-8)
    assert (out["Logits"][:, 5:] == 0).all()


def test_a_row_of_minus_infinity_is_nan_and_disturbs_no_other():
    rng = np.random.default_rng(5)
    logits, target = rng.normal(size=(4, 5)), np.array([0, 1, 2, 3])
    logits[1] = -np.inf
    out = run(arguments(logits, target), scalars())
    assert np.isnan(out["Loss"][1])
    assert np.isnan(out["Logits"][1]).all()
    assert np.isfinite(out["Logits"][[0, 2, 3]]).all()


def test_z_loss_off_is_plain_cross_entropy_bit_for_bit():
    rng = np.random.default_rng(6)
    logits, target = draw(rng, 9, 13)
    with_option = run(arguments(logits, target), scalars(beta=0.0))
    kernel = build(TEXT, "train_loss", (("beta", 0.0),))
    without = interp.run(kernel, arguments(logits, target), scalars(), {"M": 9, "V": 13})
    assert with_option["Logits"].tobytes() == without["Logits"].tobytes()
    assert with_option["Loss"].tobytes() == without["Loss"].tobytes()


@pytest.mark.parametrize("dtype", STORAGE, ids=str)
@pytest.mark.parametrize("columns", [1, 5, 33])
def test_plans(dtype, columns):
    logits, target = draw(np.random.default_rng(7), 11, columns)
    tensors = arguments(logits, target, dtype)
    tensors["Logits"][target < 0] = np.nan
    kernel = _run_passes(build(TEXT, "train_loss", (), (("T", dtype),)), PASSES, True)
    step = {DType.F32: 2e-5, DType.F16: 2e-3, DType.BF16: 1.6e-2}[dtype]
    check(kernel, tensors, scalars(0.1, 1e-4, 0.5), rtol=step, atol=step / 20)
