"""The error that each activation owes, as functions of its arguments; see `bounds` for the parts.

Functions of one or two roundings share `roundings`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.reference import activation as twins
from tests.reference import bounds
from tests.reference.bounds import DIVIDE, EXPM1, FLUSH, U


def roundings(twin: Callable[..., np.ndarray], units: float) -> Callable[..., np.ndarray]:
    """`units` roundings of the result."""

    def bound(*arguments: np.ndarray, **scalars: float) -> np.ndarray:
        return units * U * np.abs(_finite(twin(*arguments, **scalars)))

    return bound


def _finite(x: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(x), x, 0.0)


def _flushed(x: np.ndarray) -> np.ndarray:
    """Of a product of x and a gate that is flushed: the gates here vanish before x is -200."""
    return FLUSH * np.clip(np.abs(x), 1.0, 200.0)


def elu(x: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    return np.where(x > 0, 0.0, (EXPM1 + U) * np.abs(twins.elu(x, alpha)))


def selu(x: np.ndarray) -> np.ndarray:
    """The constants round, too."""
    return (EXPM1 + 2 * U) * np.abs(_finite(twins.selu(x)))


def celu(x: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    scaled = _finite(np.minimum(x, 0.0) / alpha)
    of_quotient = alpha * np.exp(scaled) * np.abs(scaled) * DIVIDE
    return np.where(x > 0, 0.0, of_quotient + (EXPM1 + U) * np.abs(twins.celu(x, alpha)))


def gelu(x: np.ndarray) -> np.ndarray:
    """The tail `0.5 erfc(|x| / sqrt 2)`: 8 roundings of its polynomial, two of the exponential's argument, and exp."""
    x = _finite(x)
    size = np.minimum(np.abs(x), 15.0)
    tail = np.abs(twins.gelu(-size)) / np.maximum(size, 1e-300)
    relative = 8 * U + size**2 * U + bounds.exp_relative(size**2 / 2)
    return np.abs(x) * (tail * relative) + 2 * U * np.abs(twins.gelu(x)) + _flushed(x)


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    """Seven roundings of the sigmoid's argument."""
    x = _finite(x)
    c = np.clip(x, -15.0, 15.0)
    argument = 1.5957691216057308 * (c + 0.044715 * c**3)
    rest = np.exp(-np.logaddexp(0.0, argument))
    relative = 7 * U * np.abs(argument) * rest + bounds.sigmoid(argument) + U
    return relative * np.abs(twins.gelu_tanh(x)) + _flushed(x)


def silu(x: np.ndarray) -> np.ndarray:
    x = _finite(x)
    return (bounds.sigmoid(x) + U) * np.abs(twins.silu(x)) + _flushed(x)


def mish(x: np.ndarray) -> np.ndarray:
    """`n / (n + 2)`, `n = e (e + 2)`: an error of e counts at most twice in n, `2 / (n + 2)` of that in the ratio."""
    x = _finite(x)
    n = np.expm1(2 * np.logaddexp(0.0, np.clip(x, -200.0, 20.0)))
    relative = (2 * bounds.exp_relative(np.clip(x, -200.0, 20.0)) + 2 * U) * 2 / (n + 2) + 2 * U + DIVIDE
    return relative * np.abs(twins.mish(x)) + 2 * _flushed(x)


def tanhshrink(x: np.ndarray) -> np.ndarray:
    """Up to 1 a polynomial of 12 roundings; beyond, `(a - 1) + 2 sigmoid(-2 a)`."""
    size = np.abs(_finite(x))
    gate = 2 * twins.sigmoid(-2 * size)
    far = U * np.abs(size - 1) + gate * (bounds.sigmoid(-2 * size) + U)
    value = np.abs(twins.tanhshrink(_finite(x)))
    return np.where(size <= 1, 12 * U * value, far + U * value)


def softsign(x: np.ndarray) -> np.ndarray:
    return (DIVIDE + U) * np.abs(twins.softsign(x))


def hardsigmoid(x: np.ndarray) -> np.ndarray:
    return (DIVIDE + U) * twins.hardsigmoid(x)


def hardswish(x: np.ndarray) -> np.ndarray:
    return (DIVIDE + 2 * U) * np.abs(_finite(twins.hardswish(x)))


def softshrink(x: np.ndarray, bound: float = 0.5) -> np.ndarray:
    return U * np.abs(_finite(twins.softshrink(x, bound)))


def logsigmoid(x: np.ndarray) -> np.ndarray:
    x = _finite(x)
    return bounds.softplus(-x) * np.abs(twins.logsigmoid(x))


def softplus(x: np.ndarray, beta: float = 1.0) -> np.ndarray:
    scaled = _finite(beta * x)
    of_product = U * np.abs(scaled) * twins.sigmoid(scaled)
    return of_product / beta + (bounds.softplus(scaled) + DIVIDE) * twins.softplus(_finite(x), beta)


def glu(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    b = _finite(b)
    return (bounds.sigmoid(b) + U) * np.abs(_finite(twins.glu(a, b))) + FLUSH * np.abs(a)
