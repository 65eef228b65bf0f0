"""The error that each loss, softmax and normalisation owes, from its arguments; see `bounds` for the parts."""

from __future__ import annotations

import numpy as np

from tests.reference import bounds, losses, norm
from tests.reference import softmax as twins
from tests.reference.bounds import DIVIDE, RECIPROCAL_ROOT, ROOT, SUM, U


def logsumexp(x: np.ndarray) -> np.ndarray:
    return bounds.log_of_sum(x) + U * np.abs(twins.logsumexp(x))


def log_softmax(x: np.ndarray) -> np.ndarray:
    """`(x - max) - log(sum)`: a rounding of each difference."""
    _, below = bounds.shifted(x)
    return bounds.log_of_sum(x) + U * np.abs(below) + U * np.abs(twins.log_softmax(x))


def cross_entropy(x: np.ndarray, classes: np.ndarray) -> np.ndarray:
    top, _ = bounds.shifted(x)
    difference = np.abs(top - losses.at_class(x, classes))
    return bounds.log_of_sum(x) + U * difference + U * np.abs(losses.cross_entropy(x, classes))


def softmax(x: np.ndarray) -> np.ndarray:
    """`exp(x - max) / sum`, relative."""
    _, below = bounds.shifted(x)
    finite = np.where(np.isfinite(below), below, 0.0)
    relative = bounds.exp_relative(finite) + U * np.abs(finite) + bounds.exponential_sum_relative(x) + DIVIDE
    return relative * twins.softmax(x)


def nll_loss(log_probabilities: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Exact: one element, moved."""
    return 0.0 * classes


def mse_loss(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A difference (twice in the square) and a product a term."""
    return bounds.row_mean((a - b) ** 2, 3)


def l1_loss(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return bounds.row_mean(a - b, 1)


def smooth_l1_loss(a: np.ndarray, b: np.ndarray, beta: float) -> np.ndarray:
    """The bowl: a difference (twice), two products, a division; the line: two roundings of at most |d|."""
    size = np.abs(a - b)
    bowl = size**2 / (2 * beta) if beta > 0 else size
    of_terms = U * np.where(size < beta, 9 * bowl, 3 * size)
    return bounds.row_mean(np.where(size < beta, bowl, size)) + np.mean(of_terms, axis=1, keepdims=True)


def kl_div(log_p: np.ndarray, q: np.ndarray) -> np.ndarray:
    some = q > 0
    inner = np.where(some, np.log(np.where(some, q, 1.0)) - np.where(some, log_p, 0.0), 0.0)
    of_log = np.where(some, bounds.log_absolute(np.where(some, q, 1.0)), 0.0)
    return bounds.row_sum(q * inner, 2) + np.sum(q * of_log, axis=1, keepdims=True)


def binary_cross_entropy_with_logits(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    small = np.logaddexp(0.0, -np.abs(x))
    linear = np.maximum(x, 0.0) - x * y
    # The product rounds at its own size, which is more than the linear part's for y near 1
    rounding = U * np.abs(x * y) + 2 * U * np.abs(linear) + small * (bounds.LOG1P + bounds.exp_relative(x) + U)
    return bounds.row_mean(linear + small, 0) + np.mean(rounding, axis=1, keepdims=True)


def layer_norm(
    x: np.ndarray, w: np.ndarray | float = 1.0, b: np.ndarray | float = 0.0, eps: float = 1e-5
) -> np.ndarray:
    centred = x - np.mean(x, axis=1, keepdims=True)
    variance = np.mean(centred**2, axis=1, keepdims=True) + eps
    of_mean = bounds.row_mean(x, 1)
    # The mean square about a mean that is off by e is larger by e^2; the rest is relative
    of_root = (SUM + 9 * U + of_mean**2 / variance) / 2 + RECIPROCAL_ROOT
    size = np.abs(centred) / np.sqrt(variance) * np.abs(w)
    return of_mean / np.sqrt(variance) * np.abs(w) + size * (of_root + 4 * U) + 2 * U * np.abs(b)


def rms_norm(x: np.ndarray, w: np.ndarray | float = 1.0, eps: float = 2.0**-23) -> np.ndarray:
    return np.abs(norm.rms_norm(x, w, eps)) * ((SUM + 9 * U) / 2 + RECIPROCAL_ROOT + 3 * U)


def normalize(x: np.ndarray, eps: float = 1e-12) -> np.ndarray:
    return np.abs(norm.normalize(x, eps)) * ((SUM + 2 * U) / 2 + ROOT + DIVIDE + U)


def batch_norm(
    x: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    w: np.ndarray | float = 1.0,
    b: np.ndarray | float = 0.0,
    eps: float = 1e-5,
) -> np.ndarray:
    size = np.abs((x - mean) / np.sqrt(variance + eps) * w)
    return size * (5 * U + RECIPROCAL_ROOT) + 2 * U * np.abs(b)


def cosine_similarity(a: np.ndarray, b: np.ndarray, eps: float = 1e-8) -> np.ndarray:
    lengths = np.maximum(norm.length(a), eps) * np.maximum(norm.length(b), eps)
    of_lengths = 2 * ((SUM + 2 * U) / 2 + ROOT + DIVIDE)
    return bounds.row_sum(a * b, 1) / lengths + np.abs(norm.cosine_similarity(a, b, eps)) * of_lengths
