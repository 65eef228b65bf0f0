from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.passes.checks import assert_same, count, floats, outcome
from tests.passes.kernels import row_kernel
from tests.tile.build import dim
from tilec.tile import ir
from tilec.tile.passes.drop_dead import drop_dead
from tilec.tile.passes.merge_equal import merge_equal
from tilec.tile.passes.raise_reductions import raise_reductions
from tilec.types import DType, Extent

DIMS = {"M": 5, "V": 3}


def normal(x):
    """No numbers whose exponentials are subnormal: those lose digits that logsumexp keeps."""
    return np.where((x < -80) & np.isfinite(x), np.float32(-80), x)


def raised(before):
    return drop_dead(raise_reductions(merge_equal(before)))


def shifted(b, x, axes=(-1,)):
    return b.op("exp", b.op("sub", x, b.reduce("max", x, axes)))


LOGSUMEXP = {
    "shifted": lambda b, x: b.op("add", b.op("log", b.reduce("sum", shifted(b, x))), b.reduce("max", x)),
    "shifted, the maximum first": lambda b, x: b.op(
        "add", b.reduce("max", x), b.op("log", b.reduce("sum", shifted(b, x)))
    ),
    "plain": lambda b, x: b.op("log", b.reduce("sum", b.op("exp", x))),
    "of an expression": lambda b, x: b.op("log", b.reduce("sum", b.op("exp", b.op("mul", x, 0.5)))),
    "of everything": lambda b, x: b.broadcast(
        b.op("log", b.reduce("sum", b.op("exp", x), (0, 1), keeps_axes=False)), (4, 1)
    ),
}

SOFTMAX = {
    "shifted": lambda b, x: b.op("div_f32", shifted(b, x), b.reduce("sum", shifted(b, x))),
    "plain": lambda b, x: b.op("div_f32", b.op("exp", x), b.reduce("sum", b.op("exp", x))),
    "by a factor": lambda b, x: b.op("mul", b.op("exp", x), b.op("div_f32", 1.0, b.reduce("sum", b.op("exp", x)))),
    "by a factor, first": lambda b, x: b.op("mul", b.op("div_f32", 1.0, b.reduce("sum", shifted(b, x))), shifted(b, x)),
}


@pytest.mark.parametrize("columns", [None, 7])
@pytest.mark.parametrize("form", LOGSUMEXP)
@given(x=floats(5, 3))
def test_logsumexp(form, columns, x):
    before = row_kernel(LOGSUMEXP[form], columns=columns)
    after = raised(before)
    assert (
        count(after, ir.Pointwise, "lse_add") == count(after, ir.Reduce, "max") == count(after, ir.Reduce, "rest") == 1
    )
    assert count(after, ir.Pointwise, "log") == count(after, ir.Pointwise, "exp") == 0
    assert_same(before, after, {"X": normal(x)}, DIMS, tolerance=1e-5, refines=True)


@pytest.mark.parametrize("columns", [None, 7])
@pytest.mark.parametrize("form", SOFTMAX)
@given(x=floats(5, 3))
def test_softmax(form, columns, x):
    before = row_kernel(SOFTMAX[form], columns=columns, wide=True)
    after = raised(before)
    assert count(after, ir.Pointwise, "exp") == count(after, ir.Reduce, "max") == count(after, ir.Reduce, "rest") == 1
    assert count(after, ir.Pointwise, "div_f32") == 0
    assert_same(before, after, {"X": normal(x)}, DIMS, tolerance=2e-5, refines=True)


@given(x=floats(5, 3))
def test_log_softmax(x):
    def build(b, x):
        difference = b.op("sub", x, b.reduce("max", x))
        return b.op("sub", difference, b.op("log", b.reduce("sum", b.op("exp", difference))))

    before = row_kernel(build, wide=True)
    after = raised(before)
    assert count(after, ir.Pointwise, "log") == count(after, ir.Pointwise, "exp") == 0
    assert_same(before, after, {"X": x}, DIMS, tolerance=1e-5, refines=True)


