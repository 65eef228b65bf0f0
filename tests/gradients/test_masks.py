"""Lanes that are not active get no gradient, and send none."""

from __future__ import annotations

import numpy as np
import pytest

import tilec

F32 = np.float32
SOURCE = """
kernel fill(X: tensor<f32>[M], F: tensor<f32>[1], G: tensor<f32>[1]) {
  let f = F[0]
  let y = sum(pad(X[0 :+ 8], f) * f)
  G[0] = grad(y, f)
}

kernel kept(X: tensor<f32>[M], W: tensor<f32>[8], G: tensor<f32>[8]) {
  let w = W[:]
  var acc: tile<f32>[8] = 0.0
  acc = w
  acc = X[0 :+ 8]
  let y = sum(square(acc))
  G[:] = grad(y, w)
}

kernel lessened(X: tensor<f32>[M], W: tensor<f32>[8], G: tensor<f32>[M]) {
  let x = X[0 :+ 8]
  var acc: tile<f32>[8] = 1.0
  acc -= square(x)
  let y = sum(acc * W[:])
  G[0 :+ 8] = grad(y, x)
}

kernel picked(X: tensor<f32>[M, V], T: tensor<i32>[M], S: tensor<f32>[M, 1], G: tensor<f32>[M, 1],
              H: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  let s = S[r :+ 4, :]
  let x = X[r :+ 4, 0 :+ 8]
  let t = T[r :+ 4, new]
  G[r :+ 4, :] = grad(pick(x + s, t), s)
  H[r :+ 4, :] = grad(pick(x * s, t), s)
}

kernel weights(X: tensor<f32>[M, V], W: tensor<f32>[1, V], U: tensor<f32>[M, 1], G: tensor<f32>[1, V],
               H: tensor<f32>[M, 1], S: tensor<f32>[1, V]) {
  let w = W[:, :]
  let u = U[:, :]
  let x = X[:, :]
  G[:, :] = grad(sum(exp(x - logsumexp(x)) * w), w)
  S[:, :] = colsum(x)
  H[:, :] = grad(sum(x * u), u)
}

kernel largest(X: tensor<f32>[M, V], G: tensor<f32>[M, V]) {
  let x = X[:, :]
  G[:, :] = grad(sum(rowmax(x)), x)
}
"""


@pytest.fixture(scope="module")
def m():
    return tilec.compile(source=SOURCE)


def test_a_fill_gets_the_gradient_of_the_lanes_that_it_fills(m):
    x = np.arange(1, 6, dtype=F32)
    # The sum is f sum(x) + 3 f^2.
    assert m.fill(x, np.array([2.0], F32), device="numpy").G.tolist() == [x.sum() + 3 * 2 * 2.0]


def test_what_an_assignment_keeps_gets_the_gradient_of_the_lanes_kept(m):
    w = np.arange(1, 9, dtype=F32)
    got = m.kept(np.ones(5, F32), w, device="numpy").G
    assert got.tolist() == [0, 0, 0, 0, 0, 12, 14, 16]


def test_what_is_subtracted_from_some_lanes_gets_the_opposite_gradient(m):
    x, w = np.arange(1, 6, dtype=F32), np.arange(8, dtype=F32)
    assert m.lessened(x, w, device="numpy").G.tolist() == (-2 * x * w[:5]).tolist()


def test_a_pick_of_a_lane_outside_sends_nothing(m):
    x = np.arange(1, 21, dtype=F32).reshape(4, 5)
    r = m.picked(x, np.array([3, 6, -1, 4], np.int32), np.ones((4, 1), F32), device="numpy")
    assert r.G[:, 0].tolist() == [1, 0, 0, 1]
    assert r.H[:, 0].tolist() == [x[0, 3], 0, 0, x[3, 4]]


@pytest.mark.parametrize("shape", [(3, 5), (4, 4)])
def test_what_is_known_of_sums_along_another_axis_is_not_taken(m, shape):
    x = np.random.default_rng(0).normal(size=shape).astype(F32)
    rows, columns = np.ones((shape[0], 1), F32), np.ones((1, shape[1]), F32)
    r = m.weights(x, columns, rows, device="numpy")
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(r.G, p.sum(0, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(r.S, x.sum(0, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(r.H, x.sum(1, keepdims=True), rtol=1e-5)


def test_all_lanes_of_a_row_with_a_nan_get_a_nan(m):
    x = np.array([[1, np.nan, 3], [4, 2, 4]], F32)
    got = m.largest(x, device="numpy").G
    assert np.isnan(got[0]).all()
    assert got[1].tolist() == [0.5, 0, 0.5]
