"""Conventions and special values: ties, zeros, sides not taken, masked rows, NaN."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.gradients.harness import build, by_torch, draw, gradient, kernel_text
from tilec.tile import interp


def grad_of(expression, x, **others):
    """The gradient with respect to x."""
    values = draw(np.random.default_rng(0), *x.shape) | {"x": x.astype(np.float32)} | others
    return gradient(kernel_text(expression), values, "x")


def row(*numbers):
    return np.array([numbers], np.float32)


CONVENTIONS = {
    "abs at 0": ("abs(x)", row(-2, 0, 3), row(-1, 0, 1)),
    "max ties": ("max(x, y)", row(1, 2, 3), row(0, 0.5, 1)),
    "min ties": ("min(x, y)", row(1, 2, 3), row(1, 0.5, 0)),
    "rowmax ties": ("rowmax(x)", row(3, 1, 3, 3), row(1 / 3, 0, 1 / 3, 1 / 3)),
    "rowmin ties": ("rowmin(x)", row(0, 0, 5), row(0.5, 0.5, 0)),
    "amax ties": ("amax(x)", row(2, 2), row(0.5, 0.5)),
    "rowmax of -inf": ("rowmax(x)", row(-np.inf, -np.inf), row(0.5, 0.5)),
    "clamp at its bounds": ("clamp(x, -1.0, 1.0)", row(-2, -1, 0, 1, 2), row(0, 1, 1, 1, 0)),
    "max with 0": ("max(x, 0.0)", row(-1, 0, 2), row(0, 0.5, 1)),
    "relu": ("relu(x)", row(-1, 0, 2), row(0, 0, 1)),
    "relu6": ("relu6(x)", row(0, 3, 6), row(0, 1, 0)),
    "hard swish": ("hardswish(x)", row(-3, 0, 3), row(0, 0.5, 1)),
    "sign": ("sign(x) * x", row(-2, 0, 3), row(-1, 0, 1)),
    "round": ("round(x) + floor(x) + ceil(x) + trunc(x)", row(0.2, 1.7), row(0, 0)),
    "f16 passes": ("f16(x * 3.0) + bf16(x)", row(0.1, 7), row(4, 4)),
    "no zero in a product": ("rowprod(x)", row(2, 3, 4), row(12, 8, 6)),
    "one zero in a product": ("rowprod(x)", row(2, 0, 4), row(0, 8, 0)),
    "two zeros in a product": ("rowprod(x)", row(2, 0, 0), row(0, 0, 0)),
    "a zero and an infinity in a product": ("rowprod(x)", row(0, np.inf), row(np.inf, 0)),
    "pow at 0": ("pow(x, y)", row(0, 0, 2), row(0, 0, 12)),
    "y itself": ("x", row(1, 2), row(1, 1)),
    "a side not taken": ("where(x > 0.0, sqrt(x), 0.0)", row(-4, 0, 4), row(0, 0, 0.25)),
    "a NaN not taken": ("where(isnan(x), 0.0, x * x)", row(np.nan, 3), row(0, 6)),
    "log of 0 not taken": ("rowsum(where(x > 0.0, x * log(x), 0.0))", row(0, 1), row(0, 1)),
    "nested sides": ("where(x > 0.0, where(x > 1.0, log(x - 1.0), 0.0), 1.0 / x)", row(0, 1, 3), row(0, 0, 0.5)),
    "a maximum of logs": ("rowmax(log(x))", row(0, 1, 2), row(0, 0, 0.5)),
    "a masked softmax of a NaN": (
        "rowsum(where(x < 5.0, log_softmax(where(x < 5.0, x, -inf)), 0.0))", row(0, 0, 9), row(0, 0, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVENTIONS)
def test_conventions(name):
    expression, x, expected = CONVENTIONS[name]
    y = {"max ties": row(2, 2, 2), "min ties": row(2, 2, 2), "pow at 0": row(2, 0, 3)}.get(name)
    got = grad_of(expression, x, **({} if y is None else {"y": y}))
    # 1 / x at 0 is taken, and infinite: only what the side not taken gives is asked for there.
    if name == "nested sides":
        got[0, 0] = 0
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


def test_what_is_taken_under_many_conditions_is_nothing_where_none_holds():
    """The slope of a root is NaN below 0 and infinite there, where none of five conditions takes it."""
    sides = [f"where(x > {number}.0, u * {number + 1}.0, 0.0)" for number in range(5)]
    x = row(-4, 0, 0.25, 4, 6.25)
    text = kernel_text(" + ".join(sides), before="  let u = sqrt(x)\n")
    got = gradient(text, draw(np.random.default_rng(0), *x.shape) | {"x": x}, "x")
    np.testing.assert_allclose(got, row(0, 0, 1, (1 + 2 + 3 + 4) / 4, 15 / 5), rtol=1e-6)


def test_where_a_formula_changes_over():
    """At 1 the library's `tanhshrink` goes from a polynomial, whose slope is less close than its value, to another."""
    np.testing.assert_allclose(grad_of("tanhshrink(x)", row(-1, 1)), np.tanh(1.0) ** 2, rtol=1e-5)


