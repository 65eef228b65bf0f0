"""Derivative columns against finite differences in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilec.ops import POINTWISE
from tilec.ops.reference import REFERENCE, WIDE
from tilec.types import DType

STRAIGHT_THROUGH = {"f16", "bf16", "f32"}
"""Conversions whose derivative is 1 by convention, whatever the steps are."""

FUNCTIONS = {name: WIDE.get(name, function) for name, function in REFERENCE.items()}

DIFFERENTIABLE = [
    row
    for row in POINTWISE.values()
    if any(each is not None for each in row.derivative) and DType.F32 in row.wgsl and row.name not in STRAIGHT_THROUGH
]


def value_of(expression, operands, result):
    """A derivative column's value; its expressions are Python's too."""
    names = dict(zip("xyz", operands, strict=False)) | {"r": result} | FUNCTIONS
    return eval(expression, {"__builtins__": {}}, names)


def numbers(row, rng):
    operands = []
    for domain in row.domain:
        low, high = max(domain.low, -6.0), min(domain.high, 6.0)
        operands.append(rng.uniform(low + 1e-3 * (high - low), high - 1e-3 * (high - low), 500))
    if row.rule == "where":
        operands[0] = operands[0] > 0
    return operands


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.name)
@given(seed=st.integers(0, 2**32 - 1))
def test_derivatives_are_slopes(row, seed):
    operands = numbers(row, np.random.default_rng(seed))
    function = FUNCTIONS[row.name]
    result = function(*operands)
    for place, expression in enumerate(row.derivative):
        if expression is None:
            continue
        claimed = value_of(expression, operands, result) * np.ones(500)
        slopes = []
        for step in (1e-5, 3e-6):
            ahead, behind = list(operands), list(operands)
            ahead[place] = operands[place] + step
            behind[place] = operands[place] - step
            slopes.append((function(*ahead) - function(*behind)) / (2 * step))
        # Where two steps disagree there is a kink or a jump between them.
        is_smooth = np.abs(slopes[0] - slopes[1]) <= 1e-4 * (1 + np.abs(slopes[0]))
        error = np.abs(claimed - slopes[1]) / (1 + np.abs(slopes[1]))
        assert is_smooth.mean() > 0.9
        assert error[is_smooth].max() < 1e-3, (row.name, place)


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("abs", (0.0,), (0.0,)),
        ("max", (2.0, 2.0), (0.5, 0.5)),
        ("min", (2.0, 2.0), (0.5, 0.5)),
        ("clamp", (1.0, 1.0, 3.0), (1.0, 0.0, 0.0)),
        ("clamp", (3.0, 1.0, 3.0), (1.0, 0.0, 0.0)),
        ("clamp", (0.0, 1.0, 3.0), (0.0, 1.0, 0.0)),
        ("clamp", (5.0, 1.0, 3.0), (0.0, 0.0, 1.0)),
        ("pow", (0.0, 2.0), (0.0, 0.0)),
        ("pow", (3.0, 0.0), (0.0, np.log(3.0))),
        ("pow", (0.0, 0.0), (0.0, 0.0)),
    ],
)
def test_conventions(name, operands, expected):
    row = POINTWISE[name]
    operands = [np.array(operand) for operand in operands]
    with np.errstate(all="ignore"):
        result = FUNCTIONS[name](*operands)
        for expression, value in zip(row.derivative, expected, strict=True):
            assert value_of(expression, operands, result) == pytest.approx(value)


def test_what_has_no_derivative_says_so():
    for name in ("floor", "ceil", "round", "trunc", "sign"):
        assert POINTWISE[name].derivative == ("0",)
    for name in ("eq", "lt", "and", "isnan", "i32", "div"):
        assert set(POINTWISE[name].derivative) == {None}
    for name in STRAIGHT_THROUGH:
        assert POINTWISE[name].derivative == ("1.0",)
