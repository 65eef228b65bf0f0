"""How much of a tensor fits into one launch, at sizes that no test could allocate."""

from __future__ import annotations

import pytest

import tilec
from tilec.runtime.limits import MOST_OF_AN_AXIS, most_rows, too_large, why_large
from tilec.tile.ir import TensorParameter

BINDING = "max-storage-buffer-binding-size"
SOURCE = """
kernel touch(X: tensor<f32|f16|u8>[M, N]) {
  let r = ctx.block.x * 4
  X[r :+ 4, :] = X[r :+ 4, :]
}
"""


def tensor(dtype: str) -> TensorParameter:
    kernel = tilec.compile(source=SOURCE).touch
    [found] = kernel._variants(kernel._asked_dtypes({"X": dtype})).kernel.tensors
    return found


@pytest.mark.parametrize(
    ("dtype", "shape", "binding", "rows"),
    [
        ("f32", (8192, 32768), (1 << 31) - 1, 8192),  # 1 GiB on a device that binds 2 GiB
        ("f32", (8192, 131072), (1 << 31) - 1, 4095),  # 4 GiB there
        ("f16", (8192, 131072), (1 << 31) - 1, 8191),  # 2 GiB, one byte too many
        ("f32", (8192, 131072), 128 << 20, 256),
        ("u8", (1 << 20, 1 << 13), 1 << 34, (1 << 19) - 1),  # 8 GiB: elements are numbered in 32 bits
        ("u8", ((1 << 31) - 1, 1), 1 << 34, MOST_OF_AN_AXIS),
        ("f32", (4, 40_000_000), 128 << 20, 0),  # not even one row
        ("f32", (0, 40_000_000), 128 << 20, 0),
    ],
)
def test_rows_of_a_window(lavapipe, monkeypatch, dtype, shape, binding, rows):
    monkeypatch.setitem(lavapipe.limits, BINDING, binding)
    parameter = tensor(dtype)
    assert most_rows(lavapipe, parameter, shape) == rows
    assert too_large(lavapipe, parameter, shape) == (rows < shape[0])


def test_reasons(lavapipe, monkeypatch):
    monkeypatch.setitem(lavapipe.limits, BINDING, 1 << 34)
    parameter = tensor("u8")
    assert "has 8,589,934,592 elements, and a shader numbers at most 4,294,967,295" in why_large(
        lavapipe, parameter, (1 << 20, 1 << 13)
    )
    assert "more rows than a shader counts" in why_large(lavapipe, parameter, ((1 << 31) - 1, 1))
    monkeypatch.setitem(lavapipe.limits, BINDING, 1 << 27)
    assert "X [1048576, 256] of 268,435,456 bytes is more than" in why_large(lavapipe, parameter, (1 << 20, 1 << 8))
