"""Kernels on devices: device arrays, in place, aliasing, limits, caches."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import tilec
from tests.api.test_calls import SOURCE, x
from tests.diff import tint
from tilec.runtime import kernel as kernel_module

F32 = np.float32


@pytest.fixture(scope="module")
def m() -> tilec.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tilec.CompileWarning)
        return tilec.compile(source=SOURCE, name="calls.ph")


def test_host_arrays_in_and_out(m, device):
    given = x(9, 5)
    r = m.double(given, 1.0, device=device)
    np.testing.assert_array_equal(r.B, 2 * x(9, 5) + 1)
    np.testing.assert_array_equal(given, x(9, 5))
    assert r.B.flags.writeable
    assert m.double(x(0, 5), device=device).B.shape == (0, 5)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_storage_types(m, device, dtype):
    array = device.array(x(5, 7), dtype=dtype)
    host = array.numpy()
    r = m.scale(host, np.ones(7, host.dtype), 2.0, device=device)
    assert r.X.dtype == host.dtype
    np.testing.assert_array_equal(r.X.astype(F32), 2 * x(5, 7))


def test_device_arrays_stay_and_are_updated_in_place(m, device):
    a, w = device.array(x(6, 3)), device.array(x(3))
    r = m.scale(a, w, 2.0)
    assert r.X is a
    np.testing.assert_array_equal(a.numpy(), x(6, 3) * x(3) * 2)
    np.testing.assert_array_equal(np.asarray(w), x(3))
    m.scale(a, w, 2.0)
    m.scale(X=a, W=w, factor=0.5)
    np.testing.assert_array_equal(a.numpy(), x(6, 3) * x(3).astype(F32) ** 3 * 2)


def test_outputs_stay_on_the_device(m, device):
    a = device.array(x(6, 3))
    for _ in range(3):  # the second launch takes another way through the caches
        r = m.double(a, 1.0)
        assert isinstance(r.B, tilec.DeviceArray)
        assert r.B.device is device
        np.testing.assert_array_equal(r.B.numpy(), 2 * x(6, 3) + 1)
    kept = [m.double(a, float(shift)).B for shift in range(5)]
    for shift, array in enumerate(kept):
        np.testing.assert_array_equal(array.numpy(), 2 * x(6, 3) + shift)


def test_an_output_can_be_a_device_array(m, device):
    a, b = device.array(x(6, 3)), device.array(np.zeros((6, 3), F32))
    for shift in (1.0, 2.0):
        r = m.double(a, shift, B=b)
        assert r.B is b
        np.testing.assert_array_equal(b.numpy(), 2 * x(6, 3) + shift)
    wrong = device.array(np.zeros((6, 4), F32))
    with pytest.raises(tilec.ArrayError, match=r"N is 3 by axis 1 of A \[6, 3\], but 4 by axis 1 of B \[6, 4\]"):
        m.double(a, B=wrong)


def test_what_no_block_writes_is_zero(device):
    module = tilec.compile(
        source="@grid(1)\nkernel k(A: tensor<f32>[M], B: tensor<f32>[M]) {\n  B[0 :+ 4] = A[0 :+ 4]\n}\n"
    )
    a = device.array(x(10) + 1)
    expected = [1, 2, 3, 4, 0, 0, 0, 0, 0, 0]
    for _ in range(3):
        r = module.k(a)
        assert r.B.numpy().tolist() == expected
        # Memory that comes back used must be cleared.
        device.write(r.B.buffer, np.full(10, 7, F32))
        del r
    assert module.k(x(10) + 1, device=device).B.tolist() == expected


def test_host_and_device_arrays_mix(m, device):
    a = device.array(x(6, 3))
    np.testing.assert_array_equal(m.scale(a, x(3), 2.0).X.numpy(), x(6, 3) * x(3) * 2)
    r = m.pair(a, np.ones((6, 2), F32))
    assert isinstance(r.Out, tilec.DeviceArray)


def test_device_arrays_describe_themselves(device):
    a = device.array(x(2, 3), dtype="f16")
    assert (a.shape, a.dtype.label, a.size, a.ndim, a.nbytes, len(a)) == ((2, 3), "f16", 6, 2, 12, 2)
    assert repr(a).startswith("<DeviceArray f16[2, 3] on ")
    with pytest.raises(tilec.ArrayError, match="data: a float64 array for f32"):
        device.array(np.array([0.1]), dtype="f32")
    with pytest.raises(tilec.ArrayError, match="no storage type is called 'f99'"):
        device.array(x(2), dtype="f99")


def test_a_freed_array_is_refused_in_words(m, device):
    a = device.array(x(2, 2))
    m.double(a)
    a.free()
    with pytest.raises(tilec.DeviceError, match="freed"):
        m.double(a)


def test_one_array_for_two_parameters(device):
    module = tilec.compile(
        source="""
