"""How far a result computed in f32 may lie from the exact one, by reasoning and not by trying.

The parts are WGSL's accuracy rules (section 15.7.4) and the language's promise for sums (1e-6 of the sum of absolute
values at any length). `U`, 2^-24, is the largest relative rounding error of f32; an ulp is at most `2 U`. Everything
here takes float64 arrays and gives float64 arrays of absolute errors, of the result's shape. Terms of second order are
left out: the promise for sums leaves room for them.
"""

from __future__ import annotations

import numpy as np

U = 2.0**-24
SUM = 1e-6
DIVIDE = 5 * U  # 2.5 ulp
RECIPROCAL_ROOT = 4 * U  # 2 ulp
ROOT = 9 * U  # a reciprocal root and a division
# log1p and expm1 are not WGSL's: a short polynomial near 0, log and exp elsewhere
LOG1P = 12 * U
EXPM1 = 12 * U


def exp_relative(argument: np.ndarray) -> np.ndarray:
    """3 + 2 |x| ulp."""
    return (3 + 2 * np.abs(argument)) * 2 * U


def log_absolute(value: np.ndarray) -> np.ndarray:
    """2^-21 between 0.5 and 2, 3 ulp elsewhere."""
    return np.where((value >= 0.5) & (value <= 2.0), 2.0**-21, 6 * U * np.abs(np.log(value)))


def row_sum(terms: np.ndarray, units: float = 0.0) -> np.ndarray:
    """Of a row's sum whose terms are each off by `units` roundings."""
    return (SUM + units * U) * np.sum(np.abs(terms), axis=1, keepdims=True)


def row_mean(terms: np.ndarray, units: float = 0.0) -> np.ndarray:
    """Of a row's mean: the sum, and the division by the count, of terms that are each off by `units` roundings."""
    return (SUM + (units + 5) * U) * np.mean(np.abs(terms), axis=1, keepdims=True)


def shifted(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row's maximum (0 if it is -inf), and the entries less that, -inf kept."""
    top = np.max(x, axis=1, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    return top, x - top


def exponential_sum_relative(x: np.ndarray) -> np.ndarray:
    """Of the sum of `exp(x - max)`: each term carries its exponential's error and the rounding of its argument."""
    _, below = shifted(x)
    weights = np.exp(below)
    finite = np.where(np.isfinite(below), below, 0.0)
    total = np.maximum(np.sum(weights, axis=1, keepdims=True), 1e-300)
    return SUM + np.sum(weights * (exp_relative(finite) + U * np.abs(finite)), axis=1, keepdims=True) / total


def log_of_sum(x: np.ndarray) -> np.ndarray:
    """Of `log(sum(exp(x - max)))`, absolute."""
    _, below = shifted(x)
    total = np.maximum(np.sum(np.exp(below), axis=1, keepdims=True), 1.0)
    return exponential_sum_relative(x) + log_absolute(total)


def sigmoid_relative(x: np.ndarray) -> np.ndarray:
    """Of `1 / (1 + exp(-x))`: the exponential's error reaches the result as far as the result is not 1."""
    rest = np.exp(-np.logaddexp(0.0, x))
    return exp_relative(x) * rest + U + DIVIDE


def softplus_absolute(x: np.ndarray) -> np.ndarray:
    """Of `max(x, 0) + log1p(exp(-|x|))`."""
    small = np.logaddexp(0.0, -np.abs(x))
    return small * (LOG1P + exp_relative(x)) + U * np.logaddexp(0.0, x)
