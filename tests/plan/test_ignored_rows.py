"""Rows that nothing needs are not read: the loop interpreter counts the reads of each row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.gradients.harness import build
from tests.plan.harness import run_plan, storage_dtype
from tilec.driver import _run_passes
from tilec.loop.interp_threads import Threads
from tilec.options import Limits, Options
from tilec.tile import interp
from tilec.tile.passes import PASSES
from tilec.types import DType

EXAMPLE = (Path(__file__).parents[2] / "examples/train_loss.ph").read_text(encoding="utf-8")
HEAD = (
    "kernel k(X: tensor<f32>[M, V], T: tensor<i32>[M], W: tensor<f32>[V], "
    "L: tensor<f32>[M], G: tensor<f32>[M, V]) {\n"
)
ROWS = HEAD + "  let r = ctx.block.x * 4\n  let x = X[r :+ 4, :]\n  let t = T[r :+ 4, new]\n"
STORES = "  L[r :+ 4, new] = loss\n  G[r :+ 4, :] = grad(loss, x)\n}\n"
SIDES = "  L[r :+ 4, new] = where(ok, sides, 0.0)\n  G[r :+ 4, :] = where(ok, x, 0.0)\n}\n"
KERNELS = {
    "an index that is ignored": ROWS + "  let loss = where(t != 3, logsumexp(x) - pick(x, t), 0.0)\n" + STORES,
    "two conditions, one inside the other": ROWS
    + "  let inner = where(t >= 0, logsumexp(x) - pick(x, t), 1.0)\n  let loss = where(t != 3, inner, 0.0)\n" + STORES,
    "the other side": ROWS + "  let loss = where(t == 3 || t < 0, 0.0, rowmean(square(x)))\n" + STORES,
    "class weights": ROWS
    + "  let loss = where(t >= 0 && t != 3, (logsumexp(x) - pick(x, t)) * pick(W[:], t), 0.0)\n" + STORES,
    "one condition or another": ROWS
    + "  let ok = t >= 0 && t != 3\n  let l = logsumexp(x)\n"
    "  let sides = where(t < 3 || t > 3, l, 0.0) + where(t > 3, 2.0 * l, 0.0)\n" + SIDES,
    "not one condition, but another": ROWS
    + "  let ok = !(t == 3) && !(t < 0)\n  let l = rowmax(x)\n"
    "  let sides = where(!(t > 3) && t < 3, l, 0.0) + where(t > 3, 2.0 * l, 0.0)\n" + SIDES,
    "several reductions": ROWS
    + "  let ok = t >= 0 && t != 3\n  let p = softmax(x)\n  let loss = where(ok, rowsum(p * x) + rowmax(x), 0.0)\n"
    + STORES,
    "no gradient": ROWS
    + "  let valid = t >= 0 && t != 3\n  L[r :+ 4, new] = where(valid, logsumexp(x) - pick(x, t), 0.0)\n"
    + "  G[r :+ 4, :] = where(valid, softmax(x), 0.0)\n}\n",
    "an if": HEAD + "  let r = ctx.block.x\n  let x = X[r :+ 1, :]\n  let t = T[r]\n  let l = logsumexp(x)\n"
    "  if t >= 0 && t != 3 {\n    L[r] = l\n    G[r :+ 1, :] = exp(x - l)\n  } else {\n    L[r] = 0.0\n"
    "    G[r :+ 1, :] = 0.0\n  }\n}\n",
    "an if that is a value": HEAD
    + "  let r = ctx.block.x\n  let x = X[r :+ 1, :]\n  let t = T[r]\n  var g = 0.0 * W[new, :]\n  var l = 0.0\n"
    "  if t >= 0 && t != 3 {\n    l = logsumexp(x)\n    g = softmax(x)\n  }\n  L[r] = l\n  G[r :+ 1, :] = g\n}\n",
    "the whole tensor": HEAD
    + "  let x = X[:, :]\n  let t = T[:, new]\n  let valid = t >= 0 && t != 3\n"
    "  let mean = sum(where(valid, logsumexp(x) - pick(x, t), 0.0)) / max(f32(sum(valid)), 1.0)\n"
    "  L[:, new] = where(valid, mean, 0.0)\n  G[:, :] = grad(mean, x)\n}\n",
}  # fmt: skip
CPU = Options(limits=Limits(is_cpu=True))
CASES = {
    "one lane a row": ((11, 5), Options(), True),
    "many lanes, resident": ((5, 600), Options(), True),
    "whole vectors": ((5, 512), Options(), True),
    "several rows a workgroup": ((9, 40), Options(threads=64), True),
    "many lanes, streamed": ((3, 600), Options(threads=8), True),
    "sizes not known": ((5, 70), Options(threads=16), False),
    "a software device": ((130, 40), CPU, True),
}


@pytest.fixture
def reads(monkeypatch):
    """The elements of each buffer that are read, four a vector, while the fixture lives."""
    found: dict[str, set[int]] = {}
    load = Threads.load

    def recorded(self, buffer, index, mask, statement):
        elements = np.broadcast_to(index, (self.count,))[mask].astype(np.int64)
        each = elements[:, None] * buffer.width + np.arange(buffer.width)
        found.setdefault(buffer.name, set()).update(each.ravel().tolist())
        return load(self, buffer, index, mask, statement)

    monkeypatch.setattr(Threads, "load", recorded)
    return found


def targets_of(rng, rows, columns):
    """About half of the rows are ignored: 3 and negative targets."""
    target = rng.integers(0, columns, rows).astype(np.int32)
    target[rng.random(rows) < 0.3] = 3
    target[rng.random(rows) < 0.3] = -1
    target[0], target[-1] = 3, 0
    return target


def rows_read(elements, columns, per_word=1):
    return {element * per_word // columns for element in elements}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", KERNELS)
def test_an_ignored_row_is_not_read(name, case, reads):
    (rows, columns), options, known = CASES[case]
    rng = np.random.default_rng(rows)
    target = targets_of(rng, rows, columns)
    if name in ("an index that is ignored", "two conditions, one inside the other"):
        target[target < 0] = 3
    ignored = (target == 3) | (target < 0)
    x = rng.normal(size=(rows, columns)).astype(np.float32)
    tensors = {
        "X": x, "T": target, "W": rng.random(columns).astype(np.float32), "L": np.full(rows, np.nan, np.float32),
        "G": np.full((rows, columns), np.nan, np.float32),
    }  # fmt: skip
    kernel = _run_passes(build(KERNELS[name]), PASSES, True)
    expected = interp.run(kernel, tensors, {}, {"M": rows, "V": columns})
    got = run_plan(kernel, tensors, options=options, known=known)
    assert not rows_read(reads["X"], columns) & set(np.flatnonzero(ignored))
    assert rows_read(reads["X"], columns) == set(np.flatnonzero(~ignored))
    for output in ("L", "G"):
        np.testing.assert_allclose(got[output], expected[output], rtol=2e-5, atol=2e-6)
        assert (got[output][ignored] == 0).all()
    poisoned = tensors | {"X": np.where(ignored[:, None], np.float32(np.nan), x)}
    again = run_plan(kernel, poisoned, options=options, known=known)
    for output in ("L", "G"):
        assert again[output].tobytes() == got[output].tobytes()


@pytest.mark.parametrize("dtype", [DType.F32, DType.F16, DType.BF16], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_the_training_loss_does_not_read_ignored_rows(case, dtype, reads):
    (rows, columns), options, known = CASES[case]
    columns += columns % 2  # rows begin on words
    rng = np.random.default_rng(rows)
    target = targets_of(rng, rows, columns)
    ignored = (target == 3) | (target < 0)
    logits = rng.normal(size=(rows, columns)).astype(storage_dtype(dtype))
    kernel = _run_passes(build(EXAMPLE, "train_loss", (), (("T", dtype),)), PASSES, True)
    scalars = {"alpha": 0.1, "beta": 1e-4, "inv_norm": 0.5, "ignore_index": 3}
    tensors = {"Logits": logits, "Target": target, "Loss": np.full(rows, np.nan, np.float32)}
    got = run_plan(kernel, tensors, scalars, options=options, known=known)
    if known or dtype is DType.F32:  # of sizes that are not known words may be shared, and are then unpacked as a whole
        assert rows_read(reads["Logits"], columns, dtype.elements_per_word) == set(np.flatnonzero(~ignored))
    assert (got["Loss"][ignored] == 0).all()
    assert (got["Logits"][ignored].astype(np.float64) == 0).all()
    # Rows do not know of each other: with every target valid the others have the same bits.
    every = run_plan(kernel, tensors | {"Target": np.where(ignored, 0, target)}, scalars, options=options, known=known)
    for name in ("Loss", "Logits"):
        assert got[name][~ignored].tobytes() == every[name][~ignored].tobytes()
