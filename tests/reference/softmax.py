"""The softmax family in float64, from its formulas, over the last axis of `[R, C]` arrays."""

from __future__ import annotations

import numpy as np


def logsumexp(x: np.ndarray) -> np.ndarray:
    """`[R, 1]`; -inf for a row of only -inf, +inf for a row with +inf."""
    top = np.max(x, axis=1, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        return shift + np.log(np.sum(np.exp(x - shift), axis=1, keepdims=True))


def log_softmax(x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return x - logsumexp(x)


def softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(log_softmax(x))


def softmin(x: np.ndarray) -> np.ndarray:
    return softmax(-x)
