"""Tensors that are larger than what a device binds at once, or than one buffer: launched on windows of rows."""

from __future__ import annotations

import re
import warnings

import ml_dtypes
import numpy as np
import pytest

import tilec
from tilec.runtime.windowed import Windowed

BINDING = "max-storage-buffer-binding-size"
F32 = np.float32
SOURCE = """
kernel add<T: f32|f16|bf16>(X: tensor<T>[M, N], W: tensor<f32>[N], Sum: tensor<f32>[M], by: f32 = 1.0) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :] + W[new, :] * by
  Sum[r :+ 8, new] = rowsum(x)
  X[r :+ 8, :] = x
}

kernel flip(X: tensor<u8>[M, N], Flag: tensor<u8>[M]) {
  let r = ctx.block.x * 2
  Flag[r :+ 2, new] = rowsum(i32(X[r :+ 2, :]))
  X[r :+ 2, :] = 255 - X[r :+ 2, :]
}

kernel planes(X: tensor<f32>[B, T, V], Y: tensor<f32>[B, T]) {
  Y[ctx.block.y, ctx.block.x] = amax(X[ctx.block.y, ctx.block.x, :])
}

kernel in_turn(X: tensor<f32>[M, N]) {
  let r = ctx.block.x * 4
  for i in range(0, 4) {
    X[r + i, :] = X[r + i, :] + f32(i)
  }
}

kernel iota_rows(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, :] = X[r :+ 4, :] + f32(iota(0))
}

kernel total(X: tensor<f32>[M, N], Y: tensor<f32>[1]) {
  Y[0] = sum(X[:, :])
}

kernel mean_of(X: tensor<f32>[M, N]) {
  let r = ctx.block.x * 4
  X[r :+ 4, :] = X[r :+ 4, :] / f32(M)
}

kernel numbered(X: tensor<f32>[M, N]) {
  let r = ctx.block.x * 4
  X[r :+ 4, :] = X[r :+ 4, :] + f32(r)
}

kernel two_ways(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  Y[ctx.block.x * 4 :+ 4, :] = X[ctx.block.x * 8 :+ 4, :]
}

kernel shifted(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, :] = X[r + 1 :+ 4, :] else 0.0
}

kernel halves(X: tensor<f32>[2 * M, N], Y: tensor<f32>[M, N]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, :] = X[r :+ 4, :]
}

kernel gathered(X: tensor<f32>[M, N], T: tensor<i32>[M], Y: tensor<f32>[M, N]) {
  Y[ctx.block.x, :] = X[T[ctx.block.x], :]
}

@disjoint(Y)
kernel scattered(X: tensor<f32>[M, N], T: tensor<i32>[M], Y: tensor<f32>[K]) {
  Y[T[ctx.block.x]] = sum(X[ctx.block.x, :])
}

kernel wide(X: tensor<f32>[M, N]) {
  let r = ctx.block.x * 16
  X[r :+ 16, :] = X[r :+ 16, :] - colmean(X[r :+ 16, :])
}

kernel flat(X: tensor<f32>[K]) {
  let i = ctx.block.x * 64
  X[i :+ 64] = X[i :+ 64] * 2.0
}

kernel loss(X: tensor<f32>[M, V], T: tensor<i32>[M], L: tensor<f32>[M]) {
  let x = X[ctx.block.x :+ 1, :]
  L[ctx.block.x] = sum(logsumexp(x) - pick(x, T[ctx.block.x :+ 1, new]))
}
"""


@pytest.fixture(scope="module")
def m() -> tilec.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tilec.CompileWarning)
        return tilec.compile(source=SOURCE, name="windows.ph")


@pytest.fixture(scope="module")
def small() -> tilec.Device:
    """Lavapipe, opened so that the driver itself binds 4 KiB at most."""
    return tilec.device("lavapipe", limits={BINDING: 4096})


def counted(*shape: int, dtype: type = F32) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 97).reshape(shape).astype(dtype)


