"""Literals: the exact value in as few characters as possible, never a constant expression that WGSL refuses."""

from __future__ import annotations

import math
import struct

from tilec.types import DType

FROM_BITS = "f32_from_bits"
"""The helper that makes a float from bits at run time: WGSL has no literal for infinities and NaN, and refuses a
constant `bitcast` that makes one."""

_LARGEST = 3.4028234663852886e38
_QUIET_NAN = 0x7FC00000


def f32_bits(value: float) -> int:
    """The bits of `value` rounded to f32 (to an infinity beyond its range; every NaN is the quiet one)."""
    if math.isnan(value):
        return _QUIET_NAN
    try:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        return struct.unpack("<I", struct.pack("<f", math.copysign(math.inf, value)))[0]


def is_plain(dtype: DType, value: bool | int | float) -> bool:
    """Whether the literal is a token (with a sign perhaps), not a call that makes it from bits."""
    if dtype is not DType.F32:
        return True
    # Subnormals and -0 as well: compilers read them as 0.
    exponent = f32_bits(float(value)) >> 23 & 0xFF
    return f32_bits(float(value)) == 0 or 0 < exponent < 255


def literal(dtype: DType, value: bool | int | float) -> str:
    """The text of a constant of a compute type."""
    if dtype is DType.BOOL:
        return "true" if value else "false"
    if dtype is DType.U32:
        return f"{int(value) & 0xFFFFFFFF}u"
    if dtype is DType.I32:
        return str((int(value) + 2**31) % 2**32 - 2**31)
    if not is_plain(dtype, value):
        return f"{FROM_BITS}(0x{f32_bits(float(value)):08x}u)"
    return _decimal(float(value))


def _decimal(value: float) -> str:
    bits = f32_bits(value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        # A decimal above the largest f32 may round to it, but Tint refuses it as out of range.
        if f32_bits(float(text)) == bits and abs(float(text)) <= _LARGEST:
            break
    else:
        mantissa, exponent = struct.unpack("<f", struct.pack("<I", bits))[0].hex().split("p")
        return f"{mantissa.rstrip('0')}p{exponent}f"
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa}e{int(exponent)}"
    return text if "." in text else f"{text}.0"
