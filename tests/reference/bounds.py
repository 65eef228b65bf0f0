"""How far a result computed in f32 may lie from the exact one, by reasoning and not by trying.

The parts are what each operation's row states (WGSL's accuracy rules, or ours where those are too loose) and the
language's promise for sums (1e-6 of the sum of absolute values at any length). `U`, 2^-24, is the largest relative
rounding error of f32; an ulp is at most `2 U`. Everything here takes float64 arrays and gives float64 arrays of
absolute errors, of the result's shape. Terms of second order are left out: the promise for sums leaves room for them.
"""

from __future__ import annotations

import numpy as np

from tilec.ops.pointwise import POINTWISE

U = 2.0**-24
SUM = 1e-6


# A device may flush a subnormal to 0, an operand or a result.
FLUSH = 2.0**-126


def of(operation: str) -> float:
    """The relative error that an operation's row states, where it does not grow with the operand."""
    return POINTWISE[operation].bound.ulps * 2 * U


def growing(operation: str, operand: np.ndarray) -> np.ndarray:
    """The relative error that a row states where it grows with the operand's size."""
    row = POINTWISE[operation].bound
    assert row.growth_of == "abs(x)"
    return (row.ulps + row.growth * np.abs(operand)) * 2 * U


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Of `sigmoid(x)`, relative; for positive x its exponential counts as little as it weighs."""
    return growing("sigmoid", np.minimum(x, 0.0))


def softplus(x: np.ndarray) -> np.ndarray:
    """Of `softplus(x)`, relative; likewise."""
    return growing("softplus", np.minimum(x, 0.0))


DIVIDE, ROOT, RECIPROCAL_ROOT = of("div_f32"), of("sqrt"), of("rsqrt")
LOG1P, EXPM1 = of("log1p"), of("expm1")


def exp_relative(argument: np.ndarray) -> np.ndarray:
    """3 + 2 |x| ulp."""
    return growing("exp", argument)


def log_absolute(value: np.ndarray) -> np.ndarray:
    """3 ulp, also near 1."""
    return of("log") * np.abs(np.log(value))


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
