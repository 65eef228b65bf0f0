"""Integer arithmetic of formulas, as i32 has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

I32_LOWEST, I32_HIGHEST = -(2**31), 2**31 - 1


def wrapped(value: int) -> int:
    """The i32 with the low 32 bits of an integer."""
    return (value - I32_LOWEST) % 2**32 + I32_LOWEST


def quotient(dividend: int, divisor: int) -> int:
    """Truncated towards 0; by 0 the dividend."""
    if divisor == 0:
        return dividend
    size = abs(dividend) // abs(divisor)
    return size if (dividend < 0) == (divisor < 0) else -size


def remainder(dividend: int, divisor: int) -> int:
    """What `quotient` leaves, with the sign of the dividend; by 0 it is 0."""
    return 0 if divisor == 0 else dividend - divisor * quotient(dividend, divisor)


def ceiling_quotient(dividend: int, divisor: int) -> int:
    """Rounded up; by 0 the dividend."""
    return dividend if divisor == 0 else -(-dividend // divisor)


FUNCTIONS: Mapping[str, Callable[[int, int], int]] = {
    "ceildiv": ceiling_quotient,
    "div": quotient,
    "mod": remainder,
    "min": min,
    "max": max,
}
