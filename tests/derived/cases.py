"""Forward kernels, and the same losses in torch: what the derived kernels are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn import functional


@dataclass(frozen=True)
class Case:
    """`source` has a kernel `k` whose loss is `Loss`; `torch` gives that tensor from float64 inputs by name.

    `shapes` are those of the float inputs for each of several sizes; `integers` those of class indices below `classes`.
    """

    name: str
    source: str
    torch: Callable[..., torch.Tensor]
    shapes: tuple[dict[str, tuple[int, ...]], ...]
    wrt: tuple[str, ...] = ("X",)
    classes: str = ""
    scalars: dict[str, Any] = field(default_factory=dict)
    in_place: bool = True
    dtypes: tuple[str, ...] = ("f32",)


def _cross_entropy(X: torch.Tensor, T: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(X, T, reduction="none")


def _smooth(X: torch.Tensor, T: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(X, T, reduction="none", label_smoothing=0.1)


def _early_return(X: torch.Tensor, T: torch.Tensor) -> torch.Tensor:
    return torch.where(T % 3 == 0, 0.0, functional.cross_entropy(X, T, reduction="none"))


def _branches(X: torch.Tensor, T: torch.Tensor) -> torch.Tensor:
    row = torch.where(T % 3 == 0, X.square().sum(1), torch.where(T % 3 == 1, X.sum(1), torch.logsumexp(X, 1)))
    return row


def _rounds(X: torch.Tensor, T: torch.Tensor) -> torch.Tensor:
    return torch.where(T % 3 == 0, 0.0, 3 * X.square().sum(1))


def _windows(X: torch.Tensor) -> torch.Tensor:
    padded = functional.pad(X, (0, 128 - X.shape[1]))
    return torch.sin(padded).sum(1) + padded.square().sum(1)


def _differing(X: torch.Tensor) -> torch.Tensor:
    inside = torch.sin(X) + 2 * X.square() + torch.sin(X) * X
    return inside.sum(1) + 4.0 * (128 - X.shape[1])


def _rolled(X: torch.Tensor) -> torch.Tensor:
    return torch.stack([X[:, 4 * i : 4 * i + 4].square().sum(1) * (i + 1) for i in range(3)], dim=1)


ROWS = ({"X": (1, 1)}, {"X": (13, 5)}, {"X": (8, 300)})
MANY = ("f32", "f16", "bf16")

CASES = [
    Case(
        "cross_entropy",
        """
kernel k(X: tensor<f32|f16|bf16>[M, V], T: tensor<i32|i64>[M], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  Loss[r :+ 8, new] = logsumexp(x) - pick(x, T[r :+ 8, new])
}""",
        _cross_entropy, ROWS, classes="V", dtypes=MANY,
    ),
    Case(
        "reads_of_one_span",
        """
kernel k(X: tensor<f32>[M, V], T: tensor<i32>[M], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, new] = logsumexp(X[r :+ 8, :]) - pick(X[r :+ 8, :], T[r :+ 8, new])
}""",
        _cross_entropy, ROWS, classes="V",
    ),
    Case(
        "statement_function",
        """
kernel k<E: f32|f16|bf16>(X: tensor<E>[M, V], T: tensor<i32>[M, 1], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var x = X[r :+ 8, :]
  cross_entropy(Loss[r :+ 8, :], x, T[r :+ 8, :])
}""",
        lambda X, T: _cross_entropy(X, T[:, 0])[:, None], ROWS, classes="V", dtypes=MANY,
    ),
    Case(
        "smoothed",
        """
kernel k(X: tensor<f32>[M, V], T: tensor<i32>[M], Loss: tensor<f32>[M], alpha: f32 = 0.1) {
  let r = ctx.block.x * 4
  let x = X[r :+ 4, :]
  let lse = logsumexp(x)
  Loss[r :+ 4, new] = lse - (1.0 - alpha) * pick(x, T[r :+ 4, new]) - alpha * rowmean(x)
}""",
        _smooth, ROWS, classes="V",
    ),
    Case(
        "whole_tensor",
        """
kernel k(X: tensor<f32>[M, V], T: tensor<i32>[M], Loss: tensor<f32>[1]) {
  let x = X[:, :]
  Loss[0] = mean(logsumexp(x) - pick(x, T[:, new]))
}""",
        lambda X, T: _cross_entropy(X, T).mean()[None], ROWS, classes="V",
    ),
    Case(
        "elementwise",
        """
