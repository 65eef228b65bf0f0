"""Arrays that are empty, strange, shared, or at the edges of types: an error in words or the right answer."""

from __future__ import annotations

import datetime
import fractions
import warnings

import numpy as np
import pytest

import tilec
from tilec.runtime.arrays import _is_exact
from tilec.types import DType

F32, I32 = np.float32, np.int32
SOURCE = """
kernel rows(X: tensor<f32|f16>[M, N], T: tensor<i32|i64>[M], Picked: tensor<f32>[M], Lse: tensor<f32>[M],
            Most: tensor<f32>[M], Sum: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  Picked[r :+ 4, new] = pick(x, T[r :+ 4, new])
  Lse[r :+ 4, new] = logsumexp(x)
  Most[r :+ 4, new] = rowmax(x)
  Sum[r :+ 4, new] = rowsum(x)
}

kernel total(X: tensor<f32>[M, N], Sum: tensor<f32>[1], Mean: tensor<f32>[1]) {
  Sum[0] = sum(X[:, :])
  Mean[0] = mean(X[:, :])
}

kernel add(A: tensor<f32>[N], B: tensor<f32>[N]) {
  let i = ctx.block.x * 64
  A[i :+ 64] = A[i :+ 64] + B[i :+ 64]
}

kernel both(A: tensor<f32>[M, N], B: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, :] = A[r :+ 4, :] - B[r :+ 4, :]
}

kernel wrap(A: tensor<i32>[N], Y: tensor<i32>[N]) {
  Y[:] = A[:] + 1
}

kernel make(Y: tensor<u8>[M, N]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, :] = 1
}
"""


@pytest.fixture(scope="module")
def m() -> tilec.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tilec.CompileWarning)
        return tilec.compile(source=SOURCE, name="hostile.ph")


def everywhere(devices: list[tilec.Device]) -> list[object]:
    return ["numpy", *devices]


def refused(run, *arguments, **named) -> str:
    with pytest.raises(tilec.ArrayError) as caught:
        run(*arguments, **named)
    return str(caught.value)


# --- no rows, no columns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [F32, np.float16])
def test_no_rows_and_no_columns(m, devices, dtype):
    for device in everywhere(devices):
        r = m.rows(np.zeros((0, 7), dtype), np.zeros(0, I32), device=device)
        assert all(array.shape == (0,) for array in r)
        r = m.rows(np.zeros((5, 0), dtype), np.arange(5), device=device)
        assert r.Picked.tolist() == [0] * 5
        assert r.Sum.tolist() == [0] * 5
        assert r.Lse.tolist() == r.Most.tolist() == [-np.inf] * 5
        assert all(array.shape == (0,) for array in m.rows(np.zeros((0, 0), dtype), np.zeros(0, I32), device=device))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_the_total_of_nothing(m, devices, shape):
    for device in everywhere(devices):
        r = m.total(np.zeros(shape, F32), device=device)
        assert r.Sum.tolist() == [0]
        assert np.isnan(r.Mean).all()
        assert m.both(np.zeros(shape), np.zeros(shape), device=device).Y.shape == shape


def test_nothing_on_a_device(m, device):
    empty = device.array(np.zeros((3, 0), F32))
    assert empty.numpy().shape == (3, 0)
    assert m.both(empty, empty).Y.numpy().shape == (3, 0)
    assert m.both.bind(empty, empty).launch().Y.numpy().shape == (3, 0)
    with device.batch():
        m.add(device.array(np.zeros(0, F32)), device.array(np.zeros(0, F32)))


# --- targets -----------------------------------------------------------------------------------------------------


def test_targets_at_the_edges_of_their_types(m, devices):
    x = np.arange(1, 25, dtype=F32).reshape(8, 3)
    for targets in (
        np.array([0, 2, 3, -1, -(2**31), 2**31 - 1, 2**30, -100], I32),
        np.array([0, 2, 3, -1, -(2**63), 2**63 - 1, 2**32, -(2**32) + 1], np.int64),
    ):
        for device in everywhere(devices):
            r = m.rows(x, targets, device=device)
            assert r.Picked.tolist() == [1, 6, 0, 0, 0, 0, 0, 0]


