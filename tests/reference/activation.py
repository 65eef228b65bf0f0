"""Activations in float64, from their formulas, any shape. At an infinity they give the limit."""

from __future__ import annotations

import math

import numpy as np

_erfc = np.vectorize(math.erfc, otypes=[np.float64])
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -x))


def times_gate(x: np.ndarray, gate: np.ndarray) -> np.ndarray:
    """`x gate`, 0 at -inf, where every gate of this file vanishes faster than x grows."""
    return np.where(np.isneginf(x), 0.0, np.where(np.isneginf(x), 0.0, x) * gate)


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0.0)


def relu6(x: np.ndarray) -> np.ndarray:
    return np.clip(x, 0.0, 6.0)


def leaky_relu(x: np.ndarray, negative_slope: float = 0.01) -> np.ndarray:
    return np.where(x > 0, x, negative_slope * x)


def prelu(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, weight * x)


def threshold(x: np.ndarray, bound: float, value: float) -> np.ndarray:
    return np.where(x <= bound, value, x)


def elu(x: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0)))


def selu(x: np.ndarray) -> np.ndarray:
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


def celu(x: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    return np.maximum(x, 0.0) + alpha * np.expm1(np.minimum(x, 0.0) / alpha)


def gelu(x: np.ndarray) -> np.ndarray:
    return times_gate(x, 0.5 * _erfc(-x / math.sqrt(2.0)))


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    # (1 + tanh(u)) / 2 is the sigmoid of 2 u
    with np.errstate(over="ignore"):
        return times_gate(x, sigmoid(2.0 * math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: np.ndarray) -> np.ndarray:
    return times_gate(x, sigmoid(x))


def softplus(x: np.ndarray, beta: float = 1.0) -> np.ndarray:
    return np.logaddexp(0.0, beta * x) / beta


def mish(x: np.ndarray) -> np.ndarray:
    return times_gate(x, np.tanh(softplus(x)))


def hardtanh(x: np.ndarray, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    return np.clip(x, low, high)


def hardsigmoid(x: np.ndarray) -> np.ndarray:
    return np.clip(x / 6 + 0.5, 0.0, 1.0)


def hardswish(x: np.ndarray) -> np.ndarray:
    return times_gate(x, hardsigmoid(x))


def hardshrink(x: np.ndarray, bound: float = 0.5) -> np.ndarray:
    return np.where(np.abs(x) <= bound, 0.0, x)


def softshrink(x: np.ndarray, bound: float = 0.5) -> np.ndarray:
    return np.sign(x) * np.maximum(np.abs(x) - bound, 0.0)


def softsign(x: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(x), np.sign(x), np.where(np.isinf(x), 0.0, x) / (1.0 + np.abs(x)))


def tanhshrink(x: np.ndarray) -> np.ndarray:
    # Below 0.05 the difference cancels even in float64: its series there
    near = np.where(np.abs(x) < 0.05, x, 0.0)
    series = near**3 / 3 - 2 * near**5 / 15 + 17 * near**7 / 315 - 62 * near**9 / 2835
    return np.where(np.abs(x) < 0.05, series, x - np.tanh(x))


def logsigmoid(x: np.ndarray) -> np.ndarray:
    return -np.logaddexp(0.0, -x)


def glu(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a * sigmoid(b)