def test_rows_of_special_values_are_what_is_meant():
    after = raised(row_kernel(LOGSUMEXP["shifted"]))
    x = np.array([[-np.inf] * 3, [np.inf, 0, 1], [np.nan, 0, 1], [1e8, 1e8, -1e8]], np.float32)
    result = outcome(after, {"X": x}, {"M": 4, "V": 3})["Out"][:, 0]
    np.testing.assert_array_equal(result, np.array([-np.inf, np.inf, np.nan, 1e8], np.float32))
    after = raised(row_kernel(LOGSUMEXP["plain"]))
    assert outcome(after, {"X": np.full((4, 3), 200, np.float32)}, {"M": 4, "V": 3})["Out"][3, 0] == np.float32(
        200 + np.log(3)
    )


@pytest.mark.parametrize("form", [*LOGSUMEXP, "log_softmax"])
def test_no_lane_at_all(form):
    if form == "log_softmax":
        before = row_kernel(
            lambda b, x: b.op("log", b.reduce("sum", shifted(b, x))), columns=2
        )  # the logarithm alone is not raised
        assert count(raised(before), ir.Reduce, "rest") == 0
    else:
        before = row_kernel(LOGSUMEXP[form], columns=2)
    assert_same(before, raised(before), {"X": np.zeros((5, 0), np.float32)}, {"M": 5, "V": 0})


def test_a_logarithm_that_another_tile_is_reduced_by():
    """Of no column it is -inf, which `y` shows: the rest alone would be 0."""

    def build(b, x):
        b.tensor("Y", DType.F32, ["M", "V"])
        y = b.load("Y", b.span(0, 4), b.span(0, dim("V")), starts=[0])
        beyond = b.load("X", b.span(0, 4), b.span(3, dim("V")), starts=[0, 3])
        return b.op("sub", y, b.op("log", b.reduce("sum", shifted(b, beyond))))

    before = row_kernel(build, wide=True)
    after = raised(before)
    tensors = {"X": np.zeros((4, 3), np.float32), "Y": np.ones((4, 3), np.float32)}
    assert np.isposinf(outcome(before, tensors, {"M": 4, "V": 3})["Out"]).all()
    assert_same(before, after, tensors, {"M": 4, "V": 3})


NOT_RAISED = {
    "another tile's maximum": lambda b, x: b.op(
        "add",
        b.op("log", b.reduce("sum", b.op("exp", b.op("sub", x, b.reduce("max", b.op("neg", x)))))),
        b.reduce("max", x),
    ),
    "no exponential": lambda b, x: b.op("log", b.reduce("sum", b.op("abs", x))),
    "a maximum of exponentials": lambda b, x: b.op("log", b.reduce("max", b.op("exp", x))),
    "a sum of other exponentials": lambda b, x: b.reduce(
        "max", b.op("div_f32", b.op("exp", x), b.reduce("sum", b.op("exp", b.op("neg", x))))
    ),
    "columns": lambda b, x: b.reduce("sum", b.op("div_f32", b.op("exp", x), b.broadcast(b.reduce("sum", x), (4, 1)))),
}


@pytest.mark.parametrize("form", NOT_RAISED)
@given(x=floats(5, 3, specials=False))
def test_what_only_looks_like_it(form, x):
    before = row_kernel(NOT_RAISED[form])
    after = raised(before)
    if form != "another tile's maximum":  # its logarithm alone is a plain logsumexp
        assert count(after, ir.Reduce, "rest") == 0
    x = x / 4  # exponentials that are no subnormals
    assert_same(before, after, {"X": x}, DIMS, tolerance=1e-4, refines=True)


# --- the element at an index ---------------------------------------------------------------------------------


def columns_of(x, b):
    return b.iota(1, (1, x.type.shape[1]))