def test_targets_that_are_no_integers(m):
    x = np.ones((3, 4), F32)
    for targets in ([0, np.nan, 1], [0, np.inf, 1], [0, 0.5, 1], [0, 1e300, 1]):
        text = refused(m.rows, x, np.array(targets))
        assert text.startswith("T: a float64 array for i32 holds numbers that are no integers")
    assert "T: a uint64 array for i64" in refused(m.rows, x, np.array([0, 2**63, 1], np.uint64))
    assert m.rows(x, np.array([0.0, 1.0, 3.0]), device="numpy").Picked.tolist() == [1, 1, 1]


@pytest.mark.parametrize("converted", [2**63 - 1, -(2**63)])
def test_a_float_beyond_an_i64_is_none_whatever_the_processor_makes_of_it(converted):
    """Some saturate, some wrap; as a float the largest i64 is 2**63 itself."""
    given, result = np.array([2.0**63]), np.array([converted])
    assert not _is_exact(given, result, DType.I64)
    assert _is_exact(-given, np.array([-(2**63)]), DType.I64)


def test_integers_wrap_as_the_language_says(m, devices):
    for device in everywhere(devices):
        assert m.wrap(np.array([2**31 - 1, -1], I32), device=device).Y.tolist() == [-(2**31), 0]


# --- one memory, twice -------------------------------------------------------------------------------------------


def test_views_of_one_array(m, devices):
    """Host arrays are copied: views that overlap are as good as others, but one array twice is refused if written."""
    base = np.arange(100, dtype=F32)
    for device in everywhere(devices):
        np.testing.assert_array_equal(m.add(base[:90], base[10:], device=device).A, base[:90] + base[10:])
        np.testing.assert_array_equal(m.add(base[::-1], base, device=device).A, np.full(100, 99, F32))
        assert base[0] == 0
    assert "A and B are the same array" in refused(m.add, base, base)
    square = base.reshape(10, 10)
    for device in everywhere(devices):
        np.testing.assert_array_equal(m.both(square, square.T, device=device).Y, square - square.T)
        assert not m.both(square, square, device=device).Y.any()


def test_one_device_array_under_two_names(m, device):
    array = device.array(np.ones(70, F32))
    assert "A and B are the same array" in refused(m.add, array, array)
    assert "A and B are the same array" in refused(m.add.bind, array, array)
    copied = device.array(array)
    assert (m.add(array, copied).A.numpy() == 2).all()
    assert (copied.numpy() == 1).all()


# --- strange arrays ----------------------------------------------------------------------------------------------


class _Lying:
    """An array-like whose methods fail in their own way."""

    def __array__(self, dtype=None, copy=None):
        raise KeyError("no array here")


def test_what_is_no_array_of_numbers(m):
    for value in (
        np.array([{}, 1], object), np.array(["1", "2"]), np.array([b"1"]), np.array([1j, 2]), {1, 2}, range, _Lying(),
        np.array([(1, 2.0)], [("a", "i4"), ("b", "f4")]), np.array(["2020-01-01"], "M8[D]"), [[1, 2], [3]], [None, 1.0],
        np.ma.masked_array([1.0, 2.0], [True, False]), [10**400, 1], (x for x in (1, 2)), datetime.date(2020, 1, 1),
    ):  # fmt: skip
        assert refused(m.wrap, value).startswith("A: "), value


def test_forms_of_the_same_numbers(m, devices):
    right = np.arange(24, dtype=F32).reshape(4, 6)
    wide = np.zeros((8, 18), F32)
    wide[::2, ::3] = right
    frozen = right.copy()
    frozen.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = np.matrix(right)
    forms = [
        right, right.astype(">f4"), right.astype(np.float64), right.astype(">f8"), right.astype(np.int64), frozen,
        np.asfortranarray(right), wide[::2, ::3], right[::-1, ::-1][::-1, ::-1], matrix, right.tolist(),
        right.astype(np.float16), right.astype(np.uint8), right.astype(np.longdouble), memoryview(right),
    ]  # fmt: skip
    for device in everywhere(devices):
        for form in forms:
            got = m.both(form, np.zeros((4, 6)), device=device).Y
            assert type(got) is np.ndarray
            np.testing.assert_array_equal(got, right)
    stretched = np.broadcast_to(F32(3), (4, 6))
    np.testing.assert_array_equal(m.both(stretched, right, device=devices[0]).Y, 3 - right)


