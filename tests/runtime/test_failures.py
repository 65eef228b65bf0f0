"""What a driver refuses is an error in words, with the kernel and its place; a lost device is found and replaced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tilec
from tilec import driver
from tilec.driver import Compiled
from tilec.runtime import prepared
from tilec.runtime.device import Device, Launch, Slice
from tilec.runtime.launch import options_for

SOURCE = """
kernel twice(A: tensor<f32>[M, N]) {
  let r = ctx.block.x * 4
  A[r :+ 4, :] = 2.0 * A[r :+ 4, :]
}
"""
PLACE = r"the kernel twice \(twice\.ph:2\)"
F32 = np.float32
SIZES = {"M": 6, "N": 5}


@pytest.fixture
def twice() -> tilec.Kernel:
    return tilec.compile(source=SOURCE, name="twice.ph").twice


def given() -> np.ndarray:
    return np.ones((6, 5), F32)


# --- what a driver refuses ---------------------------------------------------------------------------------------


def test_memory_that_there_is_not(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(device.limits, "max-buffer-size", 1 << 60)
    with pytest.raises(tilec.DeviceError, match=r"could not allocate 1,125,899,906,842,624 bytes: [\s\S]*Buffer"):
        device.create_buffer(1 << 50)


def compiled_for(device: Device, twice: tilec.Kernel, **changes: object) -> Compiled:
    """The kernel as it is compiled for the device, with other options."""
    made = driver.compile_built(twice._variants({}).kernel, SIZES, options_for(device))
    return replace(made, options=replace(made.options, **changes))


def test_a_shader_that_does_not_compile(device, twice):
    made = compiled_for(device, twice)
    made.__dict__["emitted"] = replace(made.emitted, text=made.emitted.text.replace("A[A_at", "A[B_at"))
    words = rf"{PLACE}: .* could not compile the shader: [\s\S]*B_at[\s\S]*of the shader is from twice\.ph:4"
    with pytest.raises(tilec.DeviceError, match=words):
        prepared.Prepared(made, device, SIZES, {})


def test_a_dispatch_that_is_refused(device, twice, monkeypatch):
    monkeypatch.setitem(device.limits, "max-compute-workgroups-per-dimension", 1 << 30)
    monkeypatch.setattr(prepared, "fold", lambda count: (70_000, 1, 1))
    array = device.array(given())
    with pytest.raises(tilec.DeviceError, match=rf"could not run {PLACE}: [\s\S]*70000"):
        twice(array)
    bound = twice.bind(array)
    with pytest.raises(tilec.DeviceError, match=rf"could not run {PLACE}: [\s\S]*70000"):
        bound.launch()
    with pytest.raises(tilec.DeviceError, match=r"could not run 2 launches of a batch: [\s\S]*70000"):
        launch_twice(device, bound)
    assert not device._batches
    monkeypatch.undo()
    # What was refused did nothing, and the device works on.
    assert (array.numpy() == 1).all()
    fresh = tilec.compile(source=SOURCE).twice
    assert (fresh(array).A.numpy() == 2).all()


def launch_twice(device, bound):
    with device.batch():
        bound.launch()
        bound.launch()


def test_a_part_that_cannot_be_bound(device):
    text = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
    text += "@compute @workgroup_size(1) fn f() { a[0] = 1; }"
    pipeline, buffer = device.compute_pipeline(text, "f", ("read_write",)), device.create_buffer(1024)
    for part in (Slice(buffer, 20, 64), Slice(buffer, 768, 512)):
        with pytest.raises(tilec.DeviceError, match="could not run the kernel: "):
            device.run([Launch(pipeline, (part,), (1, 1, 1))])
    device.run([Launch(pipeline, (Slice(buffer, 512, 64),), (1, 1, 1))])
    assert bytes(device.read(buffer, 8, offset=512)) == b"\1\0\0\0\0\0\0\0"


def test_reading_and_copying_where_there_is_nothing(device):
    buffer = device.create_buffer(64)
    with pytest.raises(tilec.DeviceError, match="could not read device memory: "):
        device.read(buffer, 64, offset=32)
    with pytest.raises(tilec.DeviceError, match="could not write to device memory: "):
        device.write(buffer, bytes(64), offset=32)
    with pytest.raises(tilec.DeviceError, match="could not copy device memory: "):
        device.copy(buffer, device.create_buffer(16), 64)
    assert bytes(device.read(buffer)) == bytes(64)


def test_a_feature_that_the_device_was_not_opened_with(device, twice, monkeypatch):
    monkeypatch.setattr(device, "features", ())
    with pytest.raises(tilec.DeviceError, match=r"uses the feature shader-f16, which .* was not opened with"):
        prepared.Prepared(compiled_for(device, twice, features=("shader-f16",)), device, SIZES, {})


def test_reads_of_many_sizes_keep_little_memory(device):
    data = bytes(range(256)) * 1024
    buffer = device.create_buffer(len(data))
    device.write(buffer, data)
    for size in (1, 2, 3, 4, 5, 255, 256, 257, 1000, 4096, 100_003, len(data)):
        for offset in (0, 4, 256):
            wanted = data[offset : offset + min(size, len(data) - offset)]
            assert bytes(device.read(buffer, len(wanted), offset)) == wanted


def test_a_read_in_several_parts(device, monkeypatch):
    monkeypatch.setattr("tilec.runtime.staging._CHUNK", 64)
    data = bytes(range(250))
    buffer = device.create_buffer(len(data))
    device.write(buffer, data)
    assert bytes(device.read(buffer)) == data
    assert bytes(device.read(buffer, 101, offset=40)) == data[40:141]


# --- a device that is lost ---------------------------------------------------------------------------------------


def test_a_lost_device_is_reported_everywhere_and_opened_anew(device, twice):
    own = {"max-bind-groups": 3 + 1}  # a request of its own, so that no other test loses its device
    lost = tilec.device(device.info.index, features=(), limits=own)
    array, bound = lost.array(given()), twice.bind(lost.array(given()))
    assert not lost.is_lost
    lost.handle.destroy()
    words = r"the device was lost, and the arrays on it with it; tilec\.device\(\d\) opens it anew \(the driver says: "
    for use in (
        lambda: twice(array), bound.launch, array.numpy, lambda: lost.array(given()), lambda: np.asarray(array),
        lambda: lost.write(array.buffer, bytes(4)), lost.synchronize, lambda: twice(given(), device=lost),
        lambda: launch_twice(lost, bound), lambda: twice.bind(array),
    ):  # fmt: skip
        with pytest.raises(tilec.DeviceLostError, match=words):
            use()
    assert lost.is_lost
    assert "lost" in repr(lost)
    array.free()
    again = tilec.device(device.info.index, features=(), limits=own)
    assert again is not lost
    assert (twice(again.array(given())).A.numpy() == 2).all()
    assert (twice(given(), device=again).A == 2).all()
    assert (twice.bind(given(), device=again).launch().A.numpy() == 2).all()
    again.handle.destroy()
    with pytest.raises(tilec.DeviceLostError):
        twice(given(), device=again)


def test_a_read_under_way_reports_the_loss(device, twice, monkeypatch):
    """Mapping only says that it failed: that the device is lost is found by asking again."""
    lost = tilec.device(device.info.index, features=(), limits={"max-bind-groups": 4, "max-buffer-size": 1 << 27})
    array = lost.array(given())
    take = lost._staging._take

    def lose(size):
        mapped = take(size)
        monkeypatch.setattr(mapped, "map_async", fails)
        return mapped

    def fails(*arguments):
        lost.handle.destroy()
        raise RuntimeError("Could not map buffer (4 : ).")

    monkeypatch.setattr(lost._staging, "_take", lose)
    with pytest.raises(tilec.DeviceLostError, match="could not read device memory: the device was lost"):
        array.numpy()
