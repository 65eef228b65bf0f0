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

kernel picked(X: tensor<f32>[M, V], T: tensor<i32>[M], S: tensor<f32>[M, 1], G: tensor<f32>[M, 1],
              H: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 4
  let s = S[r :+ 4, :]
  let x = X[r :+ 4, 0 :+ 8]
  let t = T[r :+ 4, new]
  G[r :+ 4, :] = grad(pick(x + s, t), s)
  H[r :+ 4, :] = grad(pick(x * s, t), s)
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


def test_a_pick_of_a_lane_outside_sends_nothing(m):
    x = np.arange(1, 21, dtype=F32).reshape(4, 5)
    r = m.picked(x, np.array([3, 6, -1, 4], np.int32), np.ones((4, 1), F32), device="numpy")
    assert r.G[:, 0].tolist() == [1, 0, 0, 1]
    assert r.H[:, 0].tolist() == [x[0, 3], 0, 0, x[3, 4]]