def windows_of(kernel: tilec.Kernel) -> Windowed:
    [*made] = kernel._prepared._values.values()
    assert isinstance(made[-1], Windowed)
    return made[-1]


@pytest.mark.parametrize("dtype", [F32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(300, 101), (129, 33), (1000, 5), (257, 64), (64, 127)])
def test_every_row_once_and_no_other(m, small, shape, dtype):
    given, weights = counted(*shape, dtype=dtype), np.ones(shape[1], F32)
    expected = (given.astype(F32) + 2).astype(dtype)
    r = m.add(given, weights, 2.0, device=small)
    np.testing.assert_array_equal(r.X, expected)
    np.testing.assert_array_equal(r.Sum, expected.astype(F32).sum(1))
    # Device arrays: parts of one buffer are bound, or copied where no binding may start.
    on_device = small.array(given)
    r = m.add(on_device, weights, 2.0)
    assert r.X is on_device
    np.testing.assert_array_equal(on_device.numpy(), expected)
    np.testing.assert_array_equal(r.Sum.numpy(), expected.astype(F32).sum(1))


def test_the_driver_holds_the_limit(m, small):
    given, on_device = counted(200, 64), small.array(counted(200, 64))
    assert small.limits[BINDING] == 4096 < given.nbytes
    made = m.add.bind(on_device, np.zeros(64, F32))
    layout = windows_of(m.add)._on_device
    assert layout.rows == 16
    assert layout.copied == {"Sum"}
    for _ in range(2):
        np.testing.assert_array_equal(made.launch().Sum.numpy(), given.sum(1))
    with small.batch():
        made.launch(W=small.array(np.ones(64, F32)))
        made.launch()
    np.testing.assert_array_equal(on_device.numpy(), given + 1)


@pytest.mark.parametrize(("columns", "rows", "copied"), [(12, 64, set()), (36, 16, {"Sum"}), (25, 40, {"X", "Sum"})])
def test_windows_begin_where_a_binding_may_if_enough_rows_fit(m, small, columns, rows, copied):
    """A binding starts at a multiple of 256 bytes, and 4,096 fit: what starts elsewhere is copied there and back."""
    on_device = small.array(counted(200, columns))
    made = m.add.bind(on_device, np.ones(columns, F32))
    layout = windows_of(m.add)._on_device
    assert (layout.rows, layout.copied) == (rows, copied)
    made.launch()
    np.testing.assert_array_equal(on_device.numpy(), counted(200, columns) + 1)


def test_bytes_share_words_between_windows(m, small):
    given = counted(2001, 7, dtype=np.uint8)
    for argument in (given, small.array(given)):
        r = m.flip(argument, device=small)
        np.testing.assert_array_equal(np.asarray(r.X), 255 - given)
        np.testing.assert_array_equal(np.asarray(r.Flag), given.sum(1).astype(np.uint8))


def test_other_forms_of_rows(m, small):
    given = counted(50, 6, 9)
    np.testing.assert_array_equal(m.planes(given, device=small).Y, given.max(2))
    given = counted(600, 5)
    added = given + np.arange(600)[:, None] % 4
    np.testing.assert_array_equal(m.in_turn(small.array(given)).X.numpy(), added)
    np.testing.assert_array_equal(m.iota_rows(given, device=small).Y, added)
    np.testing.assert_array_equal(m.flat(counted(5000), device=small).X, counted(5000) * 2)


def test_scratch_memory_makes_windows_too(m, small):
    """16-bit rows that share words have a shadow of 32-bit elements in scratch memory."""
    given = counted(60, 25, dtype=np.float16)
    assert given.nbytes < small.limits[BINDING] < given.size * 4
    np.testing.assert_array_equal(m.add(given, np.ones(25, F32), device=small).X, given + np.float16(1))
    np.testing.assert_array_equal(m.add(small.array(given), np.ones(25, F32)).X.numpy(), given + np.float16(1))


