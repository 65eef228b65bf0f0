"""Gradients through branches and loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.gradients.double import in_double
from tests.gradients.harness import build
from tests.plan.harness import check
from tilec.driver import _run_passes
from tilec.errors import CompileError
from tilec.tile import interp, ir
from tilec.tile.passes import PASSES
from tilec.tile.walk import walk

HEAD = (
    "kernel k(X: tensor<f32>[M, V], C: tensor<f32>[M, 1], Out: tensor<f32>[M, {}], S: tensor<f32>[M, 1], n: i32, "
    "s: f32) {{\n"
)
READ = "  let r = ctx.block.x * 4\n  let x = X[r :+ 4, :]\n  let c = C[r :+ 4, :]\n"


def text(body, wrt="x"):
    out = {"x": "V", "c": "1", "s": "1"}[wrt]
    value = "grad(z, s) + c * 0.0" if wrt == "s" else f"grad(z, {wrt})"
    return HEAD.format(out) + READ + body + f"  Out[r :+ 4, :] = {value}\n  S[r :+ 4, :] = rowsum(z)\n}}\n"


def case(body, function, wrt=("x",)):
    return body, function, wrt


def _repeat(x, c, n, s):
    y = x * 0.5
    for index in range(3):
        y = (y.sin() * x) if n > index else y + x * index
    return y


def _powers(x, c, n, s):
    total, power = torch.zeros_like(x), torch.ones_like(x)
    for index in range(5):
        power = power * x * s
        total = total + power / (index + 1)
    return total


def _chunks(x, c, n, s):
    return sum((x[:, start : start + 3] * c).pow(2).sum(1, keepdim=True) for start in range(0, x.shape[1], 3)).sqrt()


def _ragged(x, c, n, s):
    total = torch.zeros(len(x), 3, dtype=x.dtype)
    for start in range(0, x.shape[1], 3):
        chunk = torch.exp(x[:, start : start + 3] * c)
        total = total + torch.nn.functional.pad(chunk, (0, 3 - chunk.shape[1]))
    return total


def _online(x, c, n, s):
    top = x.detach()[:, :1] * 0 - 10.0
    total = torch.zeros_like(c)
    for start in (0, 3):
        chunk = x[:, start : start + 3] * c
        new = torch.maximum(top, chunk.amax(1, keepdim=True))
        total = total * (top - new).exp() + (chunk - new).exp().sum(1, keepdim=True)
        top = new
    return total.log() + top


CASES = {
    "a branch": case(
        "  var z = x\n  if n > 1 {\n    z = x * x\n  } else {\n    z = sin(x) * c\n  }\n",
        lambda x, c, n, s: x * x if n > 1 else x.sin() * c, ("x", "c"),
    ),
    "a branch that stores": case(
        "  var z = x\n  if s > 0.0 {\n    z = x * x * c\n    S[r :+ 4, :] = c\n  }\n",
        lambda x, c, n, s: x * x * c if s > 0 else x * 1.0, ("x",),
    ),
    "a branch with a loop that stores and counts": case(
        "  var z = x * c\n  var k = 0.0\n  var q = 1.0\n  if s > 0.0 {\n    z = x * x * c\n    for i in range(0, n) {\n"
        "      S[r :+ 4, :] = c\n      k += 1.0\n    }\n    q = k\n  }\n  z = z * (k + q)\n",
        lambda x, c, n, s: x * x * c * n * 2 if s > 0 else x * c, ("x",),
    ),
    "a repeated body with branches": case(
        "  var z = x * 0.5\n  for i in range(0, 3) {\n    if n > i {\n      z = sin(z) * x\n    } else {\n"
        "      z += x * f32(i)\n    }\n  }\n",
        _repeat,
    ),
    "powers": case(
        "  var z = x * 0.0\n  var p = x * 0.0 + 1.0\n  for i in range(0, 5) {\n    p = p * x * s\n"
        "    z += p / f32(i + 1)\n  }\n",
        _powers, ("x", "s"),
    ),
    "no round": case("  var z = x * x\n  for i in range(3, 2) {\n    z = z * x\n  }\n", lambda x, c, n, s: x * x),
    "sums over chunks": case(
        "  var a = c * 0.0\n  for i in range(0, V, 3) {\n    a += rowsum(square(X[r :+ 4, i :+ 3] * c))\n  }\n"
        "  let z = sqrt(a)\n",
        _chunks, ("c",),
    ),
    "a tile that ragged chunks add to": case(
        "  var z: tile<f32>[4, 3] = 0.0\n  for i in range(0, V, 3) {\n    z += exp(X[r :+ 4, i :+ 3] * c)\n  }\n",
        _ragged, ("c",),
    ),
    "a sum that starts with what it is derived by": case(
        "  var z = x * x\n  for i in range(0, n) {\n    z += x * f32(i)\n  }\n",
        lambda x, c, n, s: x * x + x * sum(range(n)),
    ),
    "a sum that starts with that itself": case(
        "  var z = x\n  for i in range(0, n) {\n    z -= x * c\n  }\n", lambda x, c, n, s: x - n * x * c, ("x", "c"),
    ),
    "chunks that are written over before the gradient": case(
        "  var z = c * 0.0\n  for i in range(0, 6, 3) {\n    z += rowsum(X[r :+ 4, i :+ 3] * c)\n  }\n"
        "  X[r :+ 4, :] = x * 0.0\n",
        lambda x, c, n, s: x[:, :6].sum(1, keepdim=True) * c, ("c",),
    ),
    "sums under a condition": case(
        "  var a = c * 0.0\n  for i in range(0, V, 3) {\n    if i < n {\n      a += rowsum(X[r :+ 4, i :+ 3]) * s * c\n"
        "    }\n  }\n  let z = a * c\n",
        lambda x, c, n, s: c * c * s * sum(
            x[:, start : start + 3].sum(1, keepdim=True) for start in range(0, min(n, x.shape[1]), 3)
        ), ("c", "s"),
    ),
    "a running maximum": case(
        "  var m = X[r :+ 4, 0 :+ 1] * 0.0 - 10.0\n  var a = c * 0.0\n  for i in range(0, 6, 3) {\n"
        "    let q = X[r :+ 4, i :+ 3] * c\n    let new_m = max(m, rowmax(q))\n    a = a * exp(m - new_m) + "
        "rowsum(exp(q - new_m))\n    m = new_m\n  }\n  let z = log(a) + m\n",
        _online, ("c",),
    ),
    "loops in loops": case(
        "  var z = x\n  for i in range(0, 2) {\n    for j in range(0, 2) {\n      z = z * c + x\n    }\n  }\n",
        lambda x, c, n, s: (((x * c + x) * c + x) * c + x) * c + x, ("x", "c"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "wrt"), [(name, wrt) for name, (_, _, all_) in CASES.items() for wrt in all_])
@pytest.mark.parametrize("n", [0, 2, 9])
def test_against_torch(name, wrt, n):
    body, function, _ = CASES[name]
    rng = np.random.default_rng(3)
    rows, columns = 6, 7
    x, c, s = rng.normal(size=(rows, columns)), rng.normal(size=(rows, 1)), 0.75
    if n == 2 and name.startswith("a branch"):
        s = -0.75
    values = {"x": torch.tensor(x), "c": torch.tensor(c), "s": torch.tensor(s, dtype=torch.float64)}
    values[wrt].requires_grad_(True)
    z = function(values["x"], values["c"], n, values["s"])
    out_columns = columns if wrt == "x" else 1
    if isinstance(z, torch.Tensor) and z.requires_grad:
        z.sum().backward()
        expected = values[wrt].grad.numpy()
    else:
        expected = np.zeros((rows, out_columns))
    kernel = build(text(body, wrt))
    tensors = {"X": x, "C": c, "Out": np.zeros((rows, out_columns)), "S": np.zeros((rows, 1))}
    with in_double():
        got = interp.run(kernel, tensors, {"n": n, "s": s}, {"M": rows, "V": columns})["Out"]
    if wrt == "s":  # each block gives its own part, in every row
        got = got[0, 0] + got[4, 0]
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_plans(name):
    body, _, wrt = CASES[name]
    kernel = _run_passes(build(text(body, wrt[0])), PASSES, True)
    rng = np.random.default_rng(4)
    rows, columns = 5, 7
    shapes = {"X": columns, "C": 1, "Out": columns if wrt[0] == "x" else 1, "S": 1}
    tensors = {key: rng.normal(size=(rows, extent)).astype(np.float32) for key, extent in shapes.items()}
    check(kernel, tensors, {"n": 2, "s": 0.5}, atol=1e-5)


def test_a_loop_that_only_adds_stays_a_loop():
    body, _, _ = CASES["sums over chunks"]
    loops = [value for value in walk(build(text(body, "c")).body) if isinstance(value, ir.For)]
    assert len(loops) == 2


FAULTS = {
    "while": ("  var z = x\n  var i = 0\n  while i < n {\n    z = z * x\n    i += 1\n  }\n", "E0433", "while"),
    "break": (
        "  var z = x\n  for i in range(0, 3) {\n    if i > n {\n      break\n    }\n    z = z * x\n  }\n", "E0433",
        "break",
    ),
    "rounds": ("  var z = x\n  for i in range(0, n) {\n    z = z * x\n  }\n", "E0433", "build on each other"),
    "differences": (
        "  var z = x\n  for i in range(0, n) {\n    z = z - z * 0.5\n  }\n", "E0433", "build on each other",
    ),
    "sums of what is overwritten": (
        "  var z = c * 0.0\n  for i in range(0, V, 3) {\n    z += rowsum(X[r :+ 4, i :+ 3]) * rowsum(x)\n  }\n"
        "  X[r :+ 4, :] = x * 2.0\n", "E0433", "reads a tensor that is stored to before",
    ),
    "sums of what a later round overwrites": (
        "  var z = c * 0.0\n  for i in range(0, V, 3) {\n    z += rowsum(X[r :+ 4, i :+ 3]) * rowsum(x)\n  }\n"
        "  for j in range(0, n) {\n    S[r :+ 4, :] = rowsum(grad(z, x))\n    X[r :+ 4, :] = x * 2.0\n  }\n"
        "  z = rowsum(x)\n", "E0433", "reads a tensor that is stored to before",
    ),
    "a count of stores": (
        "  var z = x\n  if s > 0.0 {\n    var k = 0.0\n    for i in range(0, n) {\n      S[r :+ 4, :] = c\n"
        "      k += 1.0\n    }\n    z = x * k\n  }\n", "E0433", "takes a value from a loop or branch that stores",
    ),
    "too many rounds": ("  var z = x\n  for i in range(0, 1000) {\n    z = sin(z) * x\n  }\n", "E0434", "1000 rounds"),
    "another read": ("  let z = square(X[r :+ 4, :])\n", "E0432", "another read of `X`, in line 5"),
    "an earlier value": (
        "  var y = x\n  let z = square(y)\n  y = y + 1.0\n  let q = grad(z, y)\n", "E0432", "nothing that",
    ),
    "integers": ("  let z = f32(i32(x))\n", "E0432", "only integers"),
    "stopped": ("  let z = square(stop_grad(x))\n", "E0432", "stop_grad"),
    "memory": ("  Out[r :+ 4, :] = x * 2.0\n  let z = square(Out[r :+ 4, :])\n", "E0432", "was computed from `Out`"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault):
    body, code, words = FAULTS[fault]
    with pytest.raises(CompileError) as caught:
        build(text(body))
    message = str(caught.value)
    assert code in message
    assert words in message
    assert "grad(z" in message


def test_stop_grad_is_a_constant():
    kernel = build(text("  let z = x * stop_grad(x * c)\n"))
    assert not any(isinstance(value, ir.Stop) for value in walk(kernel.body))
    rng = np.random.default_rng(5)
    x, c = rng.normal(size=(4, 3)).astype(np.float32), rng.normal(size=(4, 1)).astype(np.float32)
    tensors = {"X": x, "C": c, "Out": x * 0, "S": c * 0}
    out = interp.run(kernel, tensors, {"n": 0, "s": 1.0}, {"M": 4, "V": 3})
    np.testing.assert_allclose(out["Out"], x * c, rtol=1e-6)


def test_gradients_inside_a_loop_and_of_several_values():
    """Gradient descent: each round takes the gradient at the value that the variable holds then."""
    kernel = build(
        "kernel k(X: tensor<f32>[M, V], Out: tensor<f32>[M, V], S: tensor<f32>[M, V]) {\n  let r = ctx.block.x * 4\n"
        "  let t = X[r :+ 4, :]\n  var p = t * 0.0\n  for i in range(0, 60) {\n    let q = p\n"
        "    let loss = rowmean(square(q - t))\n    p = q - grad(loss, q) * 2.0\n  }\n  Out[r :+ 4, :] = p\n"
        "  let d = sum(p * t)\n  S[r :+ 4, :] = grad(d, p) + grad(d, t)\n}\n"
    )
    x = np.random.default_rng(6).normal(size=(6, 5)).astype(np.float32)
    out = interp.run(kernel, {"X": x}, {}, {"M": 6, "V": 5})
    np.testing.assert_allclose(out["Out"], x, atol=1e-5)
    # The descent ends at t, so that p is t: sum(p t) has the slope t by p, and p + t by t, through the rounds too.
    np.testing.assert_allclose(out["S"], 3 * x, rtol=1e-5, atol=1e-5)


def test_a_gradient_in_a_branch():
    kernel = build(
        "kernel k(X: tensor<f32>[M, V], Out: tensor<f32>[M, V], n: i32) {\n  let r = ctx.block.x * 4\n"
        "  let x = X[r :+ 4, :]\n  let z = x * x\n  if n > 0 {\n    let q = sin(z)\n    Out[r :+ 4, :] = grad(q, x)\n"
        "  } else {\n    Out[r :+ 4, :] = grad(z, x)\n  }\n}\n"
    )
    x = np.random.default_rng(6).normal(size=(6, 5)).astype(np.float32)
    for n, expected in ((1, 2 * x * np.cos(x * x)), (0, 2 * x)):
        out = interp.run(kernel, {"X": x}, {"n": n}, {"M": 6, "V": 5})
        np.testing.assert_allclose(out["Out"], expected, rtol=1e-5, atol=1e-6)