def test_one_trailing_axis_of_1_may_come_or_go(m, devices):
    column = np.arange(5, dtype=I32)[:, None]
    for device in everywhere(devices):
        assert m.wrap(column, device=device).Y.tolist() == [1, 2, 3, 4, 5]
        r = m.rows(np.ones((5, 7), F32), column, device=device)
        assert r.Picked.tolist() == [1] * 5
        assert m.both(np.ones((5, 1)), np.zeros((5, 1)), device=device).Y.shape == (5, 1)


def test_sizes_that_follow_from_others_are_checked(m):
    source = """
kernel halves(X: tensor<f32>[M], Y: tensor<f32>[ceildiv(M, 2)], W: tensor<f32>[3]) {
  Y[ctx.block.x] = Y[ctx.block.x] + sum(X[ctx.block.x * 2 :+ 2]) * sum(W[:])
}
"""
    run = tilec.compile(source=source).halves
    assert run(np.ones(5, F32), np.zeros(3, F32), np.ones(3, F32), device="numpy").Y.tolist() == [6, 6, 3]
    for rows in (2, 4):
        told = refused(run, np.ones(5, F32), np.zeros(rows, F32), np.ones(3, F32), device="numpy")
        words = f"Y: axis 0 of [{rows}] has {rows} elements, and the kernel says ceildiv(M, 2) = 3; M is 5"
        assert told.startswith(words)
    told = refused(run, np.ones(5, F32), np.zeros(3, F32), np.ones(4, F32), device="numpy")
    assert told == "W: axis 0 of [4] has 4 elements, and the kernel says 3"


def test_shapes_that_do_not_fit(m):
    assert "has 0 axes where the kernel takes 1" in refused(m.wrap, np.int32(3))
    assert "has 3 axes where the kernel takes 2" in refused(m.both, np.zeros((1, 2, 3)), np.zeros((2, 3)))
    assert "N is 3 by axis 1 of A [2, 3], but 4 by axis 1 of B [2, 4]" in refused(
        m.both, np.zeros((2, 3)), np.zeros((2, 4))
    )


# --- sizes -------------------------------------------------------------------------------------------------------


def test_sizes_at_the_edges(m, device):
    assert "an index is an i32: at most 2,147,483,647" in refused(m.total, np.zeros((0, 2**31), F32))
    with pytest.raises(tilec.ArrayError, match=r"M: 2147483648 is beyond a size, 0 to 2147483647"):
        m.make(M=2**31, N=1, device=device)
    for sizes in ({"M": -1, "N": 1}, {"M": 1.5, "N": 1}, {"M": "3", "N": 1}, {"M": None, "N": 1}):
        assert refused(m.make, **sizes, device=device).startswith("M: ")
    with pytest.raises(tilec.TilecError, match=r"limit|memory"):
        m.make.bind(M=2**31 - 1, N=2**31 - 1, device=device)
    with pytest.raises(tilec.ArrayError, match="more than memory holds"):
        m.make(M=2**31 - 1, N=2**31 - 1, device="numpy")
    with pytest.raises(tilec.DeviceError, match=r"binds at once, [\d,]+ \(max-storage-buffer-binding-size\)"):
        m.make(M=2**31 - 1, N=2**31 - 1, device=device)


def test_scalars_of_other_kinds(m):
    module = tilec.compile(source="kernel k(A: tensor<f32>[N], by: i32, to: f32) {\n  A[:] = A[:] * f32(by) + to\n}\n")
    run = module.k
    a = np.ones(3, F32)
    assert run(a, np.int64(3), np.float64(0.5), device="numpy").A.tolist() == [3.5] * 3
    assert run(a, True, 2, device="numpy").A.tolist() == [3.0] * 3
    for by in (float("nan"), float("inf"), 2**31, -(2**31) - 1, 0.5, 1j, fractions.Fraction(1, 2), [1, 2], None, "1"):
        assert refused(run, a, by, 1.0).startswith("by: "), by
    for to in (10**400, "x", 1j, None, [1.0, 2.0], 1e39):
        assert refused(run, a, 1, to).startswith("to: "), to
