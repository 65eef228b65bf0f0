"""Expressions of rows, their values and slopes, on values that suit every loss of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.reference.execution import compiled

# Losses of logits x that depend on their differences only
CLASS_LOSSES = {
    "cross_entropy": "cross_entropy(x, t)",
    "nll": "nll_loss(log_softmax(x), t)",
    "smooth": "cross_entropy_smooth(x, t, 0.1)",
    "smooth weighted": "cross_entropy_smooth(x, t, 0.1, w)",
    "weighted": "cross_entropy_weighted(x, t, w)",
    "weighted by token": "weighted(cross_entropy(x, t), 0.5)",
    "soft": "cross_entropy_soft(x, q)",
    "training": "training_cross_entropy(x, t)",
    "training smooth": "training_cross_entropy(x, t, 0.1)",
    "focal": "focal_loss(x, t)",
    "focal gamma": "focal_loss(x, t, 0.5)",
    "info_nce": "info_nce(x, t, 0.5)",
    "entropy": "softmax_entropy(x)",
    "kl": "kl_div(log_softmax(x), q)",
    "kl of logarithms": "kl_div_log_target(log_softmax(x), log_softmax(y))",
    "jsd": "js_div(log_softmax(x), log_softmax(y))",
    "distillation": "distillation_loss(x, y, 2.0)",
    "log probability": "class_logp(x, t)",
}
# A masked class still counts in their mean.
MARGINS = {
    "margin": "multi_margin_loss(x, t, 2.0)",
    "squared margin": "squared_multi_margin_loss(x, t, 2.0)",
}
# These look at the size of the logits as well.
SIZED = {
    "training with z": "training_cross_entropy(x, t, 0.1, 0.01)",
    "capped": "cross_entropy(softcap(x, 10.0), t)",
    "z-loss": "z_loss(x, 0.5)",
    "router z-loss": "router_z_loss(x)",
}


def evaluate(
    expression: str, wrt: str = "x", one: str = "1", device: str = "numpy", **values: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The value of an expression of rows, and the slope of its sum in `wrt`. Arrays of one axis are features; `one` is
    what the extent of a tile of one column is called."""
    arrays = {name: np.asarray(value) for name, value in values.items()}
    parameters, lets = [], []
    for name, array in arrays.items():
        element = "i32" if array.dtype.kind == "i" else "f32"
        width = "C" if array.shape[-1] != 1 else "1" if name == "t" else one
        dims = "[C]" if array.ndim == 1 else f"[M, {width}]"
        span = "[:]" if array.ndim == 1 else "[r :+ 8, :]"
        parameters.append((f"{name.upper()}: tensor<{element}>{dims}", dims))
        lets.append(f"  let {name} = {name.upper()}{span}\n")
        if name == wrt:
            slope_dims = dims
    signature = ", ".join(text for text, _ in parameters)
    text = (
        f"kernel run({signature}, F: tensor<f32>[M, 1], G: tensor<f32>{slope_dims}) {{\n"
        f"  let r = ctx.block.x * 8\n{''.join(lets)}  let f = {expression}\n"
        f"  F[r :+ 8, :] = f\n  G[r :+ 8, :] = grad(f, {wrt})\n}}\n"
    )
    given_arrays = {
        name.upper(): array.astype(np.int32 if array.dtype.kind == "i" else np.float32)
        for name, array in arrays.items()
    }
    result = compiled(text).run(**given_arrays, device=device)
    return result.F, result.G


def batch(seed: int, rows: int, columns: int, scale: float = 3.0) -> dict[str, np.ndarray]:
    """Logits on a grid, so that f32 shifts them exactly, and what the losses want beside them."""
    rng = np.random.default_rng(seed)
    q = np.exp(rng.normal(size=(rows, columns)))
    return {
        "x": np.round(rng.normal(size=(rows, columns)) * scale * 8) / 8,
        "y": np.round(rng.normal(size=(rows, columns)) * scale * 8) / 8,
        "t": rng.integers(0, columns, (rows, 1)),
        "w": rng.uniform(0.5, 1.5, columns),
        "q": q / q.sum(axis=1, keepdims=True),
    }


def used(loss: str, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arguments that the expression names."""
    inside = loss[loss.index("(") :].replace("(", " ").replace(")", " ").replace(",", " ").split()
    return {name: value for name, value in values.items() if name in inside}


def check_equal(got: tuple, expected: tuple, tolerance: float = 3e-6) -> None:
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
