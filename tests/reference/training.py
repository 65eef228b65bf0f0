"""The losses of training code in float64, from their formulas: `[R, C]` arrays in, the `[R, 1]` column out."""

from __future__ import annotations

import numpy as np

from tests.reference.losses import at_class
from tests.reference.softmax import log_softmax, logsumexp, softmax

Array = np.ndarray


def _mean(values: Array) -> Array:
    return np.mean(values, axis=1, keepdims=True)


def _sum(values: Array) -> Array:
    return np.sum(values, axis=1, keepdims=True)


def _log1p_exp(x: Array) -> Array:
    return np.logaddexp(0.0, x)


def _sigmoid(x: Array) -> Array:
    return np.exp(-_log1p_exp(-x))


def times(weight: Array | float, value: Array) -> Array:
    """The product, where 0 times anything is 0."""
    zero = np.asarray(weight) == 0
    return np.where(zero, 0.0, weight * np.where(zero, 0.0, value))


# --- classification ------------------------------------------------------------------------------------------


def softcap(x: Array, cap: float) -> Array:
    return np.where(np.isneginf(x), x, cap * np.tanh(x / cap))


def z_loss(x: Array, beta: float) -> Array:
    return times(beta, logsumexp(x) ** 2)


def _negative_logs(x: Array, classes: Array) -> Array:
    return -at_class(log_softmax(x), classes)


def cross_entropy_weighted(x: Array, classes: Array, w: Array) -> Array:
    return times(at_class(np.broadcast_to(w, x.shape), classes), _negative_logs(x, classes))


def cross_entropy_smooth(x: Array, classes: Array, smoothing: float, w: Array | float = 1.0) -> Array:
    weights = np.broadcast_to(w, x.shape)
    here = ~np.isneginf(x)
    spread = _sum(np.where(here, weights * -np.where(here, log_softmax(x), 0.0), 0.0)) / _sum(here)
    hard = cross_entropy_weighted(x, classes, weights)
    return times(1 - smoothing, hard) + times(smoothing, spread)


def cross_entropy_soft(x: Array, q: Array) -> Array:
    return _sum(times(q, -log_softmax(x)))


def is_class(x: Array, classes: Array, ignore_index: int = -100) -> Array:
    return (classes != ignore_index) & (classes >= 0) & (classes < x.shape[1])


def training_cross_entropy(
    x: Array, classes: Array, smoothing: float = 0.0, z: float = 0.0, ignore_index: int = -100
) -> Array:
    loss = cross_entropy_smooth(x, classes, smoothing) + z_loss(x, z)
    return np.where(is_class(x, classes, ignore_index), loss, 0.0)


def focal_loss(x: Array, classes: Array, gamma: float = 2.0) -> Array:
    """NaN for a row of masked classes only, of one class too."""
    probability = softmax(x)
    others = _sum(np.where(np.arange(x.shape[1]) == classes, 0.0, probability))
    logs = np.where(others < 0.5, np.log1p(-np.minimum(others, 0.5)), at_class(log_softmax(x), classes))
    return np.where(np.isneginf(logsumexp(x)), np.nan, others**gamma * -logs)


def sigmoid_focal_loss(x: Array, y: Array, alpha: float = 0.25, gamma: float = 2.0) -> Array:
    signed = np.where(y > 0.5, x, -x)
    weight = np.where(y > 0.5, alpha, 1 - alpha) if alpha >= 0 else 1.0
    return _mean(weight * _sigmoid(-signed) ** gamma * _log1p_exp(-signed))


def binary_cross_entropy_with_logits(x: Array, y: Array, pos_weight: Array | float) -> Array:
    return _mean(times(pos_weight * y, _log1p_exp(-x)) + times(1 - y, _log1p_exp(x)))


def binary_cross_entropy(p: Array, y: Array) -> Array:
    with np.errstate(divide="ignore"):
        return -_mean(y * np.maximum(np.log(p), -100.0) + (1 - y) * np.maximum(np.log1p(-p), -100.0))


