"""`Kernel.grad` beside everything else that a kernel does, and `--grad` on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilec

SOURCE = """
/// Cross-entropy with label smoothing.
kernel smooth(Logits: tensor<f32|f16|bf16>[M, V], Target: tensor<i32>[M], Loss: tensor<f32>[M], alpha: f32 = 0.0) {
  let r = ctx.block.x * 8
  let x = Logits[r :+ 8, :]
  let lse = logsumexp(x)
  let smoothed = where(alpha > 0.0, alpha * rowmean(x), 0.0)
  Loss[r :+ 8, new] = lse - (1.0 - alpha) * pick(x, Target[r :+ 8, new]) - smoothed
}

kernel powers(X: tensor<f32>[N], DX: tensor<f32>[N], Loss: tensor<f32>[N], const exponent: f32) {
  let i = ctx.block.x * 64
  Loss[i :+ 64] = pow(X[i :+ 64], exponent) + DX[i :+ 64]
}

kernel two(X: tensor<f32>[N], Loss: tensor<f32>[N], Other: tensor<f32>[N]) {
  let i = ctx.block.x * 64
  Loss[i :+ 64] = square(X[i :+ 64])
  Other[i :+ 64] = 2.0 * X[i :+ 64]
}
"""


@cache
def kernels() -> Any:
    return tilec.compile(source=SOURCE)


def drawn(rows: int = 5, columns: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((rows, columns)).astype(np.float32), rng.integers(0, columns, rows).astype(np.int32)


def softmax_less_one(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) - (np.arange(x.shape[1]) == t[:, None])


def test_what_it_takes_and_gives():
    x, t = drawn()
    kernel = kernels().smooth.grad("Logits")
    assert kernel.name == "smooth_grad"
    assert [p.name for p in kernel.signature.parameters] == ["Logits", "Target", "Loss", "DLoss", "alpha", "DLogits"]
    assert "Cross-entropy with label smoothing." in kernel.__doc__
    result = kernel(x, t, np.full(5, 2.0), device="numpy")
    assert list(result._asdict()) == ["Loss", "DLogits"]
    np.testing.assert_allclose(result.DLogits, 2 * softmax_less_one(x, t), atol=1e-6)
    in_place = kernels().smooth.grad("Logits", in_place=True)(x, t, np.full(5, 2.0), device="numpy")
    assert list(in_place._asdict()) == ["Logits", "Loss"]
    np.testing.assert_array_equal(in_place.Logits, result.DLogits)


def test_derived_kernels_are_kept():
    assert kernels().smooth.grad("Logits") is kernels().smooth.grad(("Logits",), None)
    assert kernels().smooth.grad("Logits") is not kernels().smooth.grad("Logits", in_place=True)
    assert kernels().smooth.grad("Logits", upstream=0.5) is kernels().smooth.grad("Logits", upstream=0.5)


@pytest.mark.parametrize("execution", ["numpy", "llvmpipe"])
def test_constants_and_specialised_kernels(execution: str):
    x, t = drawn()
    smooth = kernels().smooth
    expected = smooth.grad("Logits", upstream="scalar")(x, t, alpha=0.1, DLoss=0.25, device=execution).DLogits
    for kernel in (
        smooth.specialize(alpha=0.1).grad("Logits", upstream=0.25),
        smooth.grad("Logits", upstream=0.25).specialize(alpha=0.1),
        smooth.grad("Logits", upstream="scalar").specialize(alpha=0.1, DLoss=0.25),
    ):
        assert kernel.constants == {"alpha": np.float32(0.1), "DLoss": 0.25}
        np.testing.assert_allclose(kernel(x, t, device=execution).DLogits, expected, rtol=1e-6, atol=1e-9)
    # alpha 0 is known: nothing is left of the mean.
    plain = smooth.specialize(alpha=0.0).grad("Logits", upstream=1.0)
    assert "sum" not in plain.ir()
    losses = smooth.grad("Logits", upstream="scalar")(x, t, device=execution).Loss
    np.testing.assert_allclose(losses, smooth(x, t, device=execution).Loss, rtol=1e-6)


def test_const_parameters_and_taken_names():
    kernel = kernels().powers.grad(("X", "DX"), "Loss", upstream=1.0)
    result = kernel(X=[1.0, 2.0], DX=[0.0, 1.0], exponent=3.0, device="numpy")
    assert result.Loss.tolist() == [1.0, 9.0]
    assert result.DX_.tolist() == [3.0, 12.0]
    assert result.DDX.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_types_follow_the_values(dtype: Any):
    x, t = drawn()
    kernel = kernels().smooth.grad("Logits")
    result = kernel(x.astype(dtype), t, np.ones(5), device="numpy")
    assert result.DLogits.dtype == dtype
    assert result.Loss.dtype == np.float32
    asked = kernel(np.ones((5, 4)), t, np.ones(5), dtypes={"Logits": dtype}, device="numpy")
    assert asked.DLogits.dtype == dtype
    assert "array<vec4<f16>" not in kernel.wgsl(dtypes={"DLogits": "f16"})
    with pytest.raises(tilec.ArrayError, match="dtypes"):
        kernel(x, t, np.ones(5), dtypes={"DLogits": "f16", "Logits": "bf16"}, device="numpy")


def test_device_arrays_are_updated_in_place():
    device = tilec.device("llvmpipe")
    x, t = drawn(40, 33)
    logits, target = device.array(x), device.array(t)
    kernel = kernels().smooth.grad("Logits", in_place=True, upstream="scalar")
    result = kernel(logits, target, DLoss=1 / 40)
    assert result.Logits is logits
    np.testing.assert_allclose(logits.numpy(), softmax_less_one(x, t) / 40, atol=1e-7)
    out = device.array(np.full((40, 33), np.nan, np.float32))
    given = kernels().smooth.grad("Logits", upstream=1 / 40)(device.array(x), target, DLogits=out)
    assert given.DLogits is out
    np.testing.assert_allclose(out.numpy(), softmax_less_one(x, t) / 40, atol=1e-7)


def test_looking_inside():
    kernel = kernels().smooth.grad("Logits", in_place=True)
    assert "fn " in kernel.wgsl(dims={"V": 512})
    assert kernel.grid(M=17) == (3, 1, 1)
    assert {binding.tensor for binding in kernel.bindings} >= {"Logits", "Target", "Loss", "DLoss"}
    assert "store Logits" in kernel.ir()
    assert "plan of smooth_grad" in kernel.plan()
    assert repr(kernel).startswith("<tilec.Kernel smooth_grad(")


def test_one_read_and_one_write():
    """What fits on chip is read once, whatever the upstream gradient is."""
    for upstream in ("tensor", "scalar"):
        plan = kernels().smooth.grad("Logits", in_place=True, upstream=upstream).plan(dims={"V": 512})
        assert "1 dispatch" in plan
        assert "in registers" in plan


def test_names_that_do_not_fit():
    for call, *words in (
        (lambda: kernels().smooth.grad("Logit"), "'Logit'", "did you mean Logits?"),
        (lambda: kernels().smooth.grad("alpha"), "alpha is a scalar"),
        (lambda: kernels().smooth.grad("Target"), "only floats have gradients"),
        (lambda: kernels().smooth.grad("Loss"), "both wrt and the loss"),
        (lambda: kernels().smooth.grad(()), "names no tensor"),
        (lambda: kernels().smooth.grad(("Logits", "Logits")), "names Logits twice"),
        (lambda: kernels().smooth.grad("Logits", "Los"), "'Los'"),
        (lambda: kernels().smooth.grad("Logits", upstream="rows"), "'rows'"),
        (lambda: kernels().smooth.grad("Logits", upstream=True), "True"),
        (lambda: kernels().two.grad("X"), "it writes Loss, Other"),
    ):
        with pytest.raises(tilec.ArrayError) as found:
            call()
        for word in words:
            assert word in str(found.value)
    with pytest.raises(tilec.ArrayError, match="DLoss is missing"):
        kernels().smooth.grad("Logits")(*drawn(), device="numpy")


# --- the command line ----------------------------------------------------------------------------------------------


def tilec_command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tilec.cli.main", *words], capture_output=True, text=True, timeout=120)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "smooth.ph"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_compile_writes_the_derived_kernel(file: Path, tmp_path: Path):
    ran = tilec_command(
        "compile", str(file), "--kernel", "smooth", "--grad", "Logits", "--in-place", "--dtype", "Logits=f16",
        "--const", "alpha=0.1", "-o", str(tmp_path),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    manifest = json.loads((tmp_path / "smooth_grad.json").read_text())
    access = {one["name"]: one.get("access") for one in manifest["parameters"]}
    assert access == {"Logits": "inout", "Target": "in", "Loss": "out", "DLoss": "in"}
    assert "@compute" in (tmp_path / "smooth_grad.wgsl").read_text()


def test_other_commands(file: Path):
    common = (str(file), "--kernel", "smooth", "--grad", "Logits")
    shown = tilec_command("explain", *common)
    assert shown.returncode == 0, shown.stderr
    assert "stores DLogits" in shown.stdout
    sizes = ("--dim", "M=9", "--dim", "V=5")
    ran = tilec_command("run", *common, *sizes, "--upstream", "scalar", "--check", "--device", "numpy")
    assert ran.returncode == 0, ran.stderr
    assert "DLogits: float32[9, 5]" in ran.stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--grad", "Logits"), 2, "--grad takes one kernel"),
        (("--kernel", "smooth", "--in-place"), 2, "--in-place belongs to --grad"),
        (("--kernel", "smooth", "--grad", "Logit"), 1, "did you mean Logits?"),
        (("--kernel", "two", "--grad", "X"), 1, "it writes Loss, Other"),
        (("--kernel", "two", "--grad", "X", "--loss", "Other", "-o", "-"), 0, ""),
    ],
)
def test_what_the_command_refuses(words: tuple[str, ...], code: int, message: str, file: Path):
    ran = tilec_command("compile", str(file), *words)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert message in ran.stderr
