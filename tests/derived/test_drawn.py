"""Derived kernels of drawn programs against central differences of the programs themselves, in double precision."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from tests.fuzz.generate import draw_program
from tests.fuzz.inputs import draw_constants, draw_data, draw_dims
from tests.fuzz.parts import Program, RandomChoices
from tests.gradients.double import in_double
from tilec import driver
from tilec.errors import CompileError
from tilec.source import Source
from tilec.tile import interp, ir

_FLOATS = re.compile(r"(tensor<|T: )(?:b?f16|f32)(?:\|(?:b?f16|f32))*>")
REFUSALS = {"E0432", "E0433", "E0434", "E0435"}
PROGRAMS = 90
# An earlier store of a loss, of which a later one leaves some rows; a branch whose loop stores and computes
KEPT = (1034, 73)


def pairs(program: driver.Loaded, forward: ir.Kernel, constants: dict) -> Iterator[tuple[str, str, bool, ir.Kernel]]:
    """Every gradient kernel that the program has: what it is by, of what, in place or not."""
    inputs = [t.name for t in forward.tensors if t.access == "in" and t.dtype.is_float]
    losses = [t.name for t in forward.tensors if t.access != "in" and t.dtype.is_float]
    for wrt in inputs:
        for loss in losses:
            for in_place in (False, True):
                derived, signature = driver.derive(program.program, "run", [wrt], loss, in_place=in_place)
                try:
                    kernel = driver.build_kernel(derived, signature.name, {}, constants, verify=True).kernel
                except CompileError as error:
                    if {one.code for one in error.diagnostics if one.severity == "error"} <= REFUSALS:
                        continue
                    raise
                yield wrt, loss, in_place, kernel


def run(kernel: ir.Kernel, tensors: dict, data: SimpleNamespace) -> dict[str, np.ndarray]:
    with in_double(), np.errstate(all="ignore"):
        return interp.run(kernel, tensors, data.scalars, data.dims)


def check(program: Program, seed: int) -> Counter[str]:
    """Compares every gradient along a random direction; what lies on an edge, where slopes differ, decides nothing."""
    text = _FLOATS.sub(r"\1f32>", program.text)
    verdicts: Counter[str] = Counter()
    loaded = driver.parse_file(Source("drawn.ph", text))
    constants = draw_constants(program, seed)
    forward = driver.build_kernel(loaded.program, "run", {}, constants).kernel
    rng = np.random.default_rng(seed)
    roles = {tensor.name: tensor.role for tensor in program.tensors}
    for wrt, loss, in_place, kernel in pairs(loaded, forward, constants):
        data = draw_data(SimpleNamespace(kernel=forward), roles, draw_dims(program, rng), "normal", seed)
        tensors = {
            name: array.astype(np.float64) if forward.tensor(name).dtype.is_float else array
            for name, array in data.tensors.items()
        }
        weights = rng.standard_normal(tensors[loss].shape)
        direction = rng.standard_normal(tensors[wrt].shape)
        given = {**tensors, f"D{loss}": weights}
        if not in_place:
            given[f"D{wrt}"] = np.zeros_like(tensors[wrt])
        before, result = run(forward, tensors, data), run(kernel, given, data)
        for name, array in before.items():
            np.testing.assert_allclose(result[name], array, rtol=1e-9, atol=1e-9, err_msg=f"{name} in {text}")
        gradient = result[wrt if in_place else f"D{wrt}"]
        if not np.isfinite(gradient).all() or not np.isfinite(before[loss]).all():
            verdicts["not finite"] += 1
            continue

        def slope(step: float, tensors=tensors, data=data, wrt=wrt, loss=loss, way=direction, weights=weights) -> float:
            ends = [run(forward, {**tensors, wrt: tensors[wrt] + h * way}, data)[loss] for h in (step, -step)]
            return float(((ends[0] - ends[1]) * weights).sum()) / (2 * step)

        slopes = slope(1e-6), slope(5e-7)
        size = np.abs(gradient * direction).sum() + 1e-3 * np.abs(before[loss] * weights).sum() + 1e-6
        if not abs(slopes[0] - slopes[1]) <= 1e-5 * size:
            verdicts["on an edge"] += 1
            continue
        got = float((gradient * direction).sum())
        assert abs(slopes[0] - got) <= 1e-4 * size, f"{loss} by {wrt}, in_place={in_place}: {got}, {slopes}\n{text}"
        verdicts["right"] += 1
    return verdicts


def program_of(seed: int) -> Program:
    return draw_program(RandomChoices(seed))


@pytest.mark.parametrize("seed", KEPT)
def test_programs_that_were_wrong_once(seed: int):
    check(program_of(seed), seed)


def test_drawn_programs():
    total: Counter[str] = Counter()
    for seed in range(PROGRAMS):
        program = program_of(seed)
        # Rounding to a storage type passes the gradient through, and its slope is 0 or infinite.
        if "f16(" in program.text:
            continue
        try:
            total += check(program, seed)
        except CompileError:
            total["refused"] += 1
    assert total["right"] >= 60, total