kernel k(X: tensor<f32|f16>[M, V], Y: tensor<f32>[M, V], Loss: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  let d = X[r :+ 8, :] - Y[r :+ 8, :]
  Loss[r :+ 8, :] = square(d) * sin(d)
}""",
        lambda X, Y: (X - Y) ** 2 * torch.sin(X - Y),
        tuple({"X": one["X"], "Y": one["X"]} for one in ROWS), wrt=("X", "Y"), dtypes=("f32", "f16"),
    ),
    Case(
        "columns",
        """
kernel k(X: tensor<f32>[M, V], Loss: tensor<f32>[1, V]) {
  let c = ctx.block.x * 16
  Loss[:, c :+ 16] = colmean(square(X[:, c :+ 16]))
}""",
        lambda X: X.square().mean(0, keepdim=True), ROWS,
    ),
    Case(
        "two_grid_axes",
        """
kernel k(X: tensor<f32>[M, V], Loss: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  let c = ctx.block.y * 16
  Loss[r :+ 8, c :+ 16] = exp(X[r :+ 8, c :+ 16])
}""",
        lambda X: torch.exp(X), ROWS,
    ),
    Case(
        "stretched_store",
        """
kernel k(X: tensor<f32>[M, V], Loss: tensor<f32>[M, V]) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, :] = logsumexp(X[r :+ 8, :])
}""",
        lambda X: torch.logsumexp(X, 1, keepdim=True).expand(X.shape), ROWS,
    ),
    Case(
        "early_return",
        """
kernel k(X: tensor<f32>[M, V], T: tensor<i32>[M], Loss: tensor<f32>[M]) {
  let r = ctx.block.x
  let t = T[r]
  if t % 3 == 0 {
    Loss[r] = 0.0
    return
  }
  let x = X[r, :]
  Loss[r] = logsumexp(x) - pick(x, t)
}""",
        _early_return, ROWS, classes="V",
    ),
    Case(
        "branches",
        """
kernel k(X: tensor<f32>[M, V], T: tensor<i32>[M], Loss: tensor<f32>[M]) {
  let r = ctx.block.x
  let x = X[r, :]
  if T[r] % 3 == 0 {
    Loss[r] = sum(square(x))
  } else if T[r] % 3 == 1 {
    Loss[r] = sum(x)
  } else {
    Loss[r] = logsumexp(x)
  }
}""",
        _branches, ROWS, classes="V",
    ),
    Case(
        "loop_in_a_branch",
        """
kernel k(X: tensor<f32>[M, V], T: tensor<i32>[M], Rounds: tensor<i32>[M], Loss: tensor<f32>[M]) {
  let r = ctx.block.x
  let x = X[r, :]
  if T[r] % 3 == 0 {
    Loss[r] = 0.0
    return
  }
  var total = 0.0
  for i in range(0, 3) {
    total += f32(i) * sum(square(x))
    Rounds[r] = i
  }
  Loss[r] = total
}""",
        _rounds, ROWS, classes="V",
    ),
    Case(
        "halves",
        """
kernel k(X: tensor<f32>[M, 24], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let a = X[r :+ 8, 0 :+ 12]
  let b = X[r :+ 8, 12 :+ 12]
  Loss[r :+ 8, new] = rowsum(a * sin(b))
}""",
        lambda X: (X[:, :12] * torch.sin(X[:, 12:])).sum(1), ({"X": (9, 24)},),
    ),
    Case(
        "loop_of_chunks",
        """
kernel k(X: tensor<f32>[M, 20], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var total: tile<f32>[8, 8] = 0.0
  for c in range(0, 20, 8) {
    total += square(X[r :+ 8, c :+ 8])
  }
  Loss[r :+ 8, :] = sqrt(rowsum(total))
}""",
        lambda X: X.norm(dim=1, keepdim=True), ({"X": (11, 20)},),
    ),
    Case(
        "loop_of_losses",
        """
