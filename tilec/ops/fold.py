"""Rows on numbers that are known while compiling, as their references say, without NumPy."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from tilec.integers import ceiling_quotient, quotient, remainder
from tilec.types import DType

Number: TypeAlias = "bool | int | float"

I32_LOWEST, I32_HIGHEST, U32_HIGHEST = -(2**31), 2**31 - 1, 2**32 - 1


def round_f32(value: float) -> float:
    """The nearest f32, ties to even; beyond the range an infinity."""
    return _packed(value, "f")


def round_f16(value: float) -> float:
    """The nearest f16, ties to even; beyond the range an infinity."""
    return _packed(value, "e")


def round_bf16(value: float) -> float:
    """The nearest bf16 of an f32, ties to even; beyond the range an infinity."""
    if math.isnan(value):
        return value
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def _packed(value: float, code: str) -> float:
    try:
        return struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def wrap(value: int, dtype: DType) -> int:
    """The integer that 32 bits keep."""
    value &= U32_HIGHEST
    return value - 2**32 if dtype is DType.I32 and value > I32_HIGHEST else value


def convert(value: Number, dtype: DType) -> Number:
    """A scalar under an explicit conversion: floats truncate and saturate, NaN is 0, integers keep their bits."""
    if dtype is DType.F32:
        return round_f32(float(value))
    if dtype is DType.BOOL:
        return value != 0
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        low, high = (I32_LOWEST, I32_HIGHEST) if dtype is DType.I32 else (0, U32_HIGHEST)
        return int(min(max(value, low), high))
    return wrap(int(value), dtype)


def divide_f32(x: float, y: float) -> float:
    if y == 0.0:
        if x == 0.0 or math.isnan(x):
            return math.nan
        return math.copysign(math.inf, x) * math.copysign(1.0, y)
    return x / y


def _least(x: Number, y: Number) -> Number:
    return math.nan if x != x or y != y else min(x, y)


def _most(x: Number, y: Number) -> Number:
    return math.nan if x != x or y != y else max(x, y)


def _sign(x: Number) -> Number:
    return x + 0 if x != x or x == 0 else type(x)(1 if x > 0 else -1)


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "abs": abs,
    "sign": _sign,
    "min": _least,
    "max": _most,
    "clamp": lambda x, low, high: _least(_most(x, low), high),
    "square": lambda x: x * x,
    "lse_add": operator.add,
}
INTEGER: dict[str, Callable[..., Any]] = {"div": quotient, "ceildiv": ceiling_quotient, "rem": remainder}
TESTS: dict[str, Callable[..., object]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "not": operator.not_,
    "and": lambda x, y: x and y,
    "or": lambda x, y: x or y,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
}
_FLOAT: dict[str, Callable[..., float]] = {
    "div_f32": divide_f32,
    "rem": math.fmod,
    "floor": lambda x: x if math.isinf(x) or x == 0 else math.copysign(math.floor(x), x),
    "ceil": lambda x: x if math.isinf(x) or x == 0 else math.copysign(math.ceil(x), x),
    "round": lambda x: x if math.isinf(x) or x == 0 else math.copysign(round(x), x),
    "trunc": lambda x: x if math.isinf(x) or x == 0 else math.copysign(math.trunc(x), x),
    "sqrt": math.sqrt,
    "exp": math.exp,
    "expm1": math.expm1,
    "log": math.log,
    "log2": math.log2,
    "log1p": math.log1p,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "erf": math.erf,
    "f16": round_f16,
    "bf16": round_bf16,
}
_CONVERSIONS = {"f32": DType.F32, "i32": DType.I32, "u32": DType.U32, "bool": DType.BOOL}


def fold(op: str, values: tuple[Number, ...], dtype: DType) -> Number | None:
    """`op` on converted operands, whose common dtype (of `where`: the chosen ones') is `dtype`; None where it is left
    to run time: rows without a plain meaning here, and results that Python refuses to make (log of 0, exp of 1000)."""
    if op == "where":
        return values[1] if values[0] else values[2]
    if op in TESTS:
        return bool(TESTS[op](*values))
    if op in _CONVERSIONS:
        return convert(values[0], _CONVERSIONS[op])
    if dtype is DType.F32:
        return _fold_float(op, values)
    function = ARITHMETIC.get(op) or INTEGER.get(op)
    return None if function is None else wrap(function(*values), dtype)


def _fold_float(op: str, values: tuple[Number, ...]) -> Number | None:
    function = ARITHMETIC.get(op) or _FLOAT.get(op)
    if function is None:
        return None
    try:
        return round_f32(function(*values))
    except (ValueError, OverflowError):
        return None
