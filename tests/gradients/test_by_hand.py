"""Gradients of tile IR that the language has no words for: the rest of a logsumexp alone, reductions that drop some
axes and keep others."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.tile.build import Builder, dim
from tilec.tile import interp, ir
from tilec.tile.passes.differentiate import differentiate
from tilec.tile.verify import verify
from tilec.types import DType

REDUCTIONS = {
    "sum": lambda x, axis: x.sum(axis),
    "max": lambda x, axis: x.amax(axis),
    "min": lambda x, axis: x.amin(axis),
    "prod": lambda x, axis: x.prod(axis),
    "rest": lambda x, axis: x.logsumexp(axis) - x.amax(axis),
}


@pytest.mark.parametrize("keeps_axes", [True, False])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_a_weighted_reduction_along_one_axis(op, axis, keeps_axes):
    """Of a square tile with ties and zeros, so that a weight at the wrong axis would fit too."""
    b = Builder()
    b.tensor("X", DType.F32, ["N", "N"])
    b.tensor("W", DType.F32, ["N"])
    b.tensor("Out", DType.F32, ["N", "N"], access="out")
    rows = b.span(0, dim("N"))
    x, weight = b.load("X", rows, rows), b.load("W", rows)
    if keeps_axes:
        weight = b.view(weight, (None, 0) if axis == 0 else (0, None))
    y = b.op("mul", b.reduce(op, x, (axis,), keeps_axes=keeps_axes), weight)
    b.store("Out", b.add(ir.Gradient(x.type, y.span, y, x)), rows, rows)
    kernel = differentiate(b.kernel())
    verify(kernel)
    numbers = np.array([[2, 2, -1, 0.5], [1, -2, 2, 3], [0, 2, 1, -1], [4, 1, 4, 4]], np.float32)
    weights = np.array([1, -2, 3, 0.25], np.float32)
    out = interp.run(kernel, {"X": numbers, "W": weights, "Out": np.zeros((4, 4), np.float32)}, {}, {"N": 4})["Out"]
    given = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
    (REDUCTIONS[op](given, axis) * torch.tensor(weights)).sum().backward()
    np.testing.assert_allclose(out, given.grad.numpy(), rtol=1e-5, atol=1e-6)
