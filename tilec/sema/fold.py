"""Arithmetic on scalars that are known while compiling: what the tile interpreter would give, for plain operations."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any

from tilec.types import DType

Number = bool | int | float

I32_LOWEST, I32_HIGHEST, U32_HIGHEST = -(2**31), 2**31 - 1, 2**32 - 1


def round_f32(value: float) -> float:
    """The nearest f32, ties to even; beyond the range an infinity."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def wrap(value: int, dtype: DType) -> int:
    """The integer that 32 bits keep."""
    value &= U32_HIGHEST
    return value - 2**32 if dtype is DType.I32 and value > I32_HIGHEST else value


def fits(value: Number, dtype: DType) -> bool:
    """Whether an integer is one of the type's."""
    if dtype is DType.I32:
        return I32_LOWEST <= value <= I32_HIGHEST
    return dtype is not DType.U32 or 0 <= value <= U32_HIGHEST


def convert(value: Number, dtype: DType) -> Number:
    """A scalar under an explicit conversion: floats truncate and saturate, NaN is 0, integers keep their bits."""
    if dtype is DType.F32:
        return round_f32(float(value))
    if dtype is DType.BOOL:
        return value != 0 and value == value
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        low, high = (I32_LOWEST, I32_HIGHEST) if dtype is DType.I32 else (0, U32_HIGHEST)
        return int(min(max(value, low), high))
    return wrap(int(value), dtype)


def _divide_f32(x: float, y: float) -> float:
    if y == 0.0:
        if x == 0.0 or math.isnan(x):
            return math.nan
        return math.copysign(math.inf, x) * math.copysign(1.0, y)
    return x / y


def _quotient(x: int, y: int) -> int:
    if y == 0:
        return x
    size = abs(x) // abs(y)
    return size if (x < 0) == (y < 0) else -size


def _remainder(x: int, y: int) -> int:
    return 0 if y == 0 else x - y * _quotient(x, y)


def _ceiling(x: int, y: int) -> int:
    return x if y == 0 else -(-x // y)


def _least(x: Number, y: Number) -> Number:
    return math.nan if x != x or y != y else min(x, y)


def _most(x: Number, y: Number) -> Number:
    return math.nan if x != x or y != y else max(x, y)


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "abs": abs,
    "min": _least,
    "max": _most,
    "clamp": lambda x, low, high: _least(_most(x, low), high),
    "square": lambda x: x * x,
}
_INTEGER: dict[str, Callable[..., int]] = {"div": _quotient, "ceildiv": _ceiling, "rem": _remainder}
_TESTS: dict[str, Callable[..., bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "not": operator.not_, "and": lambda x, y: x and y, "or": lambda x, y: x or y,
    "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite,
}  # fmt: skip


def fold(op: str, values: tuple[Number, ...], dtype: DType, *, is_weak: bool) -> Number | None:
    """`op` on converted operands of `dtype`, or None where it is left to run time.

    Weak integers are not wrapped: whether they fit is asked where they meet a type.
    """
    if op == "where":
        return values[1] if values[0] else values[2]
    if op in _TESTS:
        return bool(_TESTS[op](*values))
    if op in _INTEGER and dtype is not DType.F32:
        value = _INTEGER[op](*values)
        return _exact(value) if is_weak else wrap(value, dtype)
    if op == "div_f32":
        return round_f32(_divide_f32(*values))
    if op in _ARITHMETIC:
        value = _ARITHMETIC[op](*values)
        if dtype is DType.F32:
            return round_f32(value)
        return _exact(value) if is_weak else wrap(int(value), dtype)
    return None


def _exact(value: int) -> int | None:
    """Squares of squares of literals would have more digits than memory holds. No type has so large a value anyway."""
    return value if abs(value) < 2**64 else None
