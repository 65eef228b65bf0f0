"""Ranges of values: where a result may lie when every operation errs as far as its row allows.

A triple holds the interpreter's value, the lowest and the highest value that an implementation may have instead, as
arrays of one compute dtype. A float lane whose bounds disagree with its value about being NaN says nothing: an
implementation may have anything there (`says_nothing`), which is what "hardware" in a row means.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tilec.ops import POINTWISE, reference

TINY = np.finfo(np.float32).tiny
HUGE = np.finfo(np.float32).max


@dataclass(frozen=True, slots=True)
class Triple:
    """`value`, `low`, `high`: arrays of one shape and dtype."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def is_exact(self) -> bool:
        """Whether nothing but the value itself may be there, in every lane."""
        return bool((_same(self.low, self.value) & _same(self.high, self.value)).all())

    @property
    def says_nothing(self) -> np.ndarray:
        """The lanes that may hold anything."""
        if self.value.dtype.kind != "f":
            return np.zeros(self.value.shape, np.bool_)
        wrong = np.isnan(self.value)
        return (np.isnan(self.low) != wrong) | (np.isnan(self.high) != wrong)

    @property
    def varies(self) -> np.ndarray:
        """The lanes that may hold something else than the value."""
        return ~(_same(self.low, self.value) & _same(self.high, self.value))

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> Triple:
        return Triple(function(self.value), function(self.low), function(self.high))


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a == b) | (np.isnan(a) & np.isnan(b)) if a.dtype.kind == "f" else a == b


def exactly(value: np.ndarray) -> Triple:
    return Triple(value, value, value)


def anything(value: np.ndarray, where: np.ndarray, low: np.ndarray, high: np.ndarray) -> Triple:
    """The triple with nothing said of the lanes at `where`."""
    if not where.any():
        return Triple(value, low, high)
    if value.dtype.kind == "f":
        is_nan = np.isnan(value)
        return Triple(
            value,
            np.where(where, np.where(is_nan, np.float32(-np.inf), np.float32(np.nan)), low),
            np.where(where, np.where(is_nan, np.float32(np.inf), np.float32(np.nan)), high),
        )
    least, most = (False, True) if value.dtype == np.bool_ else (np.iinfo(value.dtype).min, np.iinfo(value.dtype).max)
    return Triple(value, np.where(where, value.dtype.type(least), low), np.where(where, value.dtype.type(most), high))


def flushed(triple: Triple) -> Triple:
    """Subnormals may be flushed to 0, by any instruction that meets them."""
    if triple.value.dtype != np.float32:
        return triple
    zero = np.float32(0)
    low = np.where((triple.low > 0) & (triple.low < TINY), zero, triple.low)
    high = np.where((triple.high < 0) & (triple.high > -TINY), zero, triple.high)
    return Triple(triple.value, low, high)


def widened(value: np.ndarray, low: np.ndarray, high: np.ndarray, slack: np.ndarray) -> Triple:
    """Bounds in float64 moved apart by `slack` (0 where the bound is infinite) and rounded outwards to f32."""
    slack = np.nan_to_num(slack, nan=0.0, posinf=0.0)
    return Triple(value, downwards(low - slack), upwards(high + slack))


def downwards(wide: np.ndarray) -> np.ndarray:
    """Float64 to the f32 at or below it."""
    narrow = wide.astype(np.float32)
    return np.where(narrow.astype(np.float64) > wide, np.nextafter(narrow, np.float32(-np.inf)), narrow)


def upwards(wide: np.ndarray) -> np.ndarray:
    narrow = wide.astype(np.float32)
    return np.where(narrow.astype(np.float64) < wide, np.nextafter(narrow, np.float32(np.inf)), narrow)


def ulp(value: np.ndarray) -> np.ndarray:
    """A unit in the last place of f32 at each number, in float64; of the smallest normal at least."""
    size = np.maximum(np.abs(value.astype(np.float64)), float(TINY))
    return np.exp2(np.floor(np.log2(np.where(np.isfinite(size), size, 1.0))) - 23)


# --- pointwise -----------------------------------------------------------------------------------------------

# Rows that WGSL rounds correctly, in either direction, by what they are exactly
_ROUNDED: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "lse_add": np.add, "square": np.square,
    "f32": lambda x: x.astype(np.float64), "fma": lambda x, y, z: x * y + z,
}  # fmt: skip

# Beyond these the rows promise nothing
_BOUNDED_DOMAIN = ("sin", "cos", "pow")


def apply(op: str, operands: Sequence[Triple]) -> Triple:
    """The row on ranges: its values at the ends of the operands' ranges, moved apart by the row's bound."""
    value = np.asarray(reference.evaluate(op, *(operand.value for operand in operands)))
    if op == "where":
        return _where(value, *operands)
    operands = [flushed(operand) for operand in operands]
    low, high = _ends(op, value, operands)
    loose = np.zeros(value.shape, np.bool_)
    for operand in operands:
        loose = loose | operand.says_nothing
    if op in ("eq", "ne"):
        loose = loose | _may_be_equal(*operands)
    if value.dtype.kind in "iu":
        varies = [operand.varies for operand in operands]
        if op not in ("min", "max", "clamp", "i32", "u32", "sign") or operands[0].value.dtype.kind in "iu":
            loose = loose | np.broadcast_to(np.logical_or.reduce(np.broadcast_arrays(*varies)), value.shape)
    triple = Triple(value, low, high)
    if value.dtype == np.float32:
        triple, more = _bounded(op, triple, operands)
        loose = loose | more
    return anything(triple.value, loose, triple.low, triple.high)