def test_a_row_that_a_mask_leaves_nothing_of():
    """All lanes of a row are masked and hold NaN: the row's gradient is 0, though its logsumexp is NaN."""
    x = np.array([[np.nan, np.nan, np.nan], [0.5, 1.0, -2.0]], np.float32)
    expression = "rowsum(where(isnan(x), 0.0, x - logsumexp(x)))"
    got = grad_of(expression, x)
    assert (got[0] == 0).all()
    p = np.exp(x[1].astype(float))
    np.testing.assert_allclose(got[1], 1 - 3 * p / p.sum(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "expression", ["logsumexp(x)", "rowmax(x)", "rowsum(softmax(x) * y)", "rowvar(x)", "rowmean(square(x)) * rowsum(x)"]
)
def test_a_nan_stays_a_nan(expression):
    x = np.array([[1.0, np.nan, 2.0], [1.0, 2.0, 4.0]], np.float32)
    got = grad_of(expression, x)
    assert np.isnan(got[0, 1])
    assert np.isfinite(got[1]).all()


def test_no_lane_is_active():
    """A block beyond the tensor's last row, a tensor of no columns: nothing to do, and no fault."""
    kernel = build(kernel_text("logsumexp(x) * c"))
    tensors = {
        "X": np.zeros((3, 0), np.float32), "Y": np.zeros((3, 0), np.float32), "W": np.zeros(0, np.float32),
        "C": np.zeros((3, 1), np.float32), "T": np.zeros((3, 1), np.int32),
    }  # fmt: skip
    out = interp.run(kernel, tensors, {"s": 1.0}, {"M": 3, "V": 0})
    assert out["Out"].shape == (3, 0)


TIED = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0])


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        ("rowmax(x) * c", lambda x, c, **_: x.amax(1, keepdim=True) * c),
        ("rowmin(x * w)", lambda x, w, **_: (x * w).amin(1, keepdim=True)),
        ("max(x, y) * min(x, w)", lambda x, y, w, **_: torch.maximum(x, y) * torch.minimum(x, w)),
        ("logsumexp(x) - pick(x, t)", lambda x, t, **_: x.logsumexp(1, keepdim=True) - x.gather(1, t)),
        ("rowprod(x) * c", lambda x, c, **_: x.prod(1, keepdim=True) * c),
        ("abs(x - y)", lambda x, y, **_: (x - y).abs()),
        ("softmax(x) * y", lambda x, y, **_: x.softmax(1) * y),
    ],
)
@given(data=st.data())
def test_ties_against_torch(expression, function, data):
    rows, columns = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 5))
    values = draw(np.random.default_rng(0), rows, columns)
    for name in ("x", "y", "w", "c"):
        count = values[name].size
        flat = data.draw(st.lists(TIED, min_size=count, max_size=count))
        values[name] = np.array(flat, np.float32).reshape(values[name].shape)
    expected = by_torch(function, values, "x")
    got = gradient(kernel_text(expression), values, "x")
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("expression", "slope"), [("logsumexp(x + c)", 1.0), ("2.0 * logsumexp(x - c)", -2.0), ("log_softmax(x + c)", 0.0)]
)
def test_what_shifts_all_logits_of_a_row(expression, slope):
    """The logsumexp moves as much, since probabilities sum to 1, and what is relative to it does not."""
    values = draw(np.random.default_rng(2), 5, 7)
    got = gradient(kernel_text(expression, "c"), values, "c")
    np.testing.assert_allclose(got, np.full((5, 1), slope), atol=3e-6)


