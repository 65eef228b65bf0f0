"""Losses in float64, from their formulas: `[R, C]` arrays in, the `[R, 1]` column of the rows' losses out."""

from __future__ import annotations

import numpy as np

from tests.reference.softmax import log_softmax, logsumexp


def at_class(x: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The entry of each row at its class, 0 where the class is no column."""
    inside = (classes >= 0) & (classes < x.shape[1])
    return np.where(inside, np.take_along_axis(x, np.where(inside, classes, 0), axis=1), 0.0)


def cross_entropy(x: np.ndarray, classes: np.ndarray) -> np.ndarray:
    inside = (classes >= 0) & (classes < x.shape[1])
    return np.where(inside, -at_class(log_softmax(x), classes), logsumexp(x))


def nll_loss(log_probabilities: np.ndarray, classes: np.ndarray) -> np.ndarray:
    return -at_class(log_probabilities, classes)


def mse_loss(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.mean((a - b) ** 2, axis=1, keepdims=True)


def l1_loss(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.mean(np.abs(a - b), axis=1, keepdims=True)


def smooth_l1_loss(a: np.ndarray, b: np.ndarray, beta: float) -> np.ndarray:
    size = np.abs(a - b)
    bowl = size**2 / (2 * beta) if beta > 0 else size
    return np.mean(np.where(size < beta, bowl, size - beta / 2), axis=1, keepdims=True)


def kl_div(log_p: np.ndarray, q: np.ndarray) -> np.ndarray:
    some = q > 0
    terms = np.where(some, q, 0.0) * (np.log(np.where(some, q, 1.0)) - np.where(some, log_p, 0.0))
    return np.sum(terms, axis=1, keepdims=True)


def binary_cross_entropy_with_logits(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # -y log p - (1 - y) log(1 - p), each logarithm of a sigmoid by logaddexp
    return np.mean(y * np.logaddexp(0.0, -x) + (1 - y) * np.logaddexp(0.0, x), axis=1, keepdims=True)
