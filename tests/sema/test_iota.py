"""`iota`: rank and extent by unification."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sema.support import attempt, codes, run

X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("f32(iota(1)) + x", X + np.arange(4)),
        ("f32(iota(0)) + x", X + np.arange(3)[:, None]),
        ("where(iota(1) == t, x, 0.0)", X * (np.arange(4) == [[1], [3], [0]])),
        ("where(iota(1) <= iota(0), x, -1.0)", np.where(np.tri(3, 4, dtype=bool), X, -1)),
        ("where(iota(1) <= iota(0) + (V - M), x, 0.0)", np.tril(X, 1)),
        ("where(2 * iota(1) + 1 > 4 && x > 0.0, x, 0.0)", np.where((2 * np.arange(4) + 1 > 4) & (X > 0), X, 0)),
        ("where(iota(1) == 2, w, x)", np.where(np.arange(4) == 2, [10, 20, 30, 40], X)),
        ("pick(x, iota(0)) + 0.0 * x", np.repeat(np.diagonal(X)[:, None], 4, 1)),
        ("clamp(iota(1), 1, 2) * x", np.clip(np.arange(4), 1, 2) * X),
        ("onehot(t, V) * x", X * (np.arange(4) == [[1], [3], [0]])),
        ("onehot(t[:, :], V) + 0.0 * x * w", np.eye(4)[[1, 3, 0]]),
        ("iota(1, V) + 0.0 * x", np.broadcast_to(np.arange(4), (3, 4))),
        ("f32(sum(iota(0, 5))) + 0.0 * x", np.full((3, 4), 10)),
        ("pad(iota(1), 7) * x", np.arange(4) * X),
        ("f32(sum(iota(0, 8) + iota(1, 16))) + 0.0 * x", np.full((3, 4), 16 * 28 + 8 * 120)),
        ("f32(sum(u32(iota(2, 16) + iota(0, 8) * 3))) + 0.0 * x", np.full((3, 4), 8 * 120 + 48 * 28)),
        ("rowsum(where(iota(1) == 2, f32(iota(1, V)) * 0.25, 0.0)) + 0.0 * x", np.full((3, 4), 0.5)),
        ("where(iota(1) == rowsum(where(iota(1) == 2, iota(1, V), 0)), x, 0.0)", X * (np.arange(4) == 2)),
        ("where(iota(0, M) < sum(iota(0, 3)) - 2, x, 0.0)", X * (np.arange(3)[:, None] < 1)),
        ("where(iota(1) == sum(iota(0, 3)), x, 0.0)", X * (np.arange(4) == 3)),
        ("where(rowmax(iota(0, V)[new, :]) == iota(1), x, 0.0)", X * (np.arange(4) == 3)),
    ],
)
def test_iota_takes_its_shape_from_its_uses(expression: str, expected: np.ndarray):
    text = f"""
kernel k(X: tensor<f32>[M, V], T: tensor<i32>[M, 1], W: tensor<f32>[V], Y: tensor<f32>[M, V]) {{
  let x = X[:, :]
  let t = T[:, :]
  let w = W[:]
  Y[:, :] = {expression}
}}"""
    arrays = {"X": X, "T": [[1], [3], [0]], "W": [10, 20, 30, 40]}
    np.testing.assert_array_equal(run(text, arrays, dims={"M": 3, "V": 4})["Y"], expected)


def test_through_lets_functions_and_vars():
    text = """
fn mask(i, n) = where(i < n, 1.0, 0.0)
kernel k(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], Z: tensor<i32>[M, V]) {
  let i = iota(1)
  let m = mask(i, 2)
  Y[:, :] = m * X[:, :]
  var z: tile<i32>[M, V] = 0
  z = iota(0) * 10
  z += iota(1)
  Z[:, :] = z
}"""
    got = run(text, {"X": X})
    np.testing.assert_array_equal(got["Y"], X * (np.arange(4) < 2))
    np.testing.assert_array_equal(got["Z"], np.arange(3)[:, None] * 10 + np.arange(4))


def test_a_store_is_a_use():
    text = "kernel k(Y: tensor<i32>[M, V]) {\n  Y[:, :] = iota(0) * V + iota(1)\n}"
    np.testing.assert_array_equal(run(text, {}, dims={"M": 2, "V": 3})["Y"], [[0, 1, 2], [3, 4, 5]])


def test_one_iota_may_wait_for_another():
    text = """