def info_nce(s: Array, classes: Array, temperature: float = 0.07) -> Array:
    return _negative_logs(s / temperature, classes)


def softmax_entropy(x: Array) -> Array:
    return -_sum(times(softmax(x), log_softmax(x)))


def class_logp(x: Array, classes: Array) -> Array:
    return -_negative_logs(x, classes)


def weighted(loss: Array, w: Array) -> Array:
    return times(w, loss)


# --- regression ----------------------------------------------------------------------------------------------


def huber_loss(a: Array, b: Array, delta: float = 1.0) -> Array:
    size = np.abs(a - b)
    return _mean(np.where(size <= delta, size**2 / 2, delta * size - delta**2 / 2))


def log_cosh_loss(a: Array, b: Array) -> Array:
    """By the double angle, cosh d = 1 + 2 sinh(d / 2)^2, where that cannot overflow."""
    d = a - b
    near = np.log1p(2 * np.sinh(np.clip(d, -1, 1) / 2) ** 2)
    return _mean(np.where(np.abs(d) < 1, near, np.logaddexp(d, -d) - np.log(2)))


def quantile_loss(a: Array, b: Array, q: float = 0.5) -> Array:
    return _mean(np.where(b >= a, q * (b - a), (1 - q) * (a - b)))


def gaussian_nll_loss(a: Array, b: Array, v: Array, eps: float = 1e-6) -> Array:
    variance = np.maximum(v, eps)
    return _mean((np.log(variance) + (a - b) ** 2 / variance) / 2)


def poisson_nll_loss(a: Array, b: Array) -> Array:
    return _mean(np.exp(a) - times(b, a))


def poisson_rate_nll_loss(a: Array, b: Array, eps: float = 1e-8) -> Array:
    return _mean(a - times(b, np.log(a + eps)))


# --- divergences ---------------------------------------------------------------------------------------------


def _kl(log_q: Array, log_p: Array) -> Array:
    some = ~np.isneginf(log_q)
    return _sum(np.where(some, np.exp(log_q) * (np.where(some, log_q, 0.0) - np.where(some, log_p, 0.0)), 0.0))


def kl_div_log_target(log_p: Array, log_q: Array) -> Array:
    return _kl(log_q, log_p)


def js_div(log_p: Array, log_q: Array, beta: float = 0.5) -> Array:
    with np.errstate(divide="ignore"):
        log_m = np.log(beta * np.exp(log_p) + (1 - beta) * np.exp(log_q))
    return beta * _kl(log_p, log_m) + (1 - beta) * _kl(log_q, log_m)


def distillation_loss(student: Array, teacher: Array, temperature: float = 1.0) -> Array:
    return temperature**2 * _kl(log_softmax(teacher / temperature), log_softmax(student / temperature))


# --- margins -------------------------------------------------------------------------------------------------


def hinge_loss(x: Array, y: Array) -> Array:
    return _mean(np.maximum(1 - y * x, 0.0))


def squared_hinge_loss(x: Array, y: Array) -> Array:
    return _mean(np.maximum(1 - y * x, 0.0) ** 2)


def hinge_embedding_loss(x: Array, y: Array, margin: float = 1.0) -> Array:
    return _mean(np.where(y > 0, x, np.maximum(margin - x, 0.0)))


def soft_margin_loss(x: Array, y: Array) -> Array:
    return _mean(_log1p_exp(-y * x))


def multi_margin_loss(x: Array, classes: Array, margin: float = 1.0, power: int = 1) -> Array:
    inside = np.maximum(margin - at_class(x, classes) + x, 0.0) ** power
    return _mean(np.where(np.arange(x.shape[1]) == classes, 0.0, inside))


def squared_multi_margin_loss(x: Array, classes: Array, margin: float = 1.0) -> Array:
    return multi_margin_loss(x, classes, margin, 2)


def multilabel_margin_loss(x: Array, y: Array) -> Array:
    pairs = (y[:, :, None] > 0.5) & (y[:, None, :] < 0.5)
    inside = np.maximum(1 - (x[:, :, None] - x[:, None, :]), 0.0)
    return np.sum(pairs * inside, axis=(1, 2))[:, None] / x.shape[1]


