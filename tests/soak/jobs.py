"""Launches of every form with changing shapes, each with a result that is known exactly."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

import tilec

COLUMNS = (1, 3, 8, 17, 64, 100, 129, 256)
MOST_ROWS = 96
SOURCE = """
kernel add<T: f32|f16>(X: tensor<T>[M, N], W: tensor<f32>[N], by: f32 = 1.0) {
  let r = ctx.block.x * 8
  X[r :+ 8, :] = X[r :+ 8, :] + W[new, :] * by
}

kernel totals(X: tensor<f32>[M, N], Row: tensor<f32>[M], Sum: tensor<f32>[1]) {
  Row[:, new] = rowsum(X[:, :])
  Sum[0] = sum(X[:, :])
}

kernel chosen(X: tensor<f32>[M, N], T: tensor<i32>[M], Y: tensor<f32>[M]) {
  let r = ctx.block.x * 4
  Y[r :+ 4, new] = pick(X[r :+ 4, :], T[r :+ 4, new]) - rowmax(X[r :+ 4, :])
}
"""


class Wrong(AssertionError):
    """A launch gave something else than it should."""


@dataclass
class Jobs:
    """Draws jobs for one thread; the module and the device may be shared with others."""

    module: tilec.Module
    device: tilec.Device
    random: np.random.Generator

    def one(self) -> int:
        """Runs a job of a drawn form, checks its results, and gives the number of launches."""
        forms = (self._host, self._device, self._prepared, self._batch, self._totals, self._chosen)
        return forms[int(self.random.integers(len(forms)))]()

    def _array(self, dtype: type = np.float32) -> np.ndarray:
        shape = int(self.random.integers(1, MOST_ROWS)), int(self.random.choice(COLUMNS))
        return self.random.integers(-8, 8, shape).astype(dtype)

    def _host(self) -> int:
        x = self._array(np.float16 if self.random.integers(2) else np.float32)
        w = np.ones(x.shape[1], np.float32)
        _same(self.module.add(x, w, 2.0, device=self.device).X, x + x.dtype.type(2))
        return 1

    def _device(self) -> int:
        x = self._array()
        on_device, w = self.device.array(x), self.device.array(np.ones(x.shape[1], np.float32))
        for _ in range(3):
            self.module.add(on_device, w)
        _same(on_device.numpy(), x + 3)
        return 3

    def _prepared(self) -> int:
        x = self._array()
        bound = self.module.add.bind(self.device.array(x), np.ones(x.shape[1], np.float32), 0.5)
        for _ in range(4):
            bound.launch()
        _same(bound.launch(by=1.0).X.numpy(), x + 3)
        return 5

    def _batch(self) -> int:
        x = self._array()
        on_device, w = self.device.array(x), self.device.array(np.ones(x.shape[1], np.float32))
        with self.device.batch():
            for _ in range(10):
                self.module.add(on_device, w)
            rows = self.module.totals(on_device).Row
        _same(rows.numpy(), (x + 10).sum(1))
        return 11

    def _totals(self) -> int:
        x = self._array()
        r = self.module.totals(x, device=self.device)
        _same(r.Row, x.sum(1))
        _same(r.Sum, x.sum(keepdims=True)[0])
        return 1

    def _chosen(self) -> int:
        x = self._array()
        targets = self.random.integers(-1, x.shape[1] + 1, x.shape[0])
        inside = (targets >= 0) & (targets < x.shape[1])
        picked = np.where(inside, x[np.arange(len(x)), np.clip(targets, 0, x.shape[1] - 1)], 0)
        _same(self.module.chosen(x, targets, device=self.device).Y, picked - x.max(1))
        return 1


def _same(got: np.ndarray, right: np.ndarray) -> None:
    if not np.array_equal(got, right):
        raise Wrong(f"{got.shape}: {np.count_nonzero(got != right)} elements differ")


def compile_module() -> tilec.Module:
    """A module of its own: parsed, typed and planned anew."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tilec.CompileWarning)
        return tilec.compile(source=SOURCE, name="soak.ph")