def _where(value: np.ndarray, condition: Triple, chosen: Triple, other: Triple) -> Triple:
    parts = np.broadcast_arrays(
        condition.low, condition.high, chosen.low, chosen.high, other.low, other.high,
        chosen.says_nothing, other.says_nothing, chosen.value, other.value,
    )  # fmt: skip
    always, maybe, low, high, other_low, other_high, nothing, other_nothing, one, two = parts
    if value.dtype.kind == "f":
        differs = np.isnan(one) != np.isnan(two)
        loose = np.where(always, nothing, np.where(maybe, nothing | other_nothing | differs, other_nothing))
    else:
        loose = np.zeros(value.shape, np.bool_)
    with np.errstate(invalid="ignore"):
        least, most = np.fmin(low, other_low), np.fmax(high, other_high)
    return anything(
        value,
        loose,
        np.where(always, low, np.where(maybe, least, other_low)),
        np.where(always, high, np.where(maybe, most, other_high)),
    )


def _ends(op: str, value: np.ndarray, operands: Sequence[Triple]) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value at the corners of the operands' ranges, at 0 where they hold it."""
    choices = []
    for operand in operands:
        if operand.is_exact:
            choices.append([operand.value])
            continue
        points = [operand.value, operand.low, operand.high]
        if operand.value.dtype.kind in "fi":
            zero = operand.value.dtype.type(0)
            straddles = (operand.low < zero) & (operand.high > zero)
            if straddles.any():
                points.append(np.where(straddles, zero, operand.value))
        choices.append(points)
    function = _ROUNDED.get(op) if value.dtype == np.float32 else None
    low = high = None
    for corner in itertools.product(*choices):
        with np.errstate(all="ignore"):
            if function is not None:
                end = function(*(point.astype(np.float64) for point in corner))
            else:
                end = np.asarray(reference.evaluate(op, *corner))
        # A NaN at any corner shows in both ends.
        low = end if low is None else np.minimum(low, end)
        high = end if high is None else np.maximum(high, end)
    assert low is not None
    assert high is not None
    if function is not None:
        return downwards(low), upwards(high)
    return low, high


def _may_be_equal(x: Triple, y: Triple) -> np.ndarray:
    """Ranges that overlap without being one point each."""
    return (x.low <= y.high) & (y.low <= x.high) & (x.varies | y.varies)


def _bounded(op: str, triple: Triple, operands: Sequence[Triple]) -> tuple[Triple, np.ndarray]:
    """The triple moved apart by the row's bound, and the lanes of which the row says nothing."""
    row = POINTWISE[op]
    value, low, high = triple.value, triple.low, triple.high
    loose = np.zeros(value.shape, np.bool_)
    if row.special == "hardware":
        loose = ~(np.isfinite(value) & np.isfinite(low) & np.isfinite(high))
        for operand in operands:
            loose = loose | ~np.isfinite(operand.value)
    if op in _BOUNDED_DOMAIN:
        for operand, domain in zip(operands, row.domain, strict=True):
            finite = np.isfinite(operand.value)
            loose = loose | (finite & ((operand.value < domain.low) | (operand.value > domain.high)))
    if op == "rem":
        loose = loose | _quotient_varies(*operands)
    bound = row.bound
    if op not in _ROUNDED and (bound.ulps or bound.absolute or bound.growth):
        with np.errstate(all="ignore"):
            units = bound.ulps + 0.5
            if bound.growth:
                names = dict(zip("xyz", (operand.value.astype(np.float64) for operand in operands), strict=False))
                names |= {"r": value.astype(np.float64), "abs": np.abs, "min": np.minimum, "log2": np.log2}
                units = units + bound.growth * np.nan_to_num(eval(bound.growth_of, {"__builtins__": {}}, names))
            largest = np.fmax(np.abs(low), np.abs(high))
            slack = np.maximum(units * ulp(np.where(np.isfinite(largest), largest, value)), bound.absolute)
            if op in ("sin", "cos"):
                slack = slack + np.abs(operands[0].high.astype(np.float64) - operands[0].low)
            triple = widened(value, low.astype(np.float64), high.astype(np.float64), slack)
    inputs_finite = np.ones(value.shape, np.bool_)
    for operand in operands:
        inputs_finite = inputs_finite & np.isfinite(operand.value)
    # An overflow may still be the largest number, within the row's bound.
    over = inputs_finite & np.isinf(value)
    low = np.where(over & (value > 0), np.fmin(triple.low, HUGE * np.float32(0.999)), triple.low)
    high = np.where(over & (value < 0), np.fmax(triple.high, -HUGE * np.float32(0.999)), triple.high)
    return flushed(Triple(value, low, high)), loose


def _quotient_varies(x: Triple, y: Triple) -> np.ndarray:
    """Where the quotient's integral part is not certain, the remainder jumps."""
    with np.errstate(all="ignore"):
        parts = [np.trunc(a.astype(np.float64) / b) for a in (x.low, x.high) for b in (y.low, y.high)]
        return np.logical_or.reduce([part != parts[0] for part in parts]) & (x.varies | y.varies)