def multilabel_soft_margin_loss(x: Array, y: Array) -> Array:
    return binary_cross_entropy_with_logits(x, y, 1.0)


def margin_ranking_loss(a: Array, b: Array, y: Array, margin: float = 0.0) -> Array:
    return _mean(np.maximum(margin - y * (a - b), 0.0))


def triplet_margin_loss(a: Array, p: Array, n: Array, margin: float = 1.0, eps: float = 1e-6) -> Array:
    near, far = (np.sqrt(_sum((a - other + eps) ** 2)) for other in (p, n))
    return np.maximum(near - far + margin, 0.0)


def cosine_embedding_loss(a: Array, b: Array, y: Array, margin: float = 0.0) -> Array:
    cosine = _sum(a * b) / np.sqrt((_sum(a * a) + 1e-12) * (_sum(b * b) + 1e-12))
    return np.where(y > 0, 1 - cosine, np.maximum(cosine - margin, 0.0))


# --- segmentation --------------------------------------------------------------------------------------------


def dice_loss(p: Array, y: Array, smooth: float = 1.0) -> Array:
    return 1 - (2 * _sum(p * y) + smooth) / (_sum(p) + _sum(y) + smooth)


def tversky_loss(p: Array, y: Array, alpha: float = 0.5, beta: float = 0.5, smooth: float = 1.0) -> Array:
    both, extra, missed = _sum(p * y), _sum(p * (1 - y)), _sum((1 - p) * y)
    return 1 - (both + smooth) / (both + alpha * extra + beta * missed + smooth)


# --- policies and preferences --------------------------------------------------------------------------------


def dpo_loss(c: Array, r: Array, ref_c: Array, ref_r: Array, beta: float = 0.1, smoothing: float = 0.0) -> Array:
    z = beta * (c - r - ref_c + ref_r)
    return (1 - smoothing) * _log1p_exp(-z) + smoothing * _log1p_exp(z)


def simpo_loss(chosen: Array, rejected: Array, beta: float = 2.0, gamma: float = 1.0) -> Array:
    return _log1p_exp(gamma - beta * (chosen - rejected))


def orpo_loss(chosen: Array, rejected: Array, beta: float = 0.1) -> Array:
    odds = [one - np.log(-np.expm1(one)) for one in (chosen, rejected)]
    return beta * _log1p_exp(odds[1] - odds[0]) - chosen


def kto_loss(
    logp: Array, ref: Array, kl: Array, y: Array, beta: float = 0.1, desirable: float = 1.0, undesirable: float = 1.0
) -> Array:
    gain = beta * (logp - ref - kl)
    return np.where(y > 0.5, desirable * _sigmoid(-gain), undesirable * _sigmoid(gain))


def ppo_loss(logp: Array, old: Array, advantage: Array, low: float = 0.2, high: float = 0.2) -> Array:
    ratio = np.exp(logp - old)
    return -np.minimum(times(advantage, ratio), advantage * np.clip(ratio, 1 - low, 1 + high))


def kl_estimate(logp: Array, ref: Array) -> Array:
    return np.expm1(ref - logp) - (ref - logp)


def grpo_loss(
    logp: Array, old: Array, ref: Array, advantage: Array, beta: float = 0.04, low: float = 0.2, high: float = 0.2
) -> Array:
    return ppo_loss(logp, old, advantage, low, high) + beta * kl_estimate(logp, ref)


# --- routers -------------------------------------------------------------------------------------------------


def router_z_loss(x: Array) -> Array:
    return logsumexp(x) ** 2


def load_balance_loss(x: Array, chosen: Array | None = None) -> Array:
    if chosen is None:
        chosen = np.arange(x.shape[1]) == np.argmax(x, axis=1, keepdims=True)
    shares = np.mean(chosen, axis=0) * np.mean(softmax(x), axis=0)
    return np.array([[x.shape[1] * np.sum(shares)]])
