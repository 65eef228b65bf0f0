"""Sums that are relative to a maximum or a mean, taken in the sweep that finds it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gradients.harness import build
from tests.plan.harness import run_plan
from tilec.driver import _run_passes
from tilec.facts import Facts
from tilec.options import Limits, Options
from tilec.plan.make import make_plan
from tilec.tile import interp
from tilec.tile.passes import PASSES

HEAD = (
    "kernel k(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], W: tensor<f32>[V], A: tensor<f32>[M, 1], "
    "B: tensor<f32>[M, 1]) {\n"
    "  let r = ctx.block.x * 4\n  let x = X[r :+ 4, :]\n  let y = Y[r :+ 4, :]\n  let w = W[:]\n"
)
TAIL = "  A[r :+ 4, :] = a\n  B[r :+ 4, :] = b\n}\n"
MAX = "  let m = rowmax(x)\n  let e = exp(x - m)\n"
MEAN = "  let d = x - rowmean(x)\n"
SUMS = {
    "the total of the exponentials": MAX + "  let a = rowsum(e)\n  let b = m + log(a)\n",
    "a weighted sum": MAX + "  let a = rowsum(y * e)\n  let b = rowsum(e)\n",
    "two weights": MAX + "  let a = rowsum(e * y)\n  let b = rowsum((w * y) * e)\n",
    "a first power": MAX + "  let a = rowsum((x - m) * e)\n  let b = rowsum(y * ((x - m) * e))\n",
    "a second power": MAX + "  let a = rowsum(square(x - m) * e)\n  let b = rowsum((x - m) * e)\n",
    "a squared exponential": MAX + "  let a = rowsum(square(e))\n  let b = rowsum((x - m) * (e * e))\n",
    "without what is -inf": MAX + (
        "  let s = x - m\n  let a = rowsum(where(s == -inf, 0.0, s * e))\n"
        "  let b = rowsum(where(s == -inf, 0.0, y * (s * e)))\n"
    ),
    "an entropy": MAX + (
        "  let s = (x - m) - log(rowsum(e))\n  let a = rowsum(where(s == -inf, 0.0, exp(s) * s))\n"
        "  let b = rowsum(y * where(s == -inf, 0.0, exp(s) * s))\n"
    ),
    "distances from the maximum": MAX + "  let a = rowsum(w * (x - m))\n  let b = rowsum(square(x - m))\n",
    "a variance": MEAN + "  let a = rowvar(x)\n  let b = rowsum(square(d))\n",
    "a covariance": MEAN + "  let a = rowsum(y * d)\n  let b = rowsum(w * square(d))\n",
    "a mean by a factor": "  let d = x - rowsum(x) * (1.0 / f32(V))\n  let a = rowsum(y * d)\n  let b = rowmean(x)\n",
    "both": MAX + MEAN + "  let a = rowsum(y * e)\n  let b = rowsum(square(d))\n",
}
GPU, CPU = Options(), Options(limits=Limits(is_cpu=True))
CASES = {
    "resident": ((5, 300), GPU, True),
    "one lane": ((130, 40), CPU, True),
    "one column": ((6, 1), GPU, True),
    "streamed": ((3, 500), Options(threads=8), True),
    "sizes not known": ((5, 70), Options(threads=16), False),
    "levels": ((1, 2500), Options(threads=1), False),
    "subgroups": ((3, 300), Options(limits=Limits(subgroup=8)), True),
    "a trusted exponential": ((3, 300), Options(threads=16, trusted=("exp",)), True),
    "shared sweeps": ((3, 700), Options(threads=16, split=64, limits=Limits(storage_buffers=10)), False),
}
SHIFTED = [("resident", 1e4), ("resident", 1e6), ("streamed", -1e4), ("levels", 1e6)]


def kernels(text):
    before = build(HEAD + text + TAIL)
    return before, _run_passes(before, PASSES, True)


def arguments(rng, rows, columns, offset=0.0):
    x = (np.round(rng.normal(size=(rows, columns)) * 48) / 16 + offset).astype(np.float32)
    y = rng.normal(size=(rows, columns)).astype(np.float32)
    w = rng.random(columns).astype(np.float32)
    out = np.full((rows, 1), np.nan, np.float32)
    return {"X": x, "Y": y, "W": w, "A": out, "B": out.copy()}


def run(kernel, tensors, case, fusion=True):
    _, options, known = CASES[case]
    if not fusion:
        options = Options(fusion=False)
    return run_plan(kernel, tensors, options=options, known=known)


@pytest.mark.parametrize("name", SUMS)
def test_one_sweep(name):
    _, kernel = kernels(SUMS[name])
    (dispatch,) = make_plan(kernel, Facts({}), Options()).dispatches
    assert len(dispatch.phase.items) == 1
    shared = make_plan(kernel, Facts({"M": 3, "V": 700}), CASES["shared sweeps"][1])
    assert [each.kind for each in shared.dispatches] == ["split", "finish"]


@pytest.mark.parametrize(("case", "offset"), [*((case, 0.0) for case in CASES), *SHIFTED])
@pytest.mark.parametrize("name", SUMS)
def test_against_the_interpreter(name, case, offset):
    (rows, columns), _, _ = CASES[case]
    before, kernel = kernels(SUMS[name])
    tensors = arguments(np.random.default_rng(rows + columns), rows, columns, offset)
    expected = interp.run(before, tensors, {}, {"M": rows, "V": columns})
    got, plain = run(kernel, tensors, case), run(kernel, tensors, case, fusion=False)
    for out in ("A", "B"):
        # What a sum of terms of size `scale` may be off by; the mean of shifted values has a rounding of its own.
        scale = np.maximum(1.0, np.abs(expected[out])) * max(1.0, columns**0.5)
        shift = abs(offset) * 2e-7 * columns if "d" in SUMS[name] else 0.0
        for other in (expected, plain):
            assert (np.abs(got[out] - other[out]) <= 4e-6 * scale + shift).all(), (out, got[out], other[out])


@pytest.mark.parametrize("case", [case for case in CASES if case not in ("one column", "sizes not known", "levels")])
@pytest.mark.parametrize("name", SUMS)
def test_special_values(name, case):
    (_, columns), _, _ = CASES[case]
    _, kernel = kernels(SUMS[name])
    rng = np.random.default_rng(1)
    rows = [
        {0: np.inf}, {3: -np.inf}, {columns - 1: np.nan}, {1: np.inf, 2: -np.inf}, {0: np.inf, 5: np.nan},
        dict.fromkeys(range(columns), -np.inf), dict.fromkeys(range(columns), np.inf), {7: 1e30}, {7: -1e30},
        dict.fromkeys(range(columns), 3e38), dict.fromkeys(range(columns), -3e38),
        dict.fromkeys(range(columns), 0.0),
    ]  # fmt: skip
    tensors = arguments(rng, len(rows), columns)
    for row, values in enumerate(rows):
        for column, value in values.items():
            tensors["X"][row, column] = value
    with np.errstate(all="ignore"):
        expected = interp.run(kernel, tensors, {}, {"M": len(rows), "V": columns})
    got = run(kernel, tensors, case)
    # A mean of finite values may overflow: what is relative to it is infinite or NaN then, which one depends.
    overflowed = np.isfinite(tensors["X"]).all(axis=1) & (np.abs(tensors["X"]) > 1e38).any(axis=1)
    for out in ("A", "B"):
        if "covariance" in name or "factor" in name:
            assert not np.isfinite(got[out][overflowed]).any()
            got[out] = np.where(overflowed[:, None], expected[out], got[out])
        np.testing.assert_allclose(got[out], expected[out], rtol=1e-4, atol=1e-3, err_msg=out)


@pytest.mark.parametrize("case", ["resident", "shared sweeps"])
def test_each_mean_has_its_own_moments(case):
    (rows, columns), _, _ = CASES[case]
    _, kernel = kernels("  let a = rowvar(x)\n  let b = rowvar(y + w)\n")
    tensors = arguments(np.random.default_rng(4), rows, columns)
    got = run(kernel, tensors, case)
    x, y = tensors["X"].astype(np.float64), tensors["Y"].astype(np.float64) + tensors["W"]
    np.testing.assert_allclose(got["A"], x.var(1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(got["B"], y.var(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("case", ["resident", "streamed", "shared sweeps"])
@pytest.mark.parametrize("name", ["without what is -inf", "an entropy"])
def test_what_is_masked_adds_nothing(name, case):
    """Against the program before any pass: after them the interpreter sees what the passes made of it."""
    (_, columns), _, _ = CASES[case]
    before, kernel = kernels(SUMS[name])
    tensors = arguments(np.random.default_rng(3), 4, columns)
    tensors["X"][:, ::3] = -np.inf
    tensors["X"][1, 2:] = -np.inf
    expected = interp.run(before, tensors, {}, {"M": 4, "V": columns})
    for got in (interp.run(kernel, tensors, {}, {"M": 4, "V": columns}), run(kernel, tensors, case)):
        for out in ("A", "B"):
            assert np.isfinite(got[out]).all()
            np.testing.assert_allclose(got[out], expected[out], rtol=1e-5, atol=1e-5 * columns**0.5)


BESIDE = """
kernel k(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], A: tensor<f32>[M, 1], B: tensor<f32>[M, 1],
         C: tensor<f32>[ceildiv(M, 4), V], D: tensor<f32>[ceildiv(M, 4)]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let e = exp(x - rowmax(x))
  let d = x - rowmean(x)
  A[r :+ 4, :] = rowsum(Y[r :+ 4, 2 :+ V] * e)
  B[r :+ 4, :] = rowsum(Y[r :+ 4, 2 :+ V] * square(d))
  C[ctx.block.x :+ 1, :] = colsum(e)
  D[ctx.block.x] = sum(square(d))
}
"""


@pytest.mark.parametrize("case", ["resident", "streamed", "sizes not known", "shared sweeps"])
def test_sums_over_other_lanes_than_the_maximum_or_the_mean(case):
    """Of fewer columns, where the weight ends before the row does, of rows, and of everything."""
    (rows, columns), options, known = CASES[case]
    kernel = _run_passes(build(BESIDE), PASSES, True)
    tensors = arguments(np.random.default_rng(7), rows, columns)
    del tensors["W"]
    blocks = -(-rows // 4)
    tensors |= {"C": np.zeros((blocks, columns), np.float32), "D": np.zeros(blocks, np.float32)}
    got = run_plan(kernel, tensors, options=options, known=known)
    x, y = tensors["X"].astype(np.float64), tensors["Y"][:, 2:].astype(np.float64)
    e, d = np.exp(x - x.max(axis=1, keepdims=True)), x - x.mean(axis=1, keepdims=True)
    near = {"rtol": 1e-5, "atol": 4e-6 * columns**0.5}
    np.testing.assert_allclose(got["A"], (y * e[:, :-2]).sum(axis=1, keepdims=True), **near)
    np.testing.assert_allclose(got["B"], (y * d[:, :-2] ** 2).sum(axis=1, keepdims=True), **near)
    np.testing.assert_allclose(got["C"], [e[at : at + 4].sum(axis=0) for at in range(0, rows, 4)], **near)
    np.testing.assert_allclose(got["D"], [(d[at : at + 4] ** 2).sum() for at in range(0, rows, 4)], **near)


@pytest.mark.parametrize("case", ["resident", "streamed", "subgroups", "shared sweeps"])
def test_what_sums_are_relative_to_need_not_be_a_mean(case):
    """A sum by any factor is found in the same sweep, however far from the running mean it is in the end."""
    (rows, columns), _, _ = CASES[case]
    _, kernel = kernels("  let d = x - rowsum(x) * 0.25\n  let a = rowsum(w * d)\n  let b = rowsum(square(d))\n")
    assert len(make_plan(kernel, Facts({}), Options()).dispatches[0].phase.items) == 1
    tensors = arguments(np.random.default_rng(columns), rows, columns, 1.0)
    x, w = tensors["X"].astype(np.float64), tensors["W"].astype(np.float64)
    d = x - x.sum(axis=1, keepdims=True) * 0.25
    got = run(kernel, tensors, case)
    np.testing.assert_allclose(got["A"][:, 0], (w * d).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(got["B"][:, 0], np.square(d).sum(axis=1), rtol=1e-5)
