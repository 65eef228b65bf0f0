"""Stores whose elements a condition singles out: computed apart, and the same numbers wherever the single one lies."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diff.harness import Data, Execution, Subject
from tilec.options import Limits, Options

ONE_HOT = """
kernel one_hot(X: tensor<f32>[M, V], T: tensor<i32>[M]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let hit = iota(1) == T[r :+ 4, new]
  X[r :+ 4, :] = exp(x) - where(hit, 10.0, 0.5)
}
"""
OTHERS = """
kernel others(X: tensor<f32>[M, V], T: tensor<i32>[M], U: tensor<i32>[M]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let rest = T[r :+ 4, new] != iota(1)
  let hit = iota(1) == U[r :+ 4, new]
  X[r :+ 4, :] = where(rest, x, 7.0) + f32(hit)
}
"""
BELOW = """
kernel below(X: tensor<f32>[M, V], T: tensor<i32>[M]) {
  let r = ctx.block.x * 4
  let below = iota(1) < T[r :+ 4, new]
  X[r :+ 4, :] = where(below, X[r :+ 4, :], 7.0)
}
"""
OF_EACH = """
kernel of_each(X: tensor<f32>[M, V], C: tensor<i32>[M, V]) {
  let r = ctx.block.x * 4
  let hit = iota(1) == C[r :+ 4, :]
  X[r :+ 4, :] = where(hit, 7.0, X[r :+ 4, :])
}
"""
CHOSEN = OTHERS.replace("f32(hit)", "where(hit, 3.0, 0.5)")
"""Both conditions choose: without either the numbers are others."""
MANY = """
kernel many(X: tensor<f32>[M, V], T: tensor<i32>[M]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let c = iota(1)
  let t = T[r :+ 4, new]
  X[r :+ 4, :] = where(c == t, 1.0, where(c == t + 1, 2.0, where(c == t + 2, 3.0, x)))
}
"""
COLUMNS = 6000
PLACES = [0, 1, 3, 4, 15, 16, 17, 63, 64, 1023, 1024, 2047, 2048, 5998, 5999, 6000, -1, -(2**31), 2**31 - 1]
"""At the edges of granules, of blocks and of rounds, and outside the row."""
SCREENED = Execution("screened", Options(threads=256))
SINGLE = Execution("short rows are not screened", Options(threads=64))


def data(**targets):
    rows = len(next(iter(targets.values())))
    x = np.random.default_rng(rows).standard_normal((rows, COLUMNS)).astype(np.float32)
    tensors = {name: np.array(values, np.int64).astype(np.int32) for name, values in targets.items()}
    return Data({"X": x, **tensors}, {}, {"M": rows, "V": COLUMNS})


@pytest.mark.parametrize("text", [ONE_HOT, MANY])
def test_wherever_the_single_element_lies(text):
    Subject(text).check(data(T=PLACES), [SCREENED, SINGLE])


def test_two_conditions_and_their_opposites():
    Subject(OTHERS).check(data(T=PLACES, U=PLACES[::-1]), [SCREENED])
    Subject(OTHERS).check(data(T=PLACES, U=PLACES), [SCREENED])
    Subject(CHOSEN).check(data(T=PLACES, U=PLACES[::-1]), [SCREENED])


def test_sweeps_over_two_axes_beside_halves_are_not_screened():
    """A lane takes two halves together in one sweep, and so in the other, whose elements have no one column."""
    kernel = Subject("""
kernel beside(X: tensor<f16>[N], Y: tensor<f32>[1], Z: tensor<f32>[M, V]) {
  var s = 1.0
  for i in range(0, 3) {
    s = s * 0.5 + Y[0]
  }
  let x = X[:]
  X[:] = x * s + amax(x)
  Z[:, :] = Z[:, :] * amax(x)
  Y[0] = s
}
""")
    rng = np.random.default_rng(2)
    x, z = rng.standard_normal(5000).astype(np.float16), rng.standard_normal((80, 66)).astype(np.float32)
    given = Data({"X": x, "Y": np.float32([3.0]), "Z": z}, {}, {"N": 5000, "M": 80, "V": 66})
    kernel.check(given, [SCREENED])


def test_conditions_that_hold_for_many_elements():
    Subject(BELOW).check(data(T=PLACES[:8]), [SCREENED])
    given = data(T=PLACES[:8])
    columns = np.arange(COLUMNS, dtype=np.int32) + np.random.default_rng(1).integers(0, 2, (8, 1), np.int32)
    columns[:, 5::7] = -1
    Subject(OF_EACH).check(Data({"X": given.tensors["X"], "C": columns}, {}, given.dims), [SCREENED])


def test_the_expected_numbers_are_those_of_numpy():
    given = data(T=PLACES)
    got = Subject(ONE_HOT).run(SCREENED, given)["X"]
    hit = np.arange(COLUMNS) == np.array(PLACES)[:, None]
    np.testing.assert_allclose(got, np.exp(given.tensors["X"]) - np.where(hit, 10.0, 0.5), rtol=1e-5, atol=1e-5)


def test_elements_that_are_not_singled_out_are_not_compared():
    """Of a block of 16 elements one side of the branch compares each, the other none."""
    text = Subject(ONE_HOT).compiled(SCREENED.options, {"M": 8, "V": 8192}).wgsl
    compared, plain = text.split("if (meets) {")[1].split("} else {")[:2]
    assert compared.count(" == ") == 16
    assert " == " not in plain.split("let meets_1")[0]
    is_cpu = Options(threads=256, limits=Limits(is_cpu=True))
    assert "meets" not in Subject(ONE_HOT).compiled(is_cpu, {"M": 8, "V": 8192}).wgsl
    assert "meets" not in Subject(MANY).compiled(SCREENED.options, {"M": 8, "V": 8192}).wgsl


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_special_values_beside_the_single_one(value):
    given = data(T=PLACES)
    given.tensors["X"][:, [0, 5, 16, 5998]] = value
    Subject(ONE_HOT).check(given, [SCREENED])