LOSSES = {
    "cross-entropy": "logsumexp(x) - pick(x, t)",
    "focal": "square(1.0 - exp(pick(log_softmax(x), t))) * -pick(log_softmax(x), t)",
    "smoothed": "logsumexp(x) - 0.9 * pick(x, t) - 0.1 * rowmean(x)",
    "entropy": "-rowsum(softmax(x) * log_softmax(x))",
}


@pytest.mark.parametrize("loss", LOSSES)
@given(data=st.data())
def test_metamorphic(loss, data):
    """Shifting a row changes nothing, permuting the classes permutes the gradient, and a row of it sums to 0."""
    rows, columns = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    values = draw(rng, rows, columns, scale=2.0)
    values["x"] = (np.round(values["x"] * 64) / 64).astype(np.float32)
    text = kernel_text(LOSSES[loss])
    plain = gradient(text, values, "x")
    np.testing.assert_allclose(plain.sum(axis=1), 0, atol=2e-6)
    shift = data.draw(st.sampled_from([-1e4, 16.0, 1e4]))
    np.testing.assert_allclose(gradient(text, values | {"x": values["x"] + np.float32(shift)}, "x"), plain, atol=3e-6)
    order = rng.permutation(columns)
    places = np.argsort(order)[values["t"]].astype(np.int32)
    moved = gradient(text, values | {"x": values["x"][:, order], "t": places}, "x")
    np.testing.assert_allclose(moved, plain[:, order], atol=2e-6)


@pytest.mark.parametrize("loss", ["cross-entropy", "focal"])
def test_classes_of_minus_infinity_are_not_there(loss):
    values = draw(np.random.default_rng(5), 5, 7)
    values["t"] %= 4
    text = kernel_text(LOSSES[loss])
    few = values | {"x": values["x"][:, :4], "y": values["y"][:, :4], "w": values["w"][:4]}
    masked = values | {"x": np.concatenate([values["x"][:, :4], np.full((5, 3), -np.inf, np.float32)], axis=1)}
    got = gradient(text, masked, "x")
    np.testing.assert_allclose(got[:, :4], gradient(text, few, "x"), rtol=1e-6, atol=1e-7)
    assert (got[:, 4:] == 0).all()


def test_a_target_outside_sends_nothing():
    values = draw(np.random.default_rng(6), 4, 5) | {"t": np.array([[-1], [5], [2], [2**30]], np.int32)}
    got = gradient(kernel_text("pick(log_softmax(x), t)"), values, "x")
    assert (got[[0, 1, 3]] == 0).all()
    assert (got[2] != 0).all()


def test_ragged_reads_of_other_lanes():
    """x is used where another read has fewer lanes: the rest of x gets 0, and is not left out."""
    text = (
        "kernel k(X: tensor<f32>[M], Y: tensor<f32>[M], Out: tensor<f32>[M], S: tensor<f32>[1]) {\n"
        "  let x = X[0 : M]\n  let y = Y[2 :+ M]\n  let z = sum(exp(x) * y)\n  S[0] = z\n  Out[0 : M] = grad(z, x)\n}\n"
    )
    x, y = np.linspace(-1, 1, 6).astype(np.float32), np.arange(6, dtype=np.float32)
    out = interp.run(build(text), {"X": x, "Y": y}, {}, {"M": 6})["Out"]
    np.testing.assert_allclose(out, np.exp(x) * np.array([2, 3, 4, 5, 0, 0]), rtol=1e-6)


def test_the_gradient_has_the_activity_of_x():
    """A gradient of ones summed over a ragged block counts the rows of the block that exist."""
    text = (
        "kernel k(X: tensor<f32>[M, V], Out: tensor<f32>[B, 1]) {\n  let r = ctx.block.x * 4\n"
        "  let x = X[r :+ 4, :]\n  let z = sum(x * 3.0)\n  let g = grad(z, x)\n  Out[ctx.block.x, 0] = sum(g)\n}\n"
    )
    out = interp.run(build(text), {"X": np.ones((6, 5), np.float32)}, {}, {"M": 6, "V": 5, "B": 2})["Out"]
    np.testing.assert_allclose(out[:, 0], [60, 30])