kernel read(A: tensor<f32>[M], B: tensor<f32>[M], C: tensor<f32>[M]) {
  C[:] = A[:] + B[:]
}
kernel write(A: tensor<f32>[M], B: tensor<f32>[M]) {
  A[:] = A[:] + B[:]
}
"""
    )
    a = device.array(x(4))
    for _ in range(2):
        np.testing.assert_array_equal(module.read(a, a).C.numpy(), 2 * x(4))
        with pytest.raises(tilec.ArrayError, match="A and B are the same array, and write writes A"):
            module.write(a, a)
        with pytest.raises(tilec.ArrayError, match="A and C are the same array, and read writes C"):
            module.read(a, device.array(x(4)), C=a)


def test_wrong_types_and_devices(m, devices):
    first, second = devices[:2]
    a = first.array(x(4, 3))
    with pytest.raises(tilec.ArrayError, match="A: an i32 device array where the kernel takes f32, f16 or bf16"):
        m.double(first.array(np.ones((2, 2), np.int32)))
    with pytest.raises(tilec.ArrayError, match=r"W is on .*X's device is"):
        m.scale(a, second.array(x(3)), 1.0)
    with pytest.raises(tilec.ArrayError, match=r"A is on .*but the device asked for is"):
        m.double(a, device=second)
    with pytest.raises(tilec.ArrayError, match=r"pass A\.numpy\(\)"):
        m.double(a, device="numpy")


def test_devices_by_name(m):
    for name in ("lavapipe", 0):
        np.testing.assert_array_equal(m.double(x(2, 2), device=name).B, 2 * x(2, 2))
    with pytest.raises(tilec.DeviceError, match="no device is called 'quantum'"):
        m.double(x(2, 2), device="quantum")
    with pytest.raises(tilec.DeviceError, match=r"not 0\.5"):
        m.double(x(2, 2), device=0.5)


def test_without_a_device_the_interpreter_runs_and_says_so_once(m, monkeypatch):
    def no_device(which=None, **options):
        raise tilec.DeviceError("no device: none at all")

    monkeypatch.setattr("tilec.runtime.device.device", no_device)
    monkeypatch.setattr(kernel_module, "_is_told", False)
    with pytest.warns(UserWarning, match="none at all; running on the NumPy interpreter"):
        np.testing.assert_array_equal(m.double(x(2, 2)).B, 2 * x(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.double(x(2, 2))


def test_limits_are_named_before_the_launch(m, lavapipe, monkeypatch):
    monkeypatch.setitem(lavapipe.limits, "max-storage-buffer-binding-size", 64)
    words = r"A \[32\] of 128 bytes is more than .* 64 \(max-storage-buffer-b.* touches more rows of A than its own"
    with pytest.raises(tilec.DeviceError, match=words):
        m.fixed(x(32), power=1, device=lavapipe)


LIMITED = """
kernel fill(Y: tensor<f32>[M, V]) {
  let r = ctx.block.x
  Y[r :+ 1, :] = 1.0
}

kernel whole(Y: tensor<f32>[M, V]) {
  Y[:, :] = 1.0
}

kernel bytes(Y: tensor<u8>[M, V]) {
  Y[:, :] = 1
}

