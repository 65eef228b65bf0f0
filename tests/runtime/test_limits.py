"""Limits before a launch: each is named with its value and a way out; and how much of a tensor fits into one launch, at
sizes that no test could allocate."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import tilec
from tilec import driver
from tilec.options import Options
from tilec.runtime.limits import MOST_OF_AN_AXIS, check_launch, most_rows, too_large, why_large
from tilec.runtime.prepared import tensor_shapes
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


# --- what a launch needs -----------------------------------------------------------------------------------------

TOTALS = """
kernel totals(X: tensor<f32>[M, N], T: tensor<i32>[M], Row: tensor<f32>[M], Total: tensor<f32>[1], by: f32) {
  let x = X[:, :]
  let loss = logsumexp(x) * by - pick(x, T[:, new])
  Row[:, new] = loss
  Total[0] = sum(loss)
}
"""
SIZES = {"M": 4000, "N": 300}
THREADS = "ask for fewer threads with @threads(n) on the kernel"
ROWS = "launch on fewer rows at a time"
LIMITS = [
    ("max-compute-invocations-per-workgroup", "threads of a workgroup", 16, THREADS),
    ("max-compute-workgroup-size-x", "threads of a workgroup", 16, THREADS),
    ("max-compute-workgroup-storage-size", "bytes of workgroup memory", 64, THREADS),
    ("max-storage-buffers-per-shader-stage", "tensors and scratch", 2, "merge tensors of one shape and type, or split"),
    ("max-storage-buffer-binding-size", "the bytes of X [4000, 300]", 1 << 20, ROWS),
    ("max-uniform-buffer-binding-size", "the bytes of sizes and scalars", 8, "fix scalars with specialize(), or pass"),
]


@pytest.mark.parametrize(("limit", "what", "value", "way"), LIMITS, ids=[limit for limit, *_ in LIMITS])
@pytest.mark.parametrize("offers_more", [False, True])
def test_a_limit_is_named_with_its_value_and_a_way_out(lavapipe, monkeypatch, limit, what, value, way, offers_more):
    compiled = driver.compile_built(tilec.compile(source=TOTALS).totals._variants({}).kernel, SIZES, Options())
    shapes = tensor_shapes(compiled.kernel, SIZES)
    check_launch(compiled, lavapipe, shapes, SIZES)
    monkeypatch.setitem(lavapipe.limits, limit, value)
    if not offers_more:
        monkeypatch.setattr(lavapipe, "info", replace(lavapipe.info, limits={limit: value}))
    with pytest.raises(tilec.DeviceError) as refused:
        check_launch(compiled, lavapipe, shapes, SIZES)
    words = str(refused.value)
    assert words.startswith("totals: ")
    found = re.search(rf"{re.escape(what)}: ([\d,]+) is more than .* allows, {value:,} \({limit}\); (.*)$", words)
    assert found, words
    needed = int(found[1].replace(",", ""))
    assert needed > value
    if offers_more:
        index = lavapipe.info.index
        assert found[2] == f"this adapter offers more: tilec.device({index}, limits={{'{limit}': {needed}}})"
    else:
        assert way in found[2]


def test_too_many_workgroups_are_named(lavapipe, monkeypatch):
    compiled = driver.compile_built(tilec.compile(source=SOURCE).touch._variants({}).kernel, None, Options())
    sizes = {"M": 100_000, "N": 3}
    limit = "max-compute-workgroups-per-dimension"
    monkeypatch.setitem(lavapipe.limits, limit, 5)
    words = r"touch: the dispatch touch: [\d,]+ workgroups are more than .* launches, 5 an axis of two "
    with pytest.raises(tilec.DeviceError, match=rf"{words}\({limit}\); {ROWS}"):
        check_launch(compiled, lavapipe, tensor_shapes(compiled.kernel, sizes), sizes)


def test_scratch_memory_is_bound_too(lavapipe, monkeypatch):
    """Its way out is the same as a tensor's."""
    kernel = tilec.compile(source=TOTALS).totals._variants({}).kernel
    compiled = driver.compile_built(kernel, None, Options(fusion=False))
    shapes = {name: (1,) for name in tensor_shapes(kernel, SIZES)}
    monkeypatch.setitem(lavapipe.limits, BINDING, 4096)
    monkeypatch.setattr(lavapipe, "info", replace(lavapipe.info, limits={}))
    words = rf"totals: the bytes of scratch memory: .* 4,096 \({BINDING}\); {ROWS}"
    with pytest.raises(tilec.DeviceError, match=words):
        check_launch(compiled, lavapipe, shapes, SIZES)


MANY = """
kernel many(A: tensor<f32>[M], B: tensor<f32>[M], C: tensor<i32>[M], D: tensor<f32>[M], E: tensor<f32>[M, M],
            F: tensor<f32>[M], G: tensor<f16>[M], H: tensor<f32>[M], Y: tensor<f32>[M], s: f32, n: i32) {
  Y[:] = A[:] + B[:] + C[:] + D[:] + E[:, 0] + F[:] + G[:] + H[:] + s + n
}
"""


@pytest.mark.filterwarnings("ignore::tilec.CompileWarning")
def test_too_many_tensors_are_told_which_to_merge():
    """Those of one type, shape and use; scalars are not in the way."""
    with pytest.raises(tilec.CompileError) as refused:
        tilec.compile(source=MANY).many.wgsl()
    [found] = refused.value.diagnostics
    assert found.code == "E0506"
    assert "needs 9 storage buffers; the limit is 8" in found.message
    assert "9 tensors; scalars and sizes share one uniform buffer" in found.label
    assert "merge A, B, D, F and H, all f32, into one tensor of [5, M], or split the kernel in two" in found.hint
