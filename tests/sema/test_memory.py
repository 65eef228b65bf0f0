"""Subscripts, activity, fills, stores, access."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sema.support import build, codes, run

A = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize(
    ("subscript", "expected"),
    [
        (":, :", A),
        ("1 :+ 2, :", A[1:3]),
        ("1 : 3, 2 :", A[1:3, 2:]),
        (": 2, : 3", A[:2, :3]),
        ("1, :", A[1]),
        (":, 5", A[:, 5]),
        ("new, 2, 1 : 4", A[None, 2, 1:4]),
        (":, new, :", A[:, None, :]),
        ("3 : 1, :", A[3:1]),
    ],
)
def test_subscripts_are_numpys(subscript: str, expected: np.ndarray):
    dims = ", ".join(map(str, expected.shape))
    whole = ", ".join(":" * expected.ndim)
    text = f"kernel k(A: tensor<f32>[4, 6], B: tensor<f32>[{dims}]) {{\n  B[{whole}] = A[{subscript}]\n}}"
    if 0 in expected.shape:
        return
    np.testing.assert_array_equal(run(text, {"A": A})["B"], expected)


def test_spans_past_both_ends_are_inactive():
    text = """
kernel k(A: tensor<f32>[N], S: tensor<f32>[4], shift: i32) {
  let x = A[shift :+ 8]
  S[0] = sum(x)
  S[1] = mean(x)
  S[2] = amax(x)
  S[3] = f32(argmax(x))
}"""
    values = np.arange(1.0, 6.0)
    for shift in (-6, -3, 0, 3):
        got = run(text, {"A": values}, shift=shift)["S"]
        inside = [values[i] for i in range(shift, shift + 8) if 0 <= i < 5]
        first = [i for i in range(8) if 0 <= shift + i < 5]
        np.testing.assert_allclose(got, [sum(inside), np.mean(inside), max(inside), first[-1]])
    got = run(text, {"A": values}, shift=100)["S"]
    np.testing.assert_array_equal(got, [0, np.nan, -np.inf, 0])


def test_a_fill_makes_all_lanes_active():
    text = """
kernel k(A: tensor<i32>[N], B: tensor<i32>[N]) {
  let i = ctx.block.x * 4
  B[i :+ 4] = A[i - 1 :+ 4] else -7
}"""
    assert codes(text) == []
    np.testing.assert_array_equal(run(text, {"A": [1, 2, 3, 4, 5, 6]})["B"], [-7, 1, 2, 3, 4, 5])


def test_a_shifted_read_without_a_fill_is_warned_about():
    text = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[N]) {
  let i = ctx.block.x * 4
  B[i :+ 4] = A[i + 1 :+ 4]
}"""
    assert codes(text) == ["W0302"]
    np.testing.assert_array_equal(run(text, {"A": [1, 2, 3, 4, 5]})["B"], [2, 3, 4, 5, 0])


def test_a_row_of_the_same_rows_is_not_warned_about():
    text = """
kernel k(A: tensor<f32>[B, M, V], Out: tensor<f32>[B, M]) {
  let b = ctx.block.y
  let r = ctx.block.x * 3
  let x = A[b, r :+ 3, :]
  Out[b, r :+ 3] = rowsum(x)[:, :] * 1.0
}"""
    assert codes(text) == []
    a = np.arange(40, dtype=np.float32).reshape(2, 4, 5)
    np.testing.assert_array_equal(run(text, {"A": a})["Out"], a.sum(2))


def test_points_outside_read_zero_and_store_nothing():
    text = """
kernel k(A: tensor<f32>[N], F: tensor<bool>[N], B: tensor<f32>[2], C: tensor<f32>[N], i: i32) {
  B[0] = A[i] + 1.0
  B[1] = where(F[i], 1.0, 2.0)
  C[i] = 5.0
}"""
    got = run(text, {"A": [7, 8], "F": [True, True]}, i=-1)
    np.testing.assert_array_equal(got["B"], [1, 2])
    np.testing.assert_array_equal(got["C"], [0, 0])
    got = run(text, {"A": [7, 8], "F": [True, True]}, i=1)
    np.testing.assert_array_equal(got["B"], [9, 1])
    np.testing.assert_array_equal(got["C"], [0, 5])


def test_a_point_outside_makes_a_row_inactive():
    text = """
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[2, V], S: tensor<f32>[1], i: i32) {
  B[0, :] = 9.0
  B[0, :] = A[i, :]
  S[0] = sum(A[i, :])
}"""
    assert codes(text) == ["W0302"]
    np.testing.assert_array_equal(run(text, {"A": [[1, 2], [3, 4]]}, i=5)["B"], [[9, 9], [0, 0]])
    got = run(text, {"A": [[1, 2], [3, 4]]}, i=1)
    np.testing.assert_array_equal(got["B"], [[3, 4], [0, 0]])
    assert got["S"] == [7]


def test_a_point_store_of_an_inactive_lane_leaves_the_element():
    text = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[1], C: tensor<f32>[1, 1], i: i32) {
  B[0] = 3.0
  B[0] = A[i :+ 1]
  C[0, 0] = 3.0
  C[0, new, 0] = A[i :+ 1]
}"""
    for i, expected in ((0, 8), (4, 3)):
        got = run(text, {"A": [8]}, i=i)
        assert got["B"] == [expected]
        assert got["C"] == [[expected]]


def test_dropped_and_new_axes_in_places():
    text = """
