"""Integer arithmetic of formulas, as i32 has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

I32_LOWEST, I32_HIGHEST = -(2**31), 2**31 - 1


def wrapped(value: int) -> int:
    """The i32 with the low 32 bits of an integer."""
    return (value - I32_LOWEST) % 2**32 + I32_LOWEST


def _quotient(dividend: int, divisor: int) -> int:
    if divisor == 0:
        return dividend
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def _remainder(dividend: int, divisor: int) -> int:
    return 0 if divisor == 0 else dividend - divisor * _quotient(dividend, divisor)


def _ceiling_quotient(dividend: int, divisor: int) -> int:
    return dividend if divisor == 0 else -(-dividend // divisor)


FUNCTIONS: Mapping[str, Callable[[int, int], int]] = {
    "ceildiv": _ceiling_quotient,
    "div": _quotient,
    "mod": _remainder,
    "min": min,
    "max": max,
}
