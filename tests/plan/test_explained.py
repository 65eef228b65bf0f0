"""The words of `tilec explain`: names of the source, guards that matter, and why a prediction is above its ideal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilec import driver
from tilec.options import Options
from tilec.plan.guards import essential
from tilec.plan.profile import H200
from tilec.runtime.formulas import guard_test
from tilec.source import Source
from tilec.types import DTYPES

STATS = """\
kernel row_stats(X: tensor<f32|bf16>[M, V], Mean: tensor<f32>[M], Var: tensor<f32>[M], Most: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  Mean[r :+ 8, new] = rowmean(x)
  Var[r :+ 8, new] = rowvar(x)
  Most[r :+ 8, new] = rowmax(x * 2.0)
}
"""


def explanation(source: str, dims: dict[str, int], profile=H200, dtypes=None) -> driver.Explanation:
    loaded = driver.parse_file(Source("lib/stats.ph", source))
    [name] = loaded.signatures
    built = driver.build_kernel(loaded.program, name, {k: DTYPES[v] for k, v in (dtypes or {}).items()}).kernel
    return driver.explain(built, dims, Options(limits=H200.limits), profile)


def test_values_have_their_names_or_their_expressions():
    lines = explanation(STATS, {"M": 8192, "V": 1000}).text.splitlines()
    assert "      sum of x for `rowmean(x)` (stats.ph:4)" in lines
    assert "      sum for `rowvar(x)` (stats.ph:5)" in lines
    assert "      max for `rowmax(x * 2.0)` (stats.ph:6)" in lines
    assert not any("%" in line.replace("V % 8", "").replace("% of the time", "") for line in lines)


@pytest.mark.parametrize(
    ("guards", "expected"),
    [
        (["V % 8 == 0", "V % 4 == 0", "V % 2 == 0"], ["V % 8 == 0"]),
        (["V % 3 == 0", "V % 4 == 0"], ["V % 3 == 0 && V % 4 == 0"]),
        (["V % 4 != 0", "V % 8 != 0", "V % 2 == 0"], ["V % 2 == 0 && V % 4 != 0"]),
        (["V > 512 && V <= 1024", "V > 512", "V <= 32768"], ["V > 512 && V <= 1024"]),
        (["V > 8192", "M <= 16", "V > 16384", "V > 32768"], ["V > 32768", "M <= 16"]),
        (["V == 7", "V <= 16", "V % 4 != 0"], ["V == 7"]),
        (["(M + V) % 4 == 0", "M + V <= 64", "M <= 64"], ["M + V <= 64 && (M + V) % 4 == 0", "M <= 64"]),
        (["8 * ceildiv(M, 8) > 32", "8 * ceildiv(M, 8) > 64"], ["8 * ceildiv(M, 8) > 64"]),
        ([], []),
    ],
)
def test_guards_that_others_imply_are_left_out(guards: list[str], expected: list[str]):
    assert essential(guards) == expected
    # They are true of the very same sizes.
    for m, v in [(m, v) for m in (1, 3, 8, 16, 40, 65) for v in (1, 7, 12, 16, 512, 513, 1024, 1025, 16385, 32769)]:
        values = {"M": m, "V": v}
        assert guard_test(guards)(values) == guard_test(expected)(values) or "V == 7" in guards


def test_a_prediction_above_its_ideal_says_why():
    found = explanation(STATS, {"M": 8192, "V": 1000}, dtypes={"X": "bf16"})
    assert "  0.00121 ms above the ideal: 0.0012 ms first loads and last lanes of 1 sweep\n" in found.text
    assert "of the time goes into the first loads and the last lanes of sweeps" in found.text


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("dims", [(4, 262144), (8192, 1000), (8192, 1001), (64, 8), (100_000, 4096)])
@pytest.mark.parametrize("slow", [{}, {"operations": 1e12}, {"functions": 1e9}, {"barrier_seconds": 1e-5}])
def test_the_reasons_add_up(dims: tuple[int, int], dtype: str, slow: dict[str, float]):
    profile = replace(H200, **slow)  # pyright: ignore[reportArgumentType]
    cost = explanation(STATS, dict(zip("MV", dims, strict=True)), profile, {"X": dtype}).cost
    assert cost is not None
    assert cost.seconds is not None
    assert cost.ideal_seconds is not None
    assert sum(cost.losses.values()) == pytest.approx(cost.seconds - cost.ideal_seconds, rel=1e-9, abs=1e-15)


def test_arithmetic_is_a_reason():
    text = explanation(STATS, {"M": 8192, "V": 1000}, replace(H200, operations=1e12)).text
    assert " arithmetic, beyond what memory takes" in text


def test_two_scalars_of_one_name_are_kept_apart():
    source = """
fn part(A, n) {
  let start = n * n % 3
  return sum(A[start :+ 4])
}
kernel k(A: tensor<f32>[M], T: tensor<i32>[2], B: tensor<f32>[1]) {
  B[0] = part(A, T[0]) + part(A, T[1])
}
"""
    text = explanation(source, {"M": 64}, None).text
    starts = {line.split("[")[1].split(" :+")[0] for line in text.splitlines() if "reads A[" in line}
    assert len(starts) == 2
    assert all(start.startswith("start%") for start in starts)


ONE_HOT = """
kernel one_hot(X: tensor<f32>[M, V], T: tensor<i32>[M, 1], U: tensor<i32>[M, 1]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  let c = iota(1, V)
  X[r :+ 8, :] = %s
}
"""
APART = "apart: what"


def told_of_one_hot(value: str, columns: int) -> tuple[str, float]:
    """What is said of the plan, and the operations an element."""
    told = explanation(ONE_HOT % value, {"M": 8192, "V": columns})
    assert told.cost is not None
    ((round_cost,),) = [dispatch.rounds.values() for dispatch in told.cost.dispatches]
    return told.text, round_cost.work.operations


@pytest.mark.parametrize("value", ["where(c == T[r :+ 8, :], 1.0, exp(x))", "where(c != T[r :+ 8, :], exp(x), 1.0)"])
def test_what_a_condition_singles_out_is_told_and_costs_other_elements_nothing(value: str):
    text, operations = told_of_one_hot(value, 32_768)
    _, plain = told_of_one_hot("exp(x)", 32_768)
    assert APART in text
    assert operations == plain
    short, compared = told_of_one_hot(value, 512)
    assert APART not in short
    assert compared > plain


def test_nothing_is_apart_where_conditions_are_many_or_no_single_one():
    t, u = "T[r :+ 8, :]", "U[r :+ 8, :]"
    many = f"where(c == {t}, 1.0, where(c == {u}, 2.0, where(c == {u} + 1, 3.0, x)))"
    for value in (many, f"where(c < {t}, 1.0, x)", f"where(x == f32({t}), 1.0, x)"):
        assert APART not in told_of_one_hot(value, 32_768)[0]