@pytest.mark.parametrize(
    ("kernel", "words", "line"),
    [
        ("total", "a block touches more rows of X than its own", "Y[0] = sum(X[:, :])"),
        ("mean_of", "the number of rows, M, is used as a number", "X[r :+ 4, :] / f32(M)"),
        ("numbered", "ctx.block.x is used for more than the rows of a block", "+ f32(r)"),
        ("shifted", "a block touches rows of X that are other blocks' too", "X[r + 1 :+ 4, :] else"),
        ("two_ways", "blocks touch rows of Y in more than one way", "= X[ctx.block.x * 8 :+ 4, :]"),
        ("halves", "the number of rows of X is 2 * M, which is no size of its own", ""),
        ("gathered", "a block touches more rows of X than its own", "X[T[ctx.block.x], :]"),
        ("scattered", "it writes Y, which has no rows of M", "Y[T[ctx.block.x]] ="),
    ],
)
def test_what_needs_all_rows_is_refused_with_the_reason(m, small, kernel, words, line):
    given = {"X": counted(400, 8)}
    given |= {"T": np.arange(400, dtype=np.int32)} if kernel in ("gathered", "scattered") else {}
    given |= {"K": 400} if kernel == "scattered" else {}
    given |= {"M": 200} if kernel == "halves" else {}
    limit = rf"{kernel} \(windows\.ph:\d+\): X \[400, 8\] of 12,800 bytes is more than .* at once, 4,096 \({BINDING}\)"
    way = r"this adapter offers more: tilec\.device\(\d+, limits=\{'max-storage-buffer-binding-size': 12800\}\)"
    number = next(i for i, text in enumerate(SOURCE.split("\n"), 1) if line in text)
    place = rf" \(windows\.ph:{number}\)" if line else ""
    with pytest.raises(tilec.DeviceError, match=f"{limit}, and .*: {re.escape(words)}{place}; {way}"):
        m[kernel](**given, device=small)


def test_one_block_that_is_too_large_is_refused(m, small):
    with pytest.raises(tilec.DeviceError, match=r"16 rows of a block are too many .*fewer rows a block"):
        m.wide(counted(64, 80), device=small)
    np.testing.assert_allclose(m.wide(counted(64, 60), device=small).X.mean(), 0, atol=1e-4)


def test_host_arrays_may_be_larger_than_any_buffer(m):
    tiny = tilec.device("lavapipe", limits={"max-buffer-size": 1 << 20, BINDING: 1 << 20})
    given = counted(9000, 64)
    assert given.nbytes > tiny.limits["max-buffer-size"]
    r = m.add(given, np.ones(64, F32), device=tiny)
    np.testing.assert_array_equal(r.X, given + 1)
    np.testing.assert_array_equal(r.Sum, (given + 1).sum(1))
    with pytest.raises(tilec.DeviceError, match=r"over its limit of 1,048,576 bytes \(max-buffer-size\); split"):
        tiny.array(given)


def test_a_row_of_four_million_classes(m, lavapipe):
    classes = 4_000_003
    given = (np.arange(2 * classes, dtype=np.int64) * 7919 % 1000).reshape(2, classes).astype(F32) / 500
    wide = given.astype(np.float64)
    right = np.log(np.exp(wide).sum(1)) - wide[[0, 1], [3, classes - 1]]
    got = m.loss(given, np.array([3, classes - 1]), device=lavapipe).L
    np.testing.assert_allclose(got, right, rtol=1e-6)


def test_more_workgroups_than_an_axis_holds_are_folded(m, lavapipe, monkeypatch):
    monkeypatch.setitem(lavapipe.limits, "max-compute-invocations-per-workgroup", 1)
    rows = 65_535 + 8
    given = counted(rows, 2)
    bound = m.loss.bind(given, np.zeros(rows, np.int32), device=lavapipe)
    assert max(step[2][1] for step in bound._work.steps) == 2
    right = np.log(np.exp(given.astype(np.float64)).sum(1)) - given[:, 0]
    np.testing.assert_allclose(bound.launch().L.numpy(), right, rtol=1e-5, atol=1e-5)
