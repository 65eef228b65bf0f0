"""What must not change a loss of classes, or must change it in a known way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.execution import bits
from tests.std.expressions import CLASS_LOSSES, MARGINS, SIZED, batch, check_equal, evaluate, used

INF = np.inf


def each(losses: dict[str, str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("loss", losses.values(), ids=losses)


SIZES = {"seed": st.integers(0, 2**16), "rows": st.integers(1, 9), "columns": st.integers(2, 40)}
FEW = settings(max_examples=8)


@each(CLASS_LOSSES | MARGINS)
@FEW
@given(**SIZES, shift=st.sampled_from([1e4, -1e4, 1e6]))
def test_a_shift_of_the_logits_changes_nothing(loss: str, seed: int, rows: int, columns: int, shift: float):
    values = used(loss, batch(seed, rows, columns))
    check_equal(evaluate(loss, **(values | {"x": values["x"] + shift})), evaluate(loss, **values), 2e-5)


@each(CLASS_LOSSES | MARGINS | SIZED)
@FEW
@given(**SIZES)
def test_permuted_classes_permute_the_gradient(loss: str, seed: int, rows: int, columns: int):
    values = batch(seed, rows, columns)
    order = np.random.default_rng(seed).permutation(columns)
    moved = {name: values[name][..., order] for name in "xywq"} | {"t": np.argsort(order)[values["t"]]}
    f, g = evaluate(loss, **used(loss, values))
    check_equal(evaluate(loss, **used(loss, moved)), (f, g[:, order]))


@each(CLASS_LOSSES | SIZED)
@FEW
@given(**SIZES, more=st.integers(1, 5))
def test_masked_classes_are_not_there(loss: str, seed: int, rows: int, columns: int, more: int):
    """Also with smoothing, which spreads over the classes that are there; weighted means divide by them."""
    values = batch(seed, rows, columns)
    fill = {"x": -INF, "y": -INF, "w": 1.0, "q": 0.0}
    wider = {
        name: np.concatenate([values[name], np.full((*values[name].shape[:-1], more), by)], axis=-1)
        for name, by in fill.items()
    } | {"t": values["t"]}
    f, g = evaluate(loss, **used(loss, values))
    got_f, got_g = evaluate(loss, **used(loss, wider))
    check_equal((got_f, got_g[:, :columns]), (f, g))
    assert (got_g[:, columns:] == 0).all()


@each(CLASS_LOSSES | MARGINS)
@FEW
@given(**SIZES)
def test_gradient_rows_sum_to_zero(loss: str, seed: int, rows: int, columns: int):
    values = used(loss, batch(seed, rows, columns))
    _, g = evaluate(loss, **values)
    assert (np.abs(g.astype(np.float64).sum(axis=1)) <= 1e-6 * (1 + np.abs(g).sum(axis=1))).all()


@each(CLASS_LOSSES | MARGINS | SIZED)
def test_micro_batches_are_the_joined_batch(loss: str):
    values = used(loss, batch(5, 7, 12))
    parts = [{n: v if v.ndim == 1 else v[rows] for n, v in values.items()} for rows in (slice(0, 3), slice(3, 7))]
    joined = evaluate(loss, **values)
    for index in (0, 1):
        both = np.concatenate([evaluate(loss, **part)[index] for part in parts])
        np.testing.assert_array_equal(bits(both), bits(joined[index]))


@each(CLASS_LOSSES)
def test_a_z_loss_of_no_weight_changes_no_bit(loss: str):
    values = batch(8, 9, 30)
    for a, b in zip(
        evaluate(f"{loss} + z_loss(x, 0.0)", **used(f"{loss} + z_loss(x, 0.0)", values)),
        evaluate(loss, **used(loss, values)),
        strict=True,
    ):
        np.testing.assert_array_equal(bits(a + np.float32(0)), bits(b + np.float32(0)))


def test_no_options_are_plain_cross_entropy_bit_for_bit():
    values = used("(x t)", batch(4, 9, 30))
    plain = evaluate("cross_entropy(x, t)", **values)
    for text in ("training_cross_entropy(x, t, 0.0, 0.0)", "cross_entropy_smooth(x, t, 0.0)"):
        for a, b in zip(evaluate(text, **values), plain, strict=True):
            np.testing.assert_array_equal(bits(a + np.float32(0)), bits(b + np.float32(0)))