PICK = {
    "eq": lambda b, x, t: b.reduce("sum", b.op("where", b.op("eq", columns_of(x, b), t), x, 0.0)),
    "eq, the target first": lambda b, x, t: b.reduce("sum", b.op("where", b.op("eq", t, columns_of(x, b)), x, 0.0)),
    "ne": lambda b, x, t: b.reduce("sum", b.op("where", b.op("ne", columns_of(x, b), t), 0.0, x)),
    "with a condition": lambda b, x, t: b.reduce(
        "sum", b.op("where", b.op("and", b.op("eq", columns_of(x, b), t), b.op("gt", t, 0)), x, 0.0)
    ),
    "with a condition of the row, first": lambda b, x, t: b.reduce(
        "sum",
        b.op("where", b.op("and", b.op("lt", b.reduce("max", x), 9.0), b.op("eq", columns_of(x, b), t)), x, 0.0),
    ),
    "with a scalar condition, of everything": lambda b, x, t: b.broadcast(
        b.reduce(
            "sum",
            b.op("where", b.op("and", b.op("eq", columns_of(x, b), t), b.op("lt", b.block(), 1)), x, 0.0),
            (0, 1),
            keeps_axes=False,
        ),
        (4, 1),
    ),
    "a constant": lambda b, x, t: b.reduce("sum", b.op("where", b.op("eq", columns_of(x, b), 1), x, 0.0)),
    "axes that go": lambda b, x, t: b.view(
        b.reduce("sum", b.op("where", b.op("eq", columns_of(x, b), t), x, 0.0), keeps_axes=False), (0, None)
    ),
    "a total": lambda b, x, t: b.broadcast(
        b.reduce("sum", b.op("where", b.op("eq", columns_of(x, b), t), x, 0.0), (0, 1), keeps_axes=False), (4, 1)
    ),
}


@pytest.mark.parametrize("columns", [None, 7, 2])
@pytest.mark.parametrize("form", PICK)
@given(x=floats(5, 3), t=st.lists(st.integers(-2, 8), min_size=5, max_size=5))
def test_pick(form, columns, x, t):
    before = row_kernel(PICK[form], columns=columns, targets=True)
    after = raised(before)
    assert count(after, ir.Pick) == 1
    assert count(after, ir.Iota) == 0
    tensors = {"X": x, "T": np.array(t, np.int32).reshape(5, 1)}
    assert_same(before, after, tensors, DIMS, tolerance=1e-6)


NO_PICK = {
    "not zero": lambda b, x, t: b.reduce("sum", b.op("where", b.op("eq", columns_of(x, b), t), x, 1.0)),
    "the other side": lambda b, x, t: b.reduce("sum", b.op("where", b.op("eq", columns_of(x, b), t), 0.0, x)),
    "below": lambda b, x, t: b.reduce("sum", b.op("where", b.op("lt", columns_of(x, b), t), x, 0.0)),
    "rows": lambda b, x, t: b.reduce("sum", b.op("where", b.op("eq", b.iota(0, (4, 1)), t), x, 0.0)),
    "a condition a column": lambda b, x, t: b.reduce(
        "sum", b.op("where", b.op("and", b.op("eq", columns_of(x, b), t), b.op("gt", x, 0.0)), x, 0.0)
    ),
    "a column or a condition": lambda b, x, t: b.reduce(
        "sum", b.op("where", b.op("or", b.op("eq", columns_of(x, b), t), b.op("gt", t, 0)), x, 0.0)
    ),
    "not the column, and a condition": lambda b, x, t: b.reduce(
        "sum", b.op("where", b.op("and", b.op("ne", columns_of(x, b), t), b.op("gt", t, 0)), x, 0.0)
    ),
    "a maximum": lambda b, x, t: b.reduce("max", b.op("where", b.op("eq", columns_of(x, b), t), x, 0.0)),
    "one value a row": lambda b, x, t: b.reduce(
        "sum", b.op("where", b.op("eq", columns_of(x, b), t), b.reduce("max", x), 0.0)
    ),
    "a target a column": lambda b, x, t: b.reduce(
        "sum", b.op("where", b.op("eq", columns_of(x, b), b.op("i32", x)), x, 0.0)
    ),
}


@pytest.mark.parametrize("form", NO_PICK)
def test_what_is_no_pick(form):
    assert count(raised(row_kernel(NO_PICK[form], targets=True)), ir.Pick) == 0


def test_a_target_that_may_be_inactive_along_the_row_is_no_pick():
    def build(b, x, t):
        b.tensor("U", DType.I32, ["M", "K"])
        narrow = b.load("U", b.span(0, 4), b.span(0, Extent.of(1)))
        return b.reduce("sum", b.op("where", b.op("eq", columns_of(x, b), narrow), x, 0.0))

    before = row_kernel(build, targets=True)
    assert count(raised(before), ir.Pick) == 0
