"""The library's losses assert that classes are columns, and leave ignored rows alone."""

from __future__ import annotations

import numpy as np
import pytest

from tests.debug.harness import Case, build, derive, told
from tests.diff import backends

LAVAPIPE = backends.DEVICE_NAMES[0]
KERNEL = """
kernel k(A: tensor<f32>[M, V], T: tensor<i32>[M], L: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  let x = A[r :+ 4, :]
  let t = T[r :+ 4, new]
  BODY
  L[r :+ 4, new] = loss
}
"""
LOGITS = np.sin(np.arange(24, dtype=np.float32)).reshape(6, 4)
CLASSES = np.array([0, 4, 3, -100, 1, 7], np.int32)
PLAIN = [
    "cross_entropy(x, t)",
    "nll_loss(log_softmax(x), t)",
    "cross_entropy_smooth(x, t, 0.1)",
    "cross_entropy_weighted(x, t, x[:, :])",
    "focal_loss(x, t)",
    "multi_margin_loss(x, t)",
    "info_nce(x, t)",
    "class_logp(x, t)",
]


def run(body: str, classes: np.ndarray = CLASSES) -> list[tuple[int, int]]:
    """The blocks and rows for which an assert fails."""
    log = Case(build(KERNEL.replace("BODY", body)), {"A": LOGITS, "T": classes}).check()
    return [(block, index[0]) for _, block, index, _ in told(log, "assert")]


@pytest.mark.parametrize("loss", PLAIN)
def test_a_class_behind_the_last_column(loss):
    """A negative class is taken for a row that the caller leaves out."""
    assert run(f"let loss = {loss}") == [(0, 1), (1, 1)]


def test_the_statement():
    assert run("var loss = rowsum(x)\n  cross_entropy(loss, x, t)") == [(0, 1), (1, 1)]


@pytest.mark.parametrize("loss", PLAIN)
def test_rows_that_a_where_leaves_out_need_no_class(loss):
    assert run(f"let loss = where(t != 7, {loss}, 0.0)") == [(0, 1)]


@pytest.mark.parametrize(
    ("loss", "wrong"),
    [
        ("training_cross_entropy(x, t, smoothing: 0.1, z: 0.001)", [(0, 1), (1, 1)]),
        ("training_cross_entropy(x, t, ignore_index: 7)", [(0, 1), (0, 3)]),
        ("token_accuracy(x, t, ignore_index: 4)", [(0, 3), (1, 1)]),
        ("f32(is_class(x, t))", [(0, 1), (1, 1)]),
    ],
)
def test_what_knows_the_ignored_class(loss, wrong):
    assert run(f"let loss = {loss}") == wrong


def test_right_classes_on_a_device_and_in_a_derived_kernel():
    text = KERNEL.replace("BODY", "let loss = training_cross_entropy(x, t, smoothing: 0.1, z: 0.001)")
    classes = np.array([0, 3, -100, 1, 2, 0], np.int32)
    for kernel in (build(text), derive(text, ["A"], upstream="scalar")):
        log = Case(kernel, {"A": LOGITS, "T": classes}).check([LAVAPIPE])
        assert log.records == []
        log = Case(kernel, {"A": LOGITS, "T": CLASSES}).check([LAVAPIPE])
        assert [(block, index[0]) for _, block, index, _ in told(log, "assert")] == [(0, 1), (1, 1)]


def test_a_tile_without_rows():
    text = "kernel k(A: tensor<f32>[V], T: tensor<i32>[1], L: tensor<f32>[1]) { L[0] = cross_entropy(A[:], T[0]) }"
    for target, count in ((3, 0), (4, 1)):
        arrays = {"A": LOGITS[0], "T": np.array([target], np.int32)}
        assert len(told(Case(build(text), arrays).check(), "assert")) == count
