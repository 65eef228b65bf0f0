"""NumPy twins of the bit work on words: the `Bits` operations and the helper functions of the emitted code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilec.loop.interp_errors import InterpreterError
from tilec.ops.reference import NUMPY_DTYPES, bf16_bits, bf16_from_bits, round_to_f16
from tilec.types import DType


def _shift_left(x: np.ndarray, amount: np.ndarray) -> np.ndarray:
    return np.left_shift(x, (amount & 31).astype(x.dtype))


def _shift_right(x: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Logical for u32, arithmetic for i32, as in WGSL."""
    return np.right_shift(x, (amount & 31).astype(x.dtype))


def _f16_to_f32(word: np.ndarray) -> np.ndarray:
    """The low 16 bits of a u32 word as an f16."""
    return (word & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16).astype(np.float32)


def _f32_to_f16(x: np.ndarray) -> np.ndarray:
    return round_to_f16(np.ascontiguousarray(x)).view(np.uint16).astype(np.uint32)


def _bf16_to_f32(word: np.ndarray) -> np.ndarray:
    return bf16_from_bits(np.asarray(word & np.uint32(0xFFFF)).astype(np.uint16))


def _f32_to_bf16(x: np.ndarray) -> np.ndarray:
    return bf16_bits(x).astype(np.uint32)


def _number_to_bf16(x: np.ndarray) -> np.ndarray:
    """As above where x is a number; what becomes of a NaN is visibly wrong."""
    return np.where(np.isnan(x), np.uint32(0x1234), _f32_to_bf16(x))


def _i64_to_i32(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """A 64-bit integer of two u32 words, saturated into i32."""
    wide = (high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)).view(np.int64)
    return np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)


def _i8_to_i32(word: np.ndarray) -> np.ndarray:
    """The low 8 bits of a u32 word as an i8."""
    return np.asarray(word & np.uint32(0xFF)).astype(np.uint8).view(np.int8).astype(np.int32)


def _f32_from_bits(word: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(word, np.uint32).view(np.float32).reshape(word.shape)


def _order_key(x: np.ndarray) -> np.ndarray:
    """Integers in the order of the floats; both zeros give 0."""
    bits = np.ascontiguousarray(x, np.float32).view(np.int32).reshape(x.shape).astype(np.int64)
    return np.where(bits < 0, -(2**31) - bits, bits).astype(np.int32)


BITS: dict[str, Callable[..., np.ndarray]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": _shift_left,
    "shr": _shift_right,
    "helper:f16_to_f32": _f16_to_f32,
    "helper:f32_to_f16": _f32_to_f16,
    "helper:bf16_to_f32": _bf16_to_f32,
    "helper:f16_high": lambda word: _f16_to_f32(word >> np.uint32(16)),
    "helper:bf16_high": lambda word: _bf16_to_f32(word >> np.uint32(16)),
    "helper:pack_f16": lambda low, high: _f32_to_f16(low) | _f32_to_f16(high) << np.uint32(16),
    "helper:pack_bf16": lambda low, high: _f32_to_bf16(low) | _f32_to_bf16(high) << np.uint32(16),
    "helper:pack_bf16_numbers": lambda low, high: _number_to_bf16(low) | _number_to_bf16(high) << np.uint32(16),
    "helper:f32_to_bf16": _f32_to_bf16,
    "helper:i64_to_i32": _i64_to_i32,
    "helper:i8_to_i32": _i8_to_i32,
    "helper:f32_from_bits": _f32_from_bits,
    "helper:order_key": _order_key,
}
"""By the name in `Bits.op`: the function of the operands (of one shape)."""


def evaluate_bits(op: str, operands: list[np.ndarray], dtype: DType) -> np.ndarray:
    """The value of a `Bits` expression whose operands have one shape. Raises InterpreterError for unknown names."""
    if op == "bitcast":
        return np.ascontiguousarray(operands[0]).view(NUMPY_DTYPES[dtype]).reshape(operands[0].shape)
    if op not in BITS:
        raise InterpreterError(f"no NumPy twin of the bit operation {op}")
    with np.errstate(all="ignore"):
        return BITS[op](*operands)