kernel k(X: tensor<f32>[M, 12], Loss: tensor<f32>[M, 3]) {
  let r = ctx.block.x * 8
  for i in range(0, 3) {
    Loss[r :+ 8, i :+ 1] = rowsum(square(X[r :+ 8, i * 4 :+ 4])) * f32(i + 1)
  }
}""",
        _rolled, ({"X": (10, 12)},),
    ),
    Case(
        "filled_reads",
        """
kernel k(X: tensor<f32>[M, V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, 0 :+ 128] else 0.0
  Loss[r :+ 8, new] = rowsum(sin(x)) + rowsum(square(x))
}""",
        _windows, ({"X": (13, 5)}, {"X": (8, 100)}), in_place=False,
    ),
    Case(
        "reads_that_differ_outside",
        """
kernel k(X: tensor<f32>[M, V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, 0 :+ 128] else 0.0
  let y = X[r :+ 8, 0 :+ 128]
  let z = X[r :+ 8, 0 :+ 128] else 2.0
  Loss[r :+ 8, new] = rowsum(sin(x)) + rowsum(square(y)) + rowsum(sin(y) * x) + rowsum(square(z))
}""",
        _differing, ({"X": (13, 5)}, {"X": (8, 128)}), in_place=False,
    ),
    Case(
        # Rows behind the last one are active: what they give is not stored, and must not count.
        "active_outside",
        """
kernel k(X: tensor<f32>[M, V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :] else 1.0
  let mean = colmean(x)
  Loss[r :+ 8, new] = rowsum(square(x - mean)) * 0.5
}""",
        lambda X: _of_blocks(X), ({"X": (13, 5)}, {"X": (3, 40)}),
    ),
    Case(
        "points",
        """
kernel k(X: tensor<f32>[M, 2], Loss: tensor<f32>[M]) {
  let r = ctx.block.x
  let a = X[r, 0]
  let b = X[r, 1]
  Loss[r] = sin(a) * b
}""",
        lambda X: torch.sin(X[:, 0]) * X[:, 1], ({"X": (17, 2)},),
    ),
    Case(
        "scratch_output",
        """
kernel k(X: tensor<f32>[M, V], Probability: tensor<f32>[M, V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  Probability[r :+ 8, :] = softmax(X[r :+ 8, :])
  let p = Probability[r :+ 8, :]
  Loss[r :+ 8, new] = rowsum(square(p))
}""",
        lambda X: torch.softmax(X, 1).square().sum(1), ROWS,
    ),
    Case(
        "loss_stored_twice",
        """
kernel k(X: tensor<f32>[M, V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, new] = rowsum(X[r :+ 8, :])
  Loss[r :+ 8, new] *= 2.0
}""",
        lambda X: 2 * X.sum(1), ROWS,
    ),
    Case(
        "rank_three",
        """
kernel k(X: tensor<f32>[B, M, V], Loss: tensor<f32>[B, M]) {
  let b = ctx.block.y
  let r = ctx.block.x * 4
  Loss[b, r :+ 4] = rowmax(X[b, r :+ 4, :])
}""",
        lambda X: X.amax(2), ({"X": (3, 6, 5)}, {"X": (1, 9, 33)}),
    ),
    Case(
        "gradient_penalty",
        """
kernel k(X: tensor<f32>[M, V], Loss: tensor<f32>[M]) {
  let r = ctx.block.x * 8
  let x = X[r :+ 8, :]
  let y = rowsum(x * x * x)
  let g = grad(y, x)
  Loss[r :+ 8, new] = rowsum(square(g))
}""",
        lambda X: (9 * X**4).sum(1), ROWS,
    ),
    Case(
        "loss_of_half_precision",
        """
kernel k(X: tensor<f32>[M, V], Loss: tensor<f16>[M]) {
  let r = ctx.block.x * 8
  Loss[r :+ 8, new] = rowsum(sin(X[r :+ 8, :]))
}""",
        lambda X: torch.sin(X).sum(1), ROWS,
    ),
]


def _of_blocks(x: torch.Tensor) -> torch.Tensor:
    """Blocks of 8 rows, those behind the last one filled with ones."""
    rows = x.shape[0]
    padded = functional.pad(x, (0, 0, 0, -rows % 8), value=1.0).reshape(-1, 8, x.shape[1])
    losses = (padded - padded.mean(1, keepdim=True)).square().sum(2) * 0.5
    return losses.reshape(-1)[:rows]