kernel k(X: tensor<f32>[M, V], Y: tensor<f32>[M, 1]) {
  let hot = where(iota(1) == rowargmax(X[:, :]), 1.0, 0.0 * X[:, :])
  Y[:, :] = rowsum(where(iota(1) < 3, hot, 0.0))
}"""
    np.testing.assert_array_equal(run(text, {"X": X})["Y"], [[0]] * 3)


def test_in_loops_and_branches():
    text = """
kernel k(X: tensor<f32>[M, V], Y: tensor<f32>[M, V], n: i32) {
  var y = X[:, :]
  for c in range(0, V) {
    if c > n {
      y += where(iota(1) == c, 100.0, 0.0)
    }
  }
  Y[:, :] = y
}"""
    np.testing.assert_array_equal(run(text, {"X": X}, n=1)["Y"], X + np.where(np.arange(4) > 1, 100, 0))


def test_rank_three():
    text = """
kernel k(X: tensor<f32>[B, T, V], I: tensor<i32>[B, T, 1], Y: tensor<f32>[B, T, V]) {
  Y[:, :, :] = where(iota(2) == I[:, :, :] && iota(1) > 0 && iota(0) < 1, X[:, :, :], 0.0)
}"""
    x = np.arange(1, 13, dtype=np.float32).reshape(2, 2, 3)
    i = np.array([[[0], [2]], [[1], [1]]], np.int32)
    expected = np.zeros_like(x)
    expected[0, 1, 2] = x[0, 1, 2]
    np.testing.assert_array_equal(run(text, {"X": x, "I": i})["Y"], expected)


def test_the_widest_of_several_operands_tells_the_rank():
    text = """
kernel k(W: tensor<i32>[B, M], X: tensor<i32>[D, B, M, V], Y: tensor<i32>[D, B, M, V]) {
  Y[:, :, :, :] = where(X[:, :, :, :] > 0, W[:, :, new], iota(1, B) + 6)
}"""
    w, x = np.arange(6).reshape(2, 3), np.arange(24).reshape(1, 2, 3, 4) % 2
    expected = np.where(x > 0, w[:, :, None], np.arange(2)[:, None, None] + 6)
    np.testing.assert_array_equal(run(text, {"W": w, "X": x})["Y"], expected)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("Y[0] = f32(sum(iota(0)))", "E0306"),
        ("Y[0] = rowsum(where(iota(1) == T[:, :], 1.0, 0.0))[0]", "E0306"),
        ("let i = iota(1)\n  Y[0] = sum(i * X[:, :]) + sum(i * Z[:, :])", "E0307"),
        ("let i = iota(0)\n  Y[0] = sum(i * X[:, :]) + sum(i * W[:])", "E0307"),
        ("Y[0] = f32(sum(iota(n, 4)))", "E0324"),
        ("Y[0] = f32(sum(iota(-1, 4)))", "E0323"),
        ("Y[0] = f32(sum(iota(0, 4.0)))", "E0315"),
    ],
)
def test_faults(body: str, code: str):
    text = f"""
kernel k(X: tensor<f32>[M, V], Z: tensor<f32>[M, U], W: tensor<f32>[V], T: tensor<i32>[M, 1],
         Y: tensor<f32>[1], n: i32) {{
  {body}
}}"""
    found = [c for c in codes(text) if c.startswith("E")]
    assert code in found


def test_an_iota_adapts_to_u32():
    text = "kernel k(A: tensor<u32>[N], B: tensor<u32>[N]) {\n  B[:] = A[:] * iota(0) + N\n}"
    np.testing.assert_array_equal(run(text, {"A": [5, 6, 7]})["B"], [3, 9, 17])


def test_extents_known_only_inside_a_loop():
    text = """
kernel k(A: tensor<i32>[N], B: tensor<i32>[N], s: i32) {
  for i in range(0, 3) {
    let x = A[i * s : i * s + i + 1]
    B[i] = sum(x * iota(0))
  }
}"""
    a = np.arange(10, dtype=np.int32) + 1
    expected = [sum(int(a[i * 2 + j]) * j for j in range(i + 1)) for i in range(3)] + [0] * 7
    kernel, found = attempt(text)
    assert kernel is not None, found
    np.testing.assert_array_equal(run(text, {"A": a}, s=2)["B"], expected)
