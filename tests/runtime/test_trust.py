"""What probes find of a device's built-ins and subgroups, and that the compiled code relies on no more."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.diff import backends
from tests.diff.harness import Data, Execution, Subject
from tests.diff.tint import assert_valid
from tilec import driver
from tilec.options import Limits, Options
from tilec.runtime import trust
from tilec.runtime.device import Device
from tilec.runtime.launch import options_for
from tilec.source import Source
from tilec.types import DTYPES
from tilec.wgsl.trusted import TRUSTED

HALVES = """
kernel halves<T: f16|f32>(X: tensor<T>[M, V], Y: tensor<f32>[M]) {
  let x = X[ctx.block.x :+ 1, :]
  Y[ctx.block.x :+ 1, new] = rowsum(exp(x))
  X[ctx.block.x :+ 1, :] = x * 2.0
}
"""


def compiled(options: Options) -> str:
    program = driver.parse_file(Source("halves.ph", HALVES)).program
    return driver.compile_kernel(program, "halves", {"T": DTYPES["f16"]}, {}, {"M": 4, "V": 512}, options).wgsl


def test_lavapipe_is_trusted_and_swiftshader_is_not():
    # SwiftShader drops NaN in exp and overflows to a NaN when it packs an f16.
    assert trust.trusted_builtins(backends.open_device("lavapipe")) == ("exp", "f16")
    assert trust.trusted_builtins(backends.open_device("swiftshader")) == ()


@pytest.mark.parametrize("name", backends.DEVICE_NAMES)
def test_options_carry_what_was_found(name):
    device = backends.open_device(name)
    options = options_for(device)
    assert options.trusted == trust.trusted_builtins(device)
    assert options.limits.subgroup == trust.shuffled_threads(device)


def test_a_device_without_the_feature_has_no_subgroups():
    device = backends.open_device("lavapipe")
    bare = Device(device.info, device.handle, ())
    assert trust.shuffled_threads(bare) == 1


def test_nothing_is_trusted_unasked():
    text = compiled(Options())
    assert "pack2x16float" not in text
    assert re.search(r"fn exp_f32\(x: f32\) -> f32 \{\n  let inside", text)
    assert "subgroup" not in text


@pytest.mark.parametrize("trusted", [("exp",), ("f16",), tuple(TRUSTED)])
def test_trusted_texts_are_valid(trusted):
    text = compiled(Options(trusted=trusted, limits=Limits(subgroup=4)))
    assert_valid(text)
    assert ("pack2x16float" in text) == ("f16" in trusted)
    assert "enable subgroups;" in text


def test_a_wrong_builtin_is_not_trusted(monkeypatch):
    """The probe of a device whose exp loses NaN, and that of one that rounds f16 towards zero."""
    lavapipe = backends.open_device("lavapipe")
    broken = trust._BODY.replace("bitcast<u32>(exp(x))", "bitcast<u32>(exp(max(x, -1e9)))")
    monkeypatch.setattr(trust, "_BODY", broken)
    assert trust._probe(lavapipe) == ("f16",)
    truncating = "pack2x16float(vec2<f32>(bitcast<f32>(bitcast<u32>(x) & 0xffffe000u), 0.0))"
    broken = trust._BODY.replace("pack2x16float(vec2<f32>(x, 0.0))", truncating)
    monkeypatch.setattr(trust, "_BODY", broken)
    assert trust._probe(lavapipe) == ()


def test_threads_in_another_order_are_not_shuffled(monkeypatch):
    lavapipe = backends.open_device("lavapipe")
    monkeypatch.setattr(trust, "_ORDER", trust._ORDER.replace("lane % LEASTu", "(lane + 1u) % LEASTu"))
    assert trust._probe_order(lavapipe) == 1


@pytest.mark.parametrize("name", backends.DEVICE_NAMES)
def test_every_f16_survives_a_round_trip(name):
    """All 65,536 of them through the device's own code, NaNs as NaNs."""
    text = """
kernel same(X: tensor<f16>[M, V], Y: tensor<f16>[M, V]) {
  Y[ctx.block.x :+ 1, :] = X[ctx.block.x :+ 1, :] * 1.0
}
"""
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(64, 1024)
    data = Data({"X": x, "Y": np.zeros_like(x)}, {}, {"M": 64, "V": 1024})
    y = Subject(text).run(Execution("", device=name), data)["Y"]
    np.testing.assert_array_equal(y[~np.isnan(x)].view(np.uint16), x[~np.isnan(x)].view(np.uint16))
    assert np.isnan(y[np.isnan(x)]).all()


@pytest.mark.parametrize("name", backends.DEVICE_NAMES)
def test_rounding_to_f16_rounds(name):
    """Where packing and unpacking are trusted, one behind the other must not cancel out: Mesa folds them."""
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    lower = (0, 1, 0xFFF, 0x1000, 0x1001, 0x3000, 0x8000, 0xF000, 0xFFFF)
    x = np.stack([upper | one for one in lower]).view(np.float32)
    text = """
kernel rounded(X: tensor<f32>[M, V], Y: tensor<f32>[M, V]) {
  Y[ctx.block.x :+ 1, :] = f16(X[ctx.block.x :+ 1, :])
}
"""
    data = Data({"X": x, "Y": np.zeros_like(x)}, {}, {"M": len(lower), "V": 1 << 16})
    got = Subject(text).run(Execution("", device=name), data)["Y"]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, x.astype(np.float16).astype(np.float32))
