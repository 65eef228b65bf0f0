"""Reductions of ranges: see `triples`. Arrays have the interpreter's shape; `active` broadcasts against them."""

from __future__ import annotations

import numpy as np

from tests.diff.triples import Triple, anything, exactly, flushed, ulp, widened
from tilec.ops import POINTWISE, reference

# The language's promise for a sum, relative to the sum of absolute values
SUM = 1e-6
_UNIT = 2.0**-23

Axes = tuple[int, ...]


def reduce(op: str, x: Triple, active: np.ndarray, axes: Axes) -> Triple:
    """The reduction of the active lanes over `axes`, which stay with extent 1."""
    value = reference.reduce(op, x.value, active, axes)
    x = flushed(x)
    loose = _any(x.says_nothing, active, axes)
    if op in ("sum", "prod", "rest") and x.value.dtype == np.float32:
        triple = {"sum": _sum, "prod": _prod, "rest": _rest}[op](x, value, active, axes)
    elif op in ("argmax", "argmin"):
        triple = _best(op, x, value, active, axes)
    else:
        triple = Triple(value, reference.reduce(op, x.low, active, axes), reference.reduce(op, x.high, active, axes))
        if op in ("sum", "prod"):
            loose = loose | _any(x.varies, active, axes)
    triple = flushed(triple)
    return anything(triple.value, loose, triple.low, triple.high)


def _any(lanes: np.ndarray, active: np.ndarray, axes: Axes) -> np.ndarray:
    return np.asarray((lanes & active).any(axis=axes, keepdims=True))


def _total(lanes: np.ndarray, active: np.ndarray, axes: Axes) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(active, lanes, 0.0).sum(axis=axes, keepdims=True, dtype=np.float64)


def _sum(x: Triple, value: np.ndarray, active: np.ndarray, axes: Axes) -> Triple:
    largest = np.fmax(np.abs(x.low), np.abs(x.high)).astype(np.float64)
    magnitude = _total(largest, active, axes)
    slack = SUM * magnitude
    # Multiples of one power of two add up without error in any order while no partial sum needs more than 24 bits.
    step = np.where(active & (x.value != 0) & np.isfinite(x.value), _lowest_bit(x.value), np.inf)
    step = step.min(axis=axes, keepdims=True, initial=np.inf)
    exact = ~_any(x.varies, active, axes) & (magnitude < step * 2.0**24)
    slack = np.where(exact, 0.0, slack)
    triple = widened(value, _total(x.low, active, axes), _total(x.high, active, axes), slack)
    over = np.isfinite(magnitude) & (magnitude > 3.4e38)  # partial sums may overflow
    return anything(triple.value, over, triple.low, triple.high)


def _lowest_bit(x: np.ndarray) -> np.ndarray:
    """The value of the lowest bit that is set, of finite f32 numbers."""
    with np.errstate(all="ignore"):
        fraction, exponent = np.frexp(x.astype(np.float64))
        whole = np.nan_to_num(np.abs(fraction) * 2.0**24, posinf=1.0).astype(np.int64)
        return np.ldexp((whole & -whole).astype(np.float64), exponent - 24)


def _prod(x: Triple, value: np.ndarray, active: np.ndarray, axes: Axes) -> Triple:
    """Each factor's relative error, and a rounding a multiplication."""
    with np.errstate(all="ignore"):
        wide = x.value.astype(np.float64)
        apart = np.fmax(np.abs(x.high - wide), np.abs(x.low - wide))
        relative = np.where(apart > 0, apart / np.abs(wide), 0.0)
        count = np.broadcast_to(active, x.value.shape).sum(axis=axes, keepdims=True)
        unit = np.where(np.abs(wide) == 2.0 ** np.round(np.log2(np.abs(wide))), 0.0, _UNIT)
        total = np.expm1(_total(np.log1p(relative + unit), active, axes))
        slack = np.abs(value.astype(np.float64)) * total
        triple = widened(value, value.astype(np.float64), value.astype(np.float64), slack)
        # Partial products may leave the range of f32 in one order and not in another.
        log = np.abs(np.where(active & (wide != 0), np.log2(np.abs(wide)), 0.0))
        loose = (log.sum(axis=axes, keepdims=True) > 120) | ~np.isfinite(value) | (count < 0)
        loose = loose | _any((x.low <= 0) & (x.high >= 0) & x.varies, active, axes)
    return anything(value, loose, triple.low, triple.high)


def _rest(x: Triple, value: np.ndarray, active: np.ndarray, axes: Axes) -> Triple:
    """log(sum(exp(x - max))): moving the lanes by d moves it by 2 d at most."""
    with np.errstate(all="ignore"):
        wide = x.value.astype(np.float64)
        apart = np.nan_to_num(np.fmax(np.abs(x.high - wide), np.abs(x.low - wide)), nan=0.0)
        apart = np.where(active, apart, 0.0).max(axis=axes, keepdims=True, initial=0.0)
        top = np.where(active, wide, -np.inf).max(axis=axes, keepdims=True, initial=-np.inf)
        below = np.where(active & np.isfinite(wide), wide - np.where(np.isfinite(top), top, 0.0), -np.inf)
        weights = np.exp(below)
        depth = np.where(np.isfinite(below), np.abs(below), 0.0)
        row = POINTWISE["exp"].bound
        term = (row.ulps + (row.growth + 1.0) * depth) * _UNIT
        total = np.maximum(weights.sum(axis=axes, keepdims=True), 1.0)
        relative = SUM + (weights * term).sum(axis=axes, keepdims=True) / total
        slack = 2.0 * apart + relative + (POINTWISE["log"].bound.ulps + 0.5) * ulp(value)
    exact = np.isinf(top)
    slack = np.where(exact & ~_any(x.varies, active, axes), 0.0, slack)
    triple = widened(value, value.astype(np.float64), value.astype(np.float64), slack)
    loose = _any(np.isinf(x.value) != np.isinf(x.low), active, axes)
    loose = loose | _any(np.isinf(x.value) != np.isinf(x.high), active, axes)
    return anything(triple.value, loose, triple.low, triple.high)


def _best(op: str, x: Triple, value: np.ndarray, active: np.ndarray, axes: Axes) -> Triple:
    """The first and the last lane that may be the winner."""
    if not _any(x.varies, active, axes).any():
        return exactly(value)
    if op == "argmin":
        ends = x.low, reference.reduce("min", x.high, active, axes)
        may_win = (ends[0] <= ends[1]) & active
    else:
        ends = x.high, reference.reduce("max", x.low, active, axes)
        may_win = (ends[0] >= ends[1]) & active
    may_win = np.broadcast_to(may_win, x.value.shape)
    kept_shape = value.shape
    last = np.moveaxis(may_win, axes, range(may_win.ndim - len(axes), may_win.ndim))
    flat = last.reshape(*last.shape[: may_win.ndim - len(axes)], -1)
    first = flat.argmax(axis=-1).reshape(kept_shape)
    end = (flat.shape[-1] - 1 - flat[..., ::-1].argmax(axis=-1)).reshape(kept_shape)
    certain = ~_any(x.varies, active, axes)
    loose = _any(np.isnan(x.value), active, axes) | ~flat.any(axis=-1).reshape(kept_shape)
    first = np.where(certain, value, np.where(loose, 0, first))
    end = np.where(certain, value, np.where(loose, flat.shape[-1] - 1, end))
    return Triple(value, first.astype(np.int32), end.astype(np.int32))
