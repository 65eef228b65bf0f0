"""The passes that tidy derived code change it alone, and no result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from tests.passes.checks import assert_same, count, floats
from tests.passes.kernels import row_kernel
from tilec import driver
from tilec.tile import ir
from tilec.tile.passes import PASSES
from tilec.tile.passes.differentiate import differentiate
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.passes.simplify import simplify
from tilec.tile.passes.simplify_derived import simplify_derived
from tilec.tile.passes.split_logsumexp import split_logsumexp
from tilec.tile.verify import verify
from tilec.types import DTYPES

DIMS = {"M": 5, "V": 3}
TRAIN_LOSS = Path(__file__).parents[2] / "examples" / "train_loss.ph"


def gradient(b, y, x):
    return b.add(ir.Gradient(x.type, y.span, y, x))


def of_logsumexp(b, x):
    """k * the gradient of k logsumexp(x), k a value a row."""
    factor = b.reduce("sum", x)
    return gradient(b, b.op("mul", b.logsumexp(x), b.op("f32", b.op("i32", factor))), x)


def by_hand(b, x):
    shifted = b.op("sub", x, b.reduce("max", x))
    return b.op("mul", b.op("exp", b.op("sub", shifted, b.reduce("rest", x))), b.reduce("sum", x))


@pytest.mark.parametrize("columns", [None, 7])
@given(x=floats(5, 3, specials=False))
def test_a_derived_softmax_is_one_exponential_and_a_factor_a_row(columns, x):
    before = split_logsumexp(differentiate(row_kernel(of_logsumexp, wide=True, columns=columns)))
    after = drop_dead(simplify_derived(before))
    assert wide_ops(after) == ["sub", "exp", "mul"]
    assert_same(before, after, {"X": x}, DIMS, tolerance=1e-5)
    assert simplify_derived(after) is after


def wide_ops(kernel):
    return [value.op for value in kernel.body.body if isinstance(value, ir.Pointwise) and value.type.rank > 1
            and not value.type.shape[-1].is_one]  # fmt: skip


def test_what_is_the_same_for_a_row_is_worked_on_once_a_row():
    """(e * n - where(hit, p, 0) - m) * k -> e * (n * k) - where(hit, (p + m) * k, m * k); ignored rows stay 0."""
    program = driver.parse_file(TRAIN_LOSS).program
    kernel = driver.build_kernel(program, "train_loss", {"T": DTYPES["f32"]}).kernel
    for one in PASSES:
        kernel = one(kernel)
    assert wide_ops(kernel) == ["sub", "exp", "eq", "mul", "where", "sub", "where"]


def test_a_factor_as_wide_as_the_gradient_is_left_alone():
    def build(b, x):
        return b.op("mul", gradient(b, b.logsumexp(x), x), x)

    before = split_logsumexp(differentiate(row_kernel(build, wide=True)))
    assert wide_ops(drop_dead(simplify_derived(before))) == ["sub", "exp", "mul", "mul"]


def test_the_users_terms_are_left_alone():
    def build(b, x):
        k = b.reduce("sum", x)
        inner = b.op("sub", b.op("mul", b.op("exp", x), k), b.op("where", b.op("gt", x, 0.0), k, 0.0))
        return b.op("mul", b.op("sub", inner, k), k)

    before = row_kernel(build, wide=True)
    assert simplify_derived(before) is before


@given(x=floats(5, 3))
def test_the_users_softmax_is_left_alone(x):
    before = row_kernel(by_hand, wide=True)
    assert simplify_derived(before) is before
    assert_same(before, before, {"X": x}, DIMS)


def test_a_kernel_without_gradients_is_left_alone():
    kernel = row_kernel(by_hand, wide=True)
    assert differentiate(kernel) is kernel


def test_gradients_and_stops_are_gone():
    def build(b, x):
        stopped = b.add(ir.Stop(x.type, x.span, x))
        return gradient(b, b.op("mul", b.op("exp", x), stopped), x)

    before = row_kernel(build, wide=True)
    verify(before)
    after = differentiate(before)
    verify(after)
    assert count(after, ir.Gradient) == count(after, ir.Stop) == 0
    assert count(after, ir.Pointwise, "exp") == 1


@pytest.mark.parametrize("columns", [None, 7])
@given(x=floats(5, 3))
def test_the_known_side_of_a_where_inside_another_operation(columns, x):
    def build(b, x):
        mean = b.op("mul", 0.0, b.reduce("sum", x))
        return b.op("sub", x, b.op("where", False, mean, 0.0))

    before = row_kernel(build, wide=True, columns=columns)
    after = drop_dead(simplify(before))
    assert count(after, ir.Reduce) == count(after, ir.Pointwise, "where") == 0
    assert_same(before, after, {"X": x}, DIMS)


def test_a_known_side_that_changes_the_type_stays():
    def build(b, x):
        return b.op("exp", b.op("where", True, 1.0, x))

    before = row_kernel(build, wide=True)
    assert simplify(before) is before
    assert_same(before, before, {"X": np.ones((5, 3), np.float32)}, DIMS)