kernel k(A: tensor<f32>[M, V], B: tensor<f32>[M], C: tensor<f32>[M], D: tensor<f32>[1, M, 1]) {
  let s = rowsum(A[:, :])
  B[:] = s
  C[:, new] = s
  D[0, :, :] = s
}"""
    got = run(text, {"A": A})
    for name in "BCD":
        np.testing.assert_array_equal(got[name].reshape(-1), A.sum(1))


def test_stores_broadcast():
    text = """
kernel k(A: tensor<f32>[V], B: tensor<f32>[M, V], C: tensor<f32>[M, V]) {
  B[:, :] = A[:]
  C[:, :] = 3
}"""
    got = run(text, {"A": [1, 2, 3]}, dims={"M": 2})
    np.testing.assert_array_equal(got["B"], [[1, 2, 3]] * 2)
    np.testing.assert_array_equal(got["C"], np.full((2, 3), 3))


def test_integers_keep_their_low_bits():
    text = """
kernel k(A: tensor<i32>[N], B: tensor<u8>[N], C: tensor<i8>[N], D: tensor<u32>[N], E: tensor<i32>[N]) {
  B[:] = A[:]
  C[:] = A[:]
  D[:] = A[:]
  E[:] = D[:]
}"""
    a = np.array([-1, 300, 5, 128, -129], np.int32)
    got = run(text, {"A": a})
    np.testing.assert_array_equal(got["B"], a.astype(np.uint8))
    np.testing.assert_array_equal(got["C"], a.astype(np.int8))
    np.testing.assert_array_equal(got["D"], a.astype(np.uint32))
    np.testing.assert_array_equal(got["E"], a)


def test_compound_assignment_reads_and_rounds():
    text = """
kernel k(A: tensor<f16>[N]) {
  A[:] += 1.0
  A[:] *= 1.0009766
  A[1] -= 1.0
}"""
    assert build(text).tensor("A").access == "inout"
    a = np.array([1, 2, 4], np.float16)
    expected = (a.astype(np.float32) + 1).astype(np.float16)
    expected = (expected.astype(np.float32) * np.float32(1.0009766)).astype(np.float16)
    expected[1] -= np.float16(1)
    np.testing.assert_array_equal(run(text, {"A": a})["A"], expected)


def test_a_read_after_a_store_sees_it():
    text = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[N]) {
  let before = A[:]
  A[:] = before * 2.0
  B[:] = A[:] + before
}"""
    np.testing.assert_array_equal(run(text, {"A": [1, 2]})["B"], [3, 6])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("B[:] = A[:]", "out"),
        ("B[:] = A[:]\n  B[:] = B[:] * 2.0", "out"),
        ("B[:] = A[:]\n  B[0] = B[1 :+ 1]", "out"),
        ("B[0 :+ 4] = A[0 :+ 4]\n  B[:] = B[:] * 2.0", "inout"),
        ("if n > 0 {\n    B[:] = A[:]\n  }\n  B[:] = B[:]", "inout"),
        ("B[1 :] = A[1 :]\n  B[0] = B[1]", "out"),
        ("B[1 :] = A[1 :]\n  B[1] = B[0]", "inout"),
        ("for i in range(0, 3) {\n    B[i] = A[i]\n    B[i] = B[i] + 1.0\n  }", "out"),
        ("for i in range(0, 3) {\n    B[i] = A[i]\n  }\n  B[0] = B[0]", "inout"),
        ("B[:] = A[n :+ N]\n  B[:] = B[:]", "inout"),
    ],
)
def test_access_by_definite_assignment(body: str, expected: str):
    text = f"kernel k(A: tensor<f32>[N], B: tensor<f32>[N], n: i32) {{\n  {body}\n}}"
    assert build(text).tensor("B").access == expected


def test_dims_that_no_input_states_are_given():
    text = """
kernel k(A: tensor<f32>[M, 2 * V], B: tensor<f32>[M, K], C: tensor<f32>[ceildiv(M, 64)]) {
  B[:, :] = 0.0
  C[:] = sum(A[:, :]) + f32(V)
}"""
    kernel = build(text)
    assert kernel.dims == ("M", "V", "K")
    assert kernel.given_dims == ("V", "K")


def test_run_time_spans_have_extents_of_their_own():
    text = """
kernel k(A: tensor<f32>[N], B: tensor<f32>[2], a: i32, b: i32) {
  for i in range(0, 2) {
    let x = A[i * a : b]
    B[i] = sum(x * x) + f32(extent(x, 0))
  }
}"""
    got = run(text, {"A": [1, 2, 3, 4]}, a=2, b=3)["B"]
    np.testing.assert_array_equal(got, [14 + 3, 9 + 1])
    assert run(text, {"A": [1, 2, 3, 4]}, a=9, b=3)["B"][1] == 0
    twice = text.replace("x * x", "A[i * a : b] * x")
    assert codes(twice) == ["E0312"]
    same = text.replace("[i * a : b]", "[i * a :+ b]").replace("x * x", "A[i :+ b] * x")
    assert codes(same) == []


def test_i64_reads_saturate_and_cannot_be_stored():
    text = "kernel k(A: tensor<i64>[N], B: tensor<i32>[N]) {\n  B[:] = A[:]\n}"
    got = run(text, {"A": np.array([2**40, -(2**40), 7])})["B"]
    np.testing.assert_array_equal(got, [2**31 - 1, -(2**31), 7])
    assert codes("kernel k(A: tensor<i64>[N]) {\n  A[:] = 0\n}") == ["E0311"]
