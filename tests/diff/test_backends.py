"""The implementations that other tests compare do run, through one interface, and refuse what they should."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diff import tint
from tests.diff.web import WebDevice, dawn_device
from tests.runtime.test_device import SCALE, scale
from tilec.errors import DeviceError


@pytest.fixture(scope="module", params=["lavapipe", "swiftshader"])
def dawn(request: pytest.FixtureRequest) -> WebDevice:
    return dawn_device(request.param)


def test_dawn_computes(dawn: WebDevice) -> None:
    values = np.arange(1003, dtype=np.float32)
    np.testing.assert_array_equal(scale(dawn, values, 2.0, 3.0), values * 6)


def test_dawn_copies_writes_and_frees(dawn: WebDevice) -> None:
    source, target = dawn.create_buffer(7), dawn.create_buffer(7)
    dawn.write(source, b"abcdefg")
    dawn.copy(source, target, 7)
    assert bytes(dawn.read(target)) == b"abcdefg"
    source.free()
    with pytest.raises(DeviceError, match="freed"):
        dawn.read(source)


def test_dawn_refuses_in_words(dawn: WebDevice) -> None:
    with pytest.raises(DeviceError, match=r"wgsl:2:12: "):
        dawn.compute_pipeline("\nfn broken( {", "broken", ())
    with pytest.raises(DeviceError, match="could not pipeline"):
        dawn.compute_pipeline(SCALE, "scale", ("read", "uniform"))


def test_tint_accepts_and_refuses() -> None:
    tint.assert_valid(SCALE)
    with pytest.raises(AssertionError, match=r"uniform control flow[\s\S]*workgroupBarrier"):
        tint.assert_valid(SCALE.replace("values[id.x] = ", "workgroupBarrier(); values[id.x] = "))
    with pytest.raises(AssertionError, match="workgroup_size"):
        tint.assert_valid(SCALE.replace("(64)", "(512)"))
