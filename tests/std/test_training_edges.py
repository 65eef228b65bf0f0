"""Training losses at the ends of their domains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reference import training
from tests.reference.execution import bits, compiled
from tests.reference.training_table import LOSSES, Loss
from tests.std.expressions import CLASS_LOSSES, batch, check_equal, evaluate, used
from tests.std.test_training import draw, run

INF, NAN = np.inf, np.nan
EACH = pytest.mark.parametrize("loss", CLASS_LOSSES.values(), ids=CLASS_LOSSES)


@EACH
def test_one_class(loss: str):
    values = used(loss, batch(1, 3, 1) | {"t": np.zeros((3, 1), int), "q": np.ones((3, 1))})
    f, g = evaluate(loss, one="C", **values)
    assert np.abs(f).max() <= 1e-6
    assert np.abs(g).max() <= 1e-6


@pytest.mark.parametrize("fill", [NAN, INF, -INF, 3e38])
@pytest.mark.parametrize(
    "loss",
    [
        "training_cross_entropy(x, t, 0.1, 1e-4)",
        "where(is_class(x, t), focal_loss(x, t), 0.0)",
        "weighted(cross_entropy(x, t), f32(is_class(x, t)))",
    ],
)
def test_ignored_rows_are_exactly_zero(loss: str, fill: float):
    values = used(loss, batch(2, 6, 9))
    values["t"][[0, 2, 5], 0] = [-100, 9, -1]
    values["x"][[0, 2, 5]] = fill
    f, g = evaluate(loss, **values)
    ignored = np.array([True, False, True, False, False, True])
    assert (f[ignored] == 0).all()
    assert (g[ignored] == 0).all()
    assert np.isfinite(g[~ignored]).all()
    assert (f[~ignored] != 0).all()


def test_every_row_ignored():
    values = used("(x t)", batch(3, 9, 5)) | {"t": np.full((9, 1), -100)}
    f, g = evaluate("training_cross_entropy(x, t, 0.1, 1e-4)", **values)
    assert not f.any()
    assert not g.any()


def test_a_given_ignore_index():
    values = used("(x t)", batch(3, 4, 5)) | {"t": np.array([[0], [1], [2], [1]])}
    f, _ = evaluate("training_cross_entropy(x, t, ignore_index: 1)", **values)
    assert (f[:, 0] != 0).tolist() == [True, False, True, False]


@EACH
def test_a_row_of_masked_classes_is_nan_and_disturbs_no_other(loss: str):
    values = used(loss, batch(6, 4, 5))
    clean = evaluate(loss, **values)
    values["x"][1] = -INF
    f, g = evaluate(loss, **values)
    others = [0, 2, 3]
    assert np.isnan(f[1])
    np.testing.assert_array_equal(f[others], clean[0][others])
    np.testing.assert_array_equal(g[others], clean[1][others])


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_nan_stays_a_nan(loss: Loss):
    first = loss.inputs[0]
    values = draw(loss)
    clean = run(loss, values, "numpy").Result
    column = 0 if first.kind == "column" else 3
    if loss.function == "weighted":
        values["W"][2] = 1.0  # a weight of 0 leaves a NaN out
    values[first.name][2, column] = NAN
    got = run(loss, values, "numpy").Result
    if loss.result == "scalar":
        assert np.isnan(got).all()
        return
    assert np.isnan(got[2, 3 if loss.result == "tile" else 0])
    others = [0, 1, 3, 4]
    np.testing.assert_array_equal(bits(got[others]), bits(clean[others]))


def tails(expression: str, expected: Any, slope: Any, wrt: str = "x", tolerance: float = 2e-6, **values: Any) -> None:
    """Value and slope, relative: nothing absolute is allowed."""
    f, g = evaluate(expression, wrt, **{name: np.asarray(value) for name, value in values.items()})
    np.testing.assert_allclose(f, np.reshape(expected, f.shape), rtol=tolerance)
    if slope is not None:
        np.testing.assert_allclose(g, np.reshape(slope, g.shape), rtol=tolerance)


def test_focal_loss_of_sure_rows_keeps_its_digits():
    x = np.array([[0.0, -30.0], [0.0, -20.0], [30.0, 0.0], [0.0, 30.0]])
    t = np.zeros((4, 1), int)
    for gamma in (0.0, 0.5, 1.0, 2.0):
        tails(f"focal_loss(x, t, {gamma})", training.focal_loss(x, t, gamma), None, x=x, t=t, tolerance=3e-5)
    _, g = evaluate("focal_loss(x, t, 0.5)", x=np.array([[0.0, -INF], [0.0, -200.0]]), t=t[:2])
    assert not g.any()


def test_binary_losses_at_the_ends():
    inf = np.array([[INF], [-INF]])
    tails("binary_cross_entropy_with_logits(x, y, 3.0)", [0.0, 0.0], [0.0, 0.0], x=inf, y=[[1.0], [0.0]])
    tails("binary_cross_entropy_with_logits(x, y, 3.0)", [INF, INF], [1.0, -3.0], x=inf, y=[[0.0], [1.0]])
    e = np.exp(-80.0)
    x = np.array([[80.0], [-80.0], [0.0]])
    slope = [-3 * e, e, -1.5]
    values = {"x": x, "y": [[1.0], [0.0], [1.0]]}
    expected = [3 * e, e, 3 * np.log(2)]
    tails("binary_cross_entropy_with_logits(x, y, 3.0)", expected, slope, **values, tolerance=3e-5)
    e = np.exp(-40.0)
    values["x"] = np.array([[40.0], [-40.0], [0.0]])
    tails("sigmoid_focal_loss(x, y, -1.0, 1.0)", [e * e, e * e, np.log(2) / 2], None, **values, tolerance=5e-5)
    p, y = [[0.0], [1.0], [0.0], [1.0], [1e-30]], [[0.0], [1.0], [1.0], [0.0], [1.0]]
    slope = [1.0, -1.0, -1e12, 1e12, -1e30]
    tails("binary_cross_entropy(x, y)", [0, 0, 100, 100, 30 * np.log(10)], slope, x=p, y=y)


def test_regression_at_the_ends():
    x, y = np.array([[1e-4], [-1e-3], [0.0], [2.0], [-1e4], [3e37]]), np.zeros((6, 1))
    a = np.abs(x)
    expected = np.where(
        a < 1, np.log1p(2 * np.sinh(np.minimum(a, 1) / 2) ** 2), a + np.log1p(np.exp(-2 * a)) - np.log(2)
    )
    tails("log_cosh_loss(x, y)", expected, np.tanh(x), x=x, y=y)
    tails("smooth_l1_loss(x, y, 0.0)", a, np.sign(x), x=x, y=y)
    tails("l1_loss(x, y)", a, np.sign(x), x=x, y=y)
    small = np.array([[1e-15], [1e-10], [1e-3]])
    tails("huber_loss(x, y)", [0.5e-30, 0.5e-20, 5e-7], small, x=small, y=np.zeros((3, 1)))
    tails("poisson_nll_loss(x, y)", [0.0, 1.0], [0.0, 1.0], x=[[-INF], [0.0]], y=[[0.0], [0.0]])
    tails("poisson_rate_nll_loss(x, y, 0.0)", [0.0, 2.0], [1.0, 1.0], x=[[0.0], [2.0]], y=[[0.0], [0.0]])
    # A variance of 0 counts as eps and is pulled up
    f, g = evaluate("gaussian_nll_loss(x, y, v)", "v", x=[[1.0]], y=[[0.0]], v=[[0.0]])
    np.testing.assert_allclose([f[0, 0], g[0, 0]], [(np.log(1e-6) + 1e6) / 2, (1e6 - 1e12) / 2], rtol=1e-6)


def test_divergences_at_the_ends():
    with np.errstate(divide="ignore"):
        p = np.log([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.3, 0.7, 0.0]])
        q = np.log([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    f, g = evaluate("js_div(x, y)", x=p, y=q)
    np.testing.assert_allclose(f, training.js_div(p, q), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(f[1], np.log(2), rtol=1e-6)
    assert np.isfinite(g).all()
    f, g = evaluate("kl_div_log_target(x, y)", x=p, y=q)
    assert f[0] == 0
    assert np.isposinf(f[1])
    np.testing.assert_allclose(f[2], -np.log(0.3), rtol=1e-6)
    assert np.isfinite(g).all()
    near = np.log([[0.3, 0.7]])
    shifted = np.log([[0.3001, 0.6999]])
    f, _ = evaluate("js_div(x, y)", x=near, y=shifted)
    near, shifted = near.astype(np.float32).astype(float), shifted.astype(np.float32).astype(float)
    np.testing.assert_allclose(f, training.js_div(near, shifted), atol=2.0**-24)  # a rounding of log 2


def test_margins_at_the_ends():
    zero = np.zeros((2, 3))
    for text in ("triplet_margin_loss(x, y, w)", "cosine_embedding_loss(x, y, 1.0)"):
        f, g = evaluate(text, **({"x": zero, "y": zero} | ({"w": zero} if "w" in text else {})))
        np.testing.assert_array_equal(f, 1.0)
        assert np.isfinite(g).all()
    f, g = evaluate("multi_margin_loss(x, t)", x=[[1.0, -INF, 3.0]], t=[[0]])
    np.testing.assert_array_equal(f, np.float32(1.0))
    assert g[0, 1] == 0


def test_policies_at_the_ends():
    logp, old = np.array([[200.0]] * 3 + [[-200.0]] * 2), np.zeros((5, 1))
    a = np.array([[0.0], [2.0], [-2.0], [2.0], [-2.0]])
    f, g = evaluate("ppo_loss(x, y, a)", x=logp, y=old, a=a)
    np.testing.assert_allclose(f[:, 0], [0.0, -2.4, INF, 0.0, 1.6], rtol=1e-6)
    assert (g[[0, 1, 4]] == 0).all()
    d = np.array([[1e-5], [-1e-3], [0.39], [0.41], [-5.0], [0.0]]).astype(np.float32).astype(float)
    tails("kl_estimate(x, y)", np.expm1(d) - d, -np.expm1(d), x=np.zeros((6, 1)), y=d)
    f, g = evaluate("orpo_loss(x, y)", x=[[0.0], [-1e-6], [-90.0]], y=[[-1.0], [0.0], [-1e-6]])
    assert np.isfinite(f).all()
    assert np.isfinite(g).all()
    tails("orpo_loss(x, y)", [1.0 + 0.1 * np.log(2)], None, x=[[-1.0]], y=[[-1.0]])
    tails("simpo_loss(x, y, 1.0, 0.0)", [np.exp(-80.0), 80.0], [-np.exp(-80.0), -1.0], x=[[0.0], [-80.0]],
          y=[[-80.0], [0.0]], tolerance=3e-5)  # fmt: skip
    tails("kto_loss(x, y, 0.0, 1.0, 1.0)", [np.exp(-80.0)], None, x=[[80.0]], y=[[0.0]], tolerance=3e-5)


def test_weights_of_zero_meet_no_infinity():
    x, t, w = [[0.0, -INF], [1.0, 0.0]], [[1], [0]], [1.0, 0.0]
    f, g = evaluate("cross_entropy_weighted(x, t, w)", x=x, t=t, w=w)
    assert f[0] == 0
    assert (g[0] == 0).all()
    q = [[1.0, 0.0], [0.5, 0.5]]
    tails("cross_entropy_soft(x, q)", [0.0, np.log1p(np.e) - 0.5], None, x=x, q=q)
    tails("z_loss(x, 0.0)", [0.0], [[0.0, 0.0]], x=[[-INF, -INF]])
    tails("softcap(x, 5.0) * 1.0", [-INF, 0.0, 5.0, 4.0 * 1.25 * np.tanh(0.2)], None, x=[[-INF], [0.0], [1e30], [1.0]])


def test_masked_and_ignored_rows_on_a_device():
    values = used("(x t)", batch(7, 9, 70))
    values["x"][:, 60:] = -INF
    values["t"] = np.minimum(values["t"], 59)
    values["t"][[1, 4], 0] = [-100, 70]
    values["x"][[1, 4]] = NAN
    values["x"][6] += 1e6
    text = "training_cross_entropy(x, t, 0.1, 0.0) + where(is_class(x, t), focal_loss(x, t), 0.0)"
    f, g = evaluate(text, device="llvmpipe", **values)
    assert (f[[1, 4]] == 0).all()
    assert (g[[1, 4]] == 0).all()
    assert (g[:, 60:] == 0).all()
    check_equal((f, g), evaluate(text, **values), 1e-5)


def test_infinities_on_a_device():
    x, y = np.array([[INF, -INF, 80.0, -80.0, 0.5]]), np.array([[1.0, 0.0, 1.0, 0.0, 0.5]])
    text = "binary_cross_entropy_with_logits(x, y, 3.0)"
    check_equal(evaluate(text, device="llvmpipe", x=x, y=y), evaluate(text, x=x, y=y))
    logp, a = np.array([[200.0], [200.0], [NAN]]), np.array([[0.0], [2.0], [1.0]])
    text = "ppo_loss(x, y, a)"
    values = {"x": logp, "y": logp * 0, "a": a}
    check_equal(evaluate(text, device="llvmpipe", **values), evaluate(text, **values))


def test_hits():
    values = {"X": [[1, 3, 3], [2, 0, 1], [0, 1, 5], [9, 1, 1]], "T": [[1], [2], [2], [-100]]}
    kernel = compiled(
        "kernel run(X: tensor<f32>[M, C], T: tensor<i32>[M, 1], Hit: tensor<f32>[M, 1], Rate: tensor<f32>[1]) {\n"
        "  let x = X[:, :]\n  let t = T[:, :]\n  Hit[:, :] = top1_hit(x, t)\n  Rate[0] = token_accuracy(x, t)\n}\n"
    ).run
    given_values = np.array(values["X"], np.float32), np.array(values["T"], np.int32)
    result = kernel(*given_values, device="numpy")
    assert result.Hit[:, 0].tolist() == [1, 0, 1, 0]
    np.testing.assert_allclose(result.Rate, 2 / 3, rtol=1e-7)
    assert kernel(given_values[0], given_values[1] * 0 - 100, device="numpy").Rate[0] == 0