kernel many(A: tensor<f32>[M], B: tensor<f32>[M], C: tensor<f32>[M], D: tensor<f32>[M], E: tensor<f32>[M],
            F: tensor<f32>[M], G: tensor<f32>[M], H: tensor<f32>[M], Y: tensor<f32>[M]) {
  Y[:] = A[:] + B[:] + C[:] + D[:] + E[:] + F[:] + G[:] + H[:]
}
"""


@pytest.mark.parametrize(
    ("limit", "value", "kernel", "sizes", "message"),
    [
        ("max-storage-buffer-binding-size", 2**60, "bytes", (2**17, 2**17), r"has 17,179,869,184 .*fewer rows"),
        ("max-storage-buffer-binding-size", 2**60, "bytes", (1, 2**31 - 2), r"axis of Y.*more axes"),
        ("max-storage-buffer-binding-size", 64, "whole", (8, 4), r"this adapter offers more: .*binding-size': 128"),
        ("max-compute-workgroups-per-dimension", 4, "fill", (4000, 300), "workgroups are.* 4 an axis.*fewer rows"),
        ("max-uniform-buffer-binding-size", 0, "fill", (8, 4), r"sizes and scalars: \d+ is more.*adapter offers more"),
    ],
)
def test_a_launch_beyond_a_limit_says_which_and_a_way_out(lavapipe, monkeypatch, limit, value, kernel, sizes, message):
    module = tilec.compile(source=LIMITED)
    monkeypatch.setitem(lavapipe.limits, limit, value)
    rows, columns = sizes
    with pytest.raises(tilec.DeviceError, match=message):
        module[kernel](M=rows, V=columns, device=lavapipe)


def test_more_tensors_than_the_device_was_opened_for(lavapipe, monkeypatch):
    module = tilec.compile(source=LIMITED)
    arrays = [x(5)] * 8
    with pytest.raises(tilec.DeviceError, match=r"9 is more .* 8 \(.*limits=\{'max-storage-buffers.*': 9"):
        module.many(*arrays, device=lavapipe)
    monkeypatch.setattr(tint, "assert_valid", lambda text: None)  # it judges by the default limits
    wide = tilec.device("lavapipe", limits={"max-storage-buffers-per-shader-stage": 9})
    np.testing.assert_array_equal(module.many(*arrays, device=wide).Y, 8 * x(5))
    monkeypatch.setattr(lavapipe, "info", replace(lavapipe.info, limits={}))
    with pytest.raises(tilec.CompileError, match="9 storage buffers; the limit is 8"):
        module.many(*arrays, device=lavapipe)


def test_small_limits_make_small_workgroups(lavapipe, monkeypatch):
    for limit, value in [
        ("max-compute-invocations-per-workgroup", 16),
        ("max-compute-workgroup-size-x", 16),
        ("max-compute-workgroup-storage-size", 256),
    ]:
        monkeypatch.setitem(lavapipe.limits, limit, value)
    module = tilec.compile(source="kernel k(A: tensor<f32>[M, V], Y: tensor<f32>[1]) {\n  Y[0] = sum(A[:, :])\n}\n")
    assert module.k(x(37, 41), device=lavapipe).Y[0] == x(37, 41).sum()


def test_rows_do_not_make_variants(lavapipe):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = tilec.compile(source=SOURCE)
    for rows in (1, 2, 3, 5, 8, 9, 64, 100):
        module.double(x(rows, 12), device=lavapipe)
    assert module.double._default.count() <= 3


def test_repeated_launches_reuse_everything(m, lavapipe):
    a, b = lavapipe.array(x(6, 3)), lavapipe.array(x(6, 3))
    m.double(a, B=b)
    pipelines, groups = len(lavapipe._pipelines), len(lavapipe._bind_groups)
    for _ in range(5):
        m.double(a, B=b)
    assert (len(lavapipe._pipelines), len(lavapipe._bind_groups)) == (pipelines, groups)


def test_nan_scalars_do_not_fill_caches(m, lavapipe):
    a = lavapipe.array(x(2, 2))
    for _ in range(3):
        assert np.isnan(m.double(a, float("nan")).B.numpy()).all()
    before = len(m.double._prepared)
    m.double(a, float("nan"))
    assert len(m.double._prepared) == before


def test_the_shader_compilers_words_point_at_the_source(lavapipe, monkeypatch):
    module = tilec.compile(source="kernel k(A: tensor<f32>[M]) {\n  let x = A[:]\n  A[:] = x + 1.0\n}\n", name="k.ph")

    def refuse(wgsl, entry, bindings):
        line = next(number for number, text in enumerate(wgsl.split("\n"), 1) if text.lstrip().startswith("A["))
        raise tilec.DeviceError(f"the driver says: wgsl:{line}:7 no")

    monkeypatch.setattr(lavapipe, "compute_pipeline", refuse)
    with pytest.raises(tilec.DeviceError, match=r"line \d+ of the shader is from k\.ph:3"):
        module.k(x(4), device=lavapipe)


COPIES = """
kernel copy(A: tensor<f32|f16|bf16|i32|u32|i8|u8|bool|i64>[M, N], B: tensor<i32|u32|i8|u8>[M, N]) {
  let r = ctx.block.x * 3
  B[r :+ 3, :] = i32(A[r :+ 3, :])
}

kernel flags(A: tensor<f32|i8|bool|i64>[M, N], B: tensor<bool>[M, N]) {
  let r = ctx.block.x * 3
  B[r :+ 3, :] = bool(A[r :+ 3, :])
}

kernel round(A: tensor<f32|f16|bf16>[M, N], B: tensor<f32|f16|bf16>[M, N]) {
  let r = ctx.block.x * 3
  B[r :+ 3, :] = A[r :+ 3, :]
}
"""


@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (4, 16)])
def test_every_storage_type_arrives_and_returns(device, shape):
    import ml_dtypes

    module = tilec.compile(source=COPIES)
    rng = np.random.default_rng(0)
    floats = (np.float32, np.float16, ml_dtypes.bfloat16)
    for source in (*floats, np.int32, np.uint32, np.int8, np.uint8, np.bool_, np.int64):
        given = rng.integers(0, 2 if source is np.bool_ else 100, shape).astype(source)
        for target in ("i32", "u32", "i8", "u8"):
            got = module.copy(given, device=device, dtypes={"B": target}).B
            np.testing.assert_array_equal(got, given.astype(got.dtype))
    for source in (np.float32, np.int8, np.bool_, np.int64):
        given = rng.integers(0, 2, shape).astype(source)
        np.testing.assert_array_equal(module.flags(given, device=device).B, given.astype(bool))
    for source in floats:
        given = (rng.normal(size=shape) * 1e4).astype(source)
        for target in ("f32", "f16", "bf16"):
            got = module.round(given, device=device, dtypes={"B": target}).B
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(got, given.astype(np.float32).astype(got.dtype))
