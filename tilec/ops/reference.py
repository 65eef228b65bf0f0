"""What each row means, in NumPy. Operands are arrays of the compute dtypes that the row's rule gives, broadcast.

Basic float arithmetic is done in f32; anything else in float64 and rounded once. Integers wrap. Reductions take an
activity mask that broadcasts against the array, keep the reduced axes with extent 1, and add in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tilec.ops.reduce import REDUCTIONS
from tilec.types import DType

Array: TypeAlias = "np.ndarray"

NUMPY_DTYPES: dict[DType, np.dtype] = {
    DType.F32: np.dtype(np.float32),
    DType.I32: np.dtype(np.int32),
    DType.U32: np.dtype(np.uint32),
    DType.BOOL: np.dtype(np.bool_),
}
"""The arrays that hold tiles, by compute dtype."""


# --- elementwise ---------------------------------------------------------------------------------------------


def _wide(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function computed in float64 and rounded to f32 once."""

    def evaluate(*operands: Array) -> Array:
        return function(*(operand.astype(np.float64) for operand in operands)).astype(np.float32)

    return evaluate


def _div(x: Array, y: Array) -> Array:
    if x.dtype == np.uint32:
        return np.where(y == 0, x, x // np.where(y == 0, np.uint32(1), y))
    wide, divisor = x.astype(np.int64), y.astype(np.int64)
    quotient = np.abs(wide) // np.maximum(np.abs(divisor), 1) * np.sign(wide) * np.sign(divisor)
    return np.where(divisor == 0, wide, quotient).astype(np.int32)  # the cast wraps -2**31 / -1


def _ceildiv(x: Array, y: Array) -> Array:
    wide, divisor = x.astype(np.int64), y.astype(np.int64)
    quotient = -(-wide // np.where(divisor == 0, 1, divisor))
    return np.where(divisor == 0, wide, quotient).astype(x.dtype)


def _rem(x: Array, y: Array) -> Array:
    if x.dtype.kind == "f":
        return np.fmod(x, y)
    if x.dtype == np.uint32:
        return np.where(y == 0, np.uint32(0), x % np.where(y == 0, np.uint32(1), y))
    wide, divisor = x.astype(np.int64), y.astype(np.int64)
    return np.where(divisor == 0, 0, np.fmod(wide, np.where(divisor == 0, 1, divisor))).astype(np.int32)


def _erf(x: Array) -> Array:
    return np.array([math.erf(value) for value in x.ravel().tolist()], np.float64).reshape(x.shape)


def _sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def _to_integer(dtype: type[np.signedinteger] | type[np.unsignedinteger]) -> Callable[[Array], Array]:
    def convert(x: Array) -> Array:
        if x.dtype != np.float32:
            return x.astype(dtype)
        limits = np.iinfo(dtype)
        inside = np.clip(np.where(np.isnan(x), 0.0, np.trunc(x.astype(np.float64))), limits.min, limits.max)
        return inside.astype(dtype)

    return convert


def round_to_f16(x: Array) -> Array:
    """f32 to np.float16, nearest even, beyond the range to an infinity."""
    return x.astype(np.float16)


def bf16_bits(x: Array) -> Array:
    """f32 to the bits of a bf16 (uint16), nearest even, beyond the range to an infinity; NaN stays NaN."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    is_nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.where(is_nan, quiet, rounded).astype(np.uint16)


def bf16_from_bits(bits: Array) -> Array:
    """The bits of a bf16 (uint16) to f32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


WIDE: dict[str, Callable[..., Array]] = {
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log1p": np.log1p,
    "logaddexp": np.logaddexp,
    "pow": np.power,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "erf": _erf,
    "exp_fast": np.exp,
    "fma": lambda x, y, z: x * y + z,
}
"""Rows computed in float64 and rounded once: the functions of float64."""

REFERENCE: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div_f32": np.divide,
    "rem": _rem,
    "neg": np.negative,
    "not": np.logical_not,
    "and": np.logical_and,
    "or": np.logical_or,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "min": np.minimum,
    "max": np.maximum,
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "abs": np.abs,
    "sign": np.sign,
    "square": np.square,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "where": np.where,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "div": _div,
    "ceildiv": _ceildiv,
    "f32": lambda x: x.astype(np.float32),
    "i32": _to_integer(np.int32),
    "u32": _to_integer(np.uint32),
    "bool": lambda x: x != 0,
    "f16": lambda x: round_to_f16(x).astype(np.float32),
    "bf16": lambda x: bf16_from_bits(bf16_bits(x)),
    "lse_add": np.add,
    "max_fast": np.fmax,  # of a NaN and a number WGSL may give either: the one that hides the NaN is the worse
    "gt_fast": np.greater,
    "min_fast": np.fmin,
    **{name: _wide(function) for name, function in WIDE.items()},
}
"""By row name: the function of the converted operands."""


def evaluate(op: str, *operands: Array) -> Array:
    """The row's value lane by lane. Never warns: infinities and NaN are results like any other."""
    with np.errstate(all="ignore"):
        return REFERENCE[op](*operands)


# --- reductions ----------------------------------------------------------------------------------------------

Axes: TypeAlias = "tuple[int, ...]"


def _sum(x: Array, active: Array, axes: Axes) -> Array:
    kept = np.where(active, x, x.dtype.type(0))
    wide = np.float64 if x.dtype == np.float32 else np.int64
    return kept.sum(axis=axes, keepdims=True, dtype=wide).astype(x.dtype)


def _prod(x: Array, active: Array, axes: Axes) -> Array:
    kept = np.where(active, x, x.dtype.type(1))
    wide = np.float64 if x.dtype == np.float32 else x.dtype
    return kept.prod(axis=axes, keepdims=True, dtype=wide).astype(x.dtype)


def _extreme(op: str, function: np.ufunc) -> Callable[[Array, Array, Axes], Array]:
    def reduce(x: Array, active: Array, axes: Axes) -> Array:
        identity = x.dtype.type(_identity(op, x.dtype))
        return function.reduce(np.where(active, x, identity), axis=axes, keepdims=True, initial=identity)

    return reduce


def _identity(op: str, dtype: np.dtype) -> bool | int | float:
    compute = next(key for key, value in NUMPY_DTYPES.items() if value == dtype)
    return REDUCTIONS[op].identity[compute]


_max = _extreme("max", np.maximum)
_min = _extreme("min", np.minimum)


def _any(x: Array, active: Array, axes: Axes) -> Array:
    return np.asarray((x & active).any(axis=axes, keepdims=True))


def _all(x: Array, active: Array, axes: Axes) -> Array:
    return np.asarray((x | ~active).all(axis=axes, keepdims=True))


def _best(extreme: Callable[[Array, Array, Axes], Array]) -> Callable[[Array, Array, Axes], Array]:
    """The first active index at which `x` equals its extreme; of several axes the row-major index over them."""

    def reduce(x: Array, active: Array, axes: Axes) -> Array:
        best = extreme(x, active, axes)
        hit = (x == best) | (np.isnan(x) & np.isnan(best)) if x.dtype == np.float32 else x == best
        hit = hit & active  # the mask may be the broader of the two
        kept_shape = tuple(1 if axis in axes else extent for axis, extent in enumerate(hit.shape))
        if not hit.size:
            return np.zeros(kept_shape, np.int32)
        last = np.moveaxis(hit, axes, range(hit.ndim - len(axes), hit.ndim))
        flat = last.reshape(*last.shape[: hit.ndim - len(axes)], -1)
        return flat.argmax(axis=-1).astype(np.int32).reshape(kept_shape)

    return reduce


def _rest(x: Array, active: Array, axes: Axes) -> Array:
    largest = _max(x, active, axes).astype(np.float64)
    shifted = np.where(active, x.astype(np.float64) - largest, -np.inf)
    total = np.log(np.exp(shifted).sum(axis=axes, keepdims=True))
    return np.where(np.isinf(largest), 0.0, total).astype(np.float32)


REDUCE_REFERENCE: dict[str, Callable[[Array, Array, Axes], Array]] = {
    "sum": _sum,
    "prod": _prod,
    "max": _max,
    "min": _min,
    "any": _any,
    "all": _all,
    "argmax": _best(_max),
    "argmin": _best(_min),
    "rest": _rest,
}
"""By row name: the function of (array, mask that broadcasts to it, sorted axes)."""


def reduce(op: str, x: Array, active: Array, axes: Axes) -> Array:
    """The reduction of the active lanes over `axes` (not negative), which stay with extent 1."""
    with np.errstate(all="ignore"):
        return REDUCE_REFERENCE[op](x, np.asarray(active), tuple(sorted(axes)))
