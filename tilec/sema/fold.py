"""Arithmetic on scalars that are known while compiling: what the tile interpreter would give, for plain operations."""

from __future__ import annotations

from tilec.ops.fold import (
    ARITHMETIC,
    I32_HIGHEST,
    I32_LOWEST,
    INTEGER,
    TESTS,
    U32_HIGHEST,
    Number,
    divide_f32,
    round_f32,
    wrap,
)
from tilec.types import DType

_ARITHMETIC = {name: ARITHMETIC[name] for name in ("add", "sub", "mul", "neg", "abs", "min", "max", "clamp", "square")}


def fits(value: Number, dtype: DType) -> bool:
    """Whether an integer is one of the type's."""
    if dtype is DType.I32:
        return I32_LOWEST <= value <= I32_HIGHEST
    return dtype is not DType.U32 or 0 <= value <= U32_HIGHEST


def fold(op: str, values: tuple[Number, ...], dtype: DType, *, is_weak: bool) -> Number | None:
    """`op` on converted operands of `dtype`, or None where it is left to run time.

    Weak integers are not wrapped: whether they fit is asked where they meet a type.
    """
    if op == "where":
        return values[1] if values[0] else values[2]
    if op in TESTS:
        return bool(TESTS[op](*values))
    if op in INTEGER and dtype is not DType.F32:
        value = INTEGER[op](*values)
        return _exact(value) if is_weak else wrap(value, dtype)
    if op == "div_f32":
        return round_f32(divide_f32(*values))
    if op in _ARITHMETIC:
        value = _ARITHMETIC[op](*values)
        if dtype is DType.F32:
            return round_f32(value)
        return _exact(value) if is_weak else wrap(int(value), dtype)
    return None


def _exact(value: int) -> int | None:
    """Squares of squares of literals would have more digits than memory holds. No type has so large a value anyway."""
    return value if abs(value) < 2**64 else None
