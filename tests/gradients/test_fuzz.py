"""Random programs: the derived gradient against central differences of the forward kernel in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.gradients.double import in_double
from tests.gradients.harness import INPUTS, build, draw, gradient, kernel_text, tensors_of
from tilec.tile import interp

WIDE = {"tile": "[R, V]", "row": "[V]", "column": "[R, 1]", "scalar": "[]"}
ELEMENTWISE = [
    "({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / (1.5 + square({b})))", "tanh({a})", "sigmoid({a})",
    "square({a})", "exp(tanh({a}))", "sin({a} * {b})", "where({a} > {b}, {a} * {b}, tanh({b}))", "max({a}, {b})",
    "min({a}, {b})", "abs({a})", "log(1.5 + square({a}))", "sqrt(1.25 + square({a}))", "-{a}", "softplus({a})",
    "where({b} > 0.0, {a}, 0.0)", "stop_grad({a}) * {b}", "fma({a}, {b}, {a})", "rsqrt(1.0 + square({a}))",
]  # fmt: skip
REDUCTIONS = [
    "rowsum({a})", "rowmean({a})", "rowmax({a})", "rowmin({a})", "logsumexp({a})", "pick({a}, t)", "rowvar({a})",
    "rowsum(where(iota(1) == t, {a}, 0.0))", "rowsum(where({a} > 0.0, {a}, 0.0))", "mean({a})", "sum({a}) * 0.1",
    "colmean({a})",
]  # fmt: skip
TILES = [
    "softmax({a})", "log_softmax({a})", "({a} - rowmean({a}))", "({a} - logsumexp({a}))", "({a} / rowsum(exp({a})))",
]  # fmt: skip


@st.composite
def programs(draw_one):
    """`let`s that use each other, the last of which is what is differentiated."""
    tiles, narrow = ["x", "y"], ["c", "s", "w"]
    lines = []
    for number in range(draw_one(st.integers(2, 8))):
        name = f"v{number}"
        kind = draw_one(st.sampled_from(["elementwise", "elementwise", "mixed", "reduction", "tile"]))
        first = draw_one(st.sampled_from(tiles[-3:]))
        if kind == "reduction":
            text = draw_one(st.sampled_from(REDUCTIONS)).format(a=first)
            narrow.append(name)
        elif kind == "tile":
            text = draw_one(st.sampled_from(TILES)).format(a=first)
            tiles.append(name)
        else:
            second = draw_one(st.sampled_from(tiles if kind == "elementwise" else narrow))
            text = draw_one(st.sampled_from(ELEMENTWISE)).format(a=first, b=second)
            tiles.append(name)
        lines.append(f"  let {name} = {text}\n")
    last = draw_one(st.sampled_from([tiles[-1], f"{tiles[-1]} * {narrow[-1]}", f"rowsum({tiles[-1]}) * {narrow[-1]}"]))
    wrt = draw_one(st.sampled_from(["x", "x", "y", "w", "c", "s"]))
    # Every input has a part in it, so that there always is a derivative.
    return "".join(lines), f"{last} + 0.01 * (x * y * w * c * s)", wrt


def total(text, values, name, step, along):
    moved = dict(values)
    moved[name] = values[name].astype(np.float64) + step * along
    with in_double():
        kernel = build(text)
        dims = {"M": 5, "V": 4}
        return interp.run(kernel, tensors_of(moved, np.float64), {"s": float(moved["s"])}, dims)["Out"].sum()


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(program=programs(), seed=st.integers(0, 1000))
def test_random_programs(program, seed):
    before, last, wrt = program
    rng = np.random.default_rng(seed)
    values = draw(rng, 5, 4)
    text = kernel_text(last, wrt, before=before)
    head = kernel_text(last, "x", before=before).split("  let g = grad")[0]
    forward = head.replace("Out: tensor<f32>[M, V]", "Out: tensor<f32>[ceildiv(M, 4)]")
    forward += "  Out[ctx.block.x] = sum(z)\n}\n"
    along = np.asarray(rng.normal(size=np.shape(values[wrt])))
    slopes = [
        (total(forward, values, wrt, step, along) - total(forward, values, wrt, -step, along)) / (2 * step)
        for step in (1e-5, 3e-6)
    ]
    if "stop_grad" in before:  # central differences do not stop: only that it compiles and is a number
        assert np.isfinite(gradient(text, values, wrt)).all()
        return
    assume(abs(slopes[0] - slopes[1]) <= 1e-6 * (1 + abs(slopes[0])))
    found = gradient(text, values, wrt, double=True)
    expected = (found * along).sum()
    assert abs(expected - slopes[1]) <= 2e-5 * (1 + np.abs(found * along).sum()), (before, last, wrt)


def test_kinds_of_inputs():
    assert set(INPUTS.values()) == set(WIDE)


if __name__ == "__main__":
    pytest.main([__file__])
