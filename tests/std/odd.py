"""Arguments on purpose: ties, zeros, large numbers, shifted logits, masked classes, rows that are ignored."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.reference.table import Normal, distribution, log_probabilities, wide
from tests.reference.training_table import PROBABILITY, Input, Loss
from tests.std.test_training import draw

WAYS = ("ties", "zeros", "large", "shift by 1e4", "shift by 1e6", "masked", "ignored")

# Functions of logits, of which -inf is a class that is not there
LOGITS = {
    "cross_entropy", "logsumexp", "softmax", "log_softmax", "cross_entropy_smooth", "cross_entropy_weighted",
    "cross_entropy_soft", "z_loss", "training_cross_entropy", "focal_loss", "info_nce", "softmax_entropy", "class_logp",
    "distillation_loss", "router_z_loss", "load_balance_loss",
}  # fmt: skip


def is_any_number(one: Input) -> bool:
    return isinstance(one.draw, Normal) or one.draw is wide


def draw_odd(loss: Loss, seed: int, rows: int, columns: int, ways: frozenset[str]) -> dict[str, Any]:
    """Arguments as `draw` gives them, odd in the ways that suit each; float64 arrays of f32 numbers."""
    rng = np.random.default_rng(seed)
    values = draw(loss, rows, columns, seed)
    values["U"] = rng.choice([-1.0, 1.0], values["U"].shape) * rng.uniform(0.5, 1.5, values["U"].shape)
    ignored = np.zeros(rows, bool)
    if "ignored" in ways and loss.function == "training_cross_entropy":
        ignored = rng.random(rows) < rng.choice([0.3, 1.0])
        outside = rng.choice([-100, -1, columns, 2**31 - 1], (rows, 1))
        values["T"] = np.where(ignored[:, None], outside, values["T"]).astype(np.int32)
    for one in loss.inputs:
        if one.kind in ("scalar", "classes"):
            continue
        value = values[one.name]
        if is_any_number(one):
            value = _any_number(value, rng, ways)
            if loss.function in LOGITS and one.kind == "tile":
                value = _logits(value, rng, ways)
        elif one.draw is log_probabilities and "masked" in ways:
            value = np.where(rng.random(value.shape) < 0.3, -np.inf, value)
        elif one.draw is distribution and "ties" in ways:
            value = np.eye(columns)[rng.integers(0, columns, rows)]
        elif one is PROBABILITY and "zeros" in ways:
            value = np.where(rng.random(value.shape) < 0.3, rng.integers(0, 2, value.shape), value)
        if one.name == "X" and ignored.any():
            value = np.where(ignored[:, None], rng.choice([np.nan, np.inf, -np.inf, 3e38]), value)
        values[one.name] = value.astype(np.float32).astype(np.float64)
    return values


def _any_number(value: np.ndarray, rng: np.random.Generator, ways: frozenset[str]) -> np.ndarray:
    if "ties" in ways:
        value = np.round(2 * value) / 2
    if "zeros" in ways:
        value = np.where(rng.random(value.shape) < 0.3, 0.0, value)
    if "large" in ways:
        value = np.where(rng.random(value.shape) < 0.2, value * rng.choice([30.0, 1e3, 1e4]), value)
    return value


def _logits(value: np.ndarray, rng: np.random.Generator, ways: frozenset[str]) -> np.ndarray:
    for way, shift in (("shift by 1e4", 1e4), ("shift by 1e6", 1e6)):
        if way in ways:
            value = value + shift * rng.choice([-1.0, 0.0, 1.0], (len(value), 1))
    if "masked" in ways:
        value = np.where(rng.random(value.shape) < rng.choice([0.2, 0.7]), -np.inf, value)
    return value


def ignored_rows(loss: Loss, values: dict[str, Any]) -> np.ndarray:
    """The rows whose class is none, of the losses that leave them out."""
    if loss.function != "training_cross_entropy":
        return np.zeros(len(values["U"]), bool)
    return ((values["T"] < 0) | (values["T"] >= values["X"].shape[1]))[:, 0]
