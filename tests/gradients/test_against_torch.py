"""Derived gradients against torch's autograd in float64, in float32 and, more strictly, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gradients.cases import CASES, FUNCTIONS
from tests.gradients.double import in_double
from tests.gradients.harness import build, by_torch, draw, gradient, kernel_text, tensors_of
from tilec.driver import build_kernel, parse_file
from tilec.ops import POINTWISE, REDUCTIONS
from tilec.source import Source
from tilec.tile import interp, ir
from tilec.tile.walk import walk

PAIRS = [(case, wrt) for case in CASES for wrt in case.wrt]


@pytest.mark.parametrize(("case", "wrt"), PAIRS, ids=lambda each: each if isinstance(each, str) else each.name)
def test_gradient(case, wrt):
    text = kernel_text(case.expression, wrt) + FUNCTIONS
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


def forward_text(expression):
    """The kernel that stores the sums of `expression` by blocks, of whatever shape it is."""
    text = kernel_text(expression)
    head, _ = text.split("  let g = grad")
    head = head.replace("Out: tensor<f32>[M, V]", "Out: tensor<f32>[ceildiv(M, 4)]")
    return head + "  Out[ctx.block.x] = sum(z)\n}\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_central_differences(case):
    """The slope of the forward kernel along a random direction of all inputs, where two steps agree on it."""
    rng = np.random.default_rng(9)
    values = draw(rng, 5, 4, positive=case.positive)
    kernel = build(forward_text(case.expression) + FUNCTIONS)
    directions = {name: rng.normal(size=np.shape(values[name])) * 0.3 for name in case.wrt}

    def total(step):
        moved = {name: values[name].astype(np.float64) + step * along for name, along in directions.items()}
        with in_double():
            tensors = tensors_of(values | moved, np.float64)
            scalars = {"s": float((values | moved)["s"])}
            return interp.run(kernel, tensors, scalars, {"M": 5, "V": 4})["Out"].sum()

    slopes = [(total(step) - total(-step)) / (2 * step) for step in (1e-4, 1e-5)]
    expected = 0.0
    for name, along in directions.items():
        found = gradient(kernel_text(case.expression, name) + FUNCTIONS, values, name, double=True)
        expected += (found * along).sum()
    assert abs(slopes[0] - slopes[1]) <= 1e-5 * (1 + abs(slopes[1])), "a kink lies between: draw others"
    assert abs(expected - slopes[1]) <= 1e-5 * (1 + abs(expected))


def test_every_row_is_differentiated():
    """Every operation with a derivative and every reduction of floats occurs in a case."""
    used = set()
    for case in CASES:
        text = forward_text(case.expression) + FUNCTIONS
        loaded = parse_file(Source("test.ph", text))
        for value in walk(build_kernel(loaded.program, "k").kernel.body):
            if isinstance(value, ir.Pointwise | ir.Reduce):
                used.add(value.op)
    differentiable = {
        row.name for row in POINTWISE.values() if any(each is not None for each in row.derivative) and row.in_source
    }
    conversions = {"f32", "f16", "bf16"}  # see test_edges.test_conventions
    flat = {"sign", "ceil", "round", "trunc"}
    reductions = {"sum", "max", "min", "prod", "rest"}
    assert used >= (differentiable - conversions - flat) | reductions
    assert reductions < set(REDUCTIONS)
