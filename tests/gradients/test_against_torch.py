"""Derived gradients against torch's autograd in float64, in float32 and, more strictly, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gradients.cases import CASES, FUNCTIONS
from tests.gradients.harness import by_torch, draw, gradient, kernel_text

PAIRS = [(case, wrt) for case in CASES for wrt in case.wrt]


@pytest.mark.parametrize(("case", "wrt"), PAIRS, ids=lambda each: each if isinstance(each, str) else each.name)
def test_gradient(case, wrt):
    text = kernel_text(case.expression, wrt, case.rows, case.before) + FUNCTIONS
    for seed, (rows, columns) in enumerate([(6, 5), (4, 1), (3, 17)]):
        values = draw(np.random.default_rng(seed), rows, columns, positive=case.positive)
        expected = by_torch(case.torch, values, wrt)
        exact = gradient(text, values, wrt, double=True)
        # The terms that cancel in a gradient of 0 are about 1; a literal such as 1e-5 is rounded to f32 in both modes.
        size = np.abs(expected).max() + 1.0
        exactness = 1e-6 if case.has_literals else 1e-10
        np.testing.assert_allclose(exact, expected, rtol=exactness, atol=exactness * size)
        single = gradient(text, values, wrt)
        np.testing.assert_allclose(single, expected, rtol=2e-5, atol=1e-6 * size)
