"""Scalar arguments: numbers of any library to Python's, range-checked. Needs NumPy only for its arrays."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from tilec.errors import ArrayError
from tilec.types import DType

Number: TypeAlias = "bool | int | float"

I32_HIGHEST = 2**31 - 1
# Half a unit in the last place above the largest f32: from here on numbers round to infinity.
_F32_BEYOND = 3.4028235677973366e38


def scalar_value(value: Any, dtype: DType, name: str) -> Number:
    """A Python number of the scalar type. Raises ArrayError where the value is of another kind or out of range."""
    if not isinstance(value, (bool, int, float)):
        value = _plain_number(value, dtype, name)
    if dtype is DType.BOOL:
        if value not in (0, 1):
            raise ArrayError(f"{name}: {value!r} is no bool: pass True or False")
        return bool(value)
    if dtype is DType.F32:
        # Infinities and NaN are numbers of f32; a Python number is rounded, as the language's literals are.
        if math.isfinite(value) and abs(value) >= _F32_BEYOND if isinstance(value, float) else abs(value) >= 2**128:
            raise ArrayError(f"{name}: {_short(value)} is beyond f32, whose largest number is 3.4028235e38")
        return float(value)
    low, high = (0, 2**32 - 1) if dtype is DType.U32 else (-(2**31), I32_HIGHEST)
    return integer_value(value, name, str(dtype), low, high)


def _plain_number(value: Any, dtype: DType, name: str) -> Number:
    """The number in a NumPy scalar, an array or tensor of one element."""
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        from tilec.runtime.arrays import storage_dtype, to_host

        array = to_host(value, name) if math.prod(getattr(value, "shape", ())) == 1 else None
        if array is not None and array.size == 1:
            if array.dtype.kind in "fiub":
                return array.reshape(-1)[0].item()
            if storage_dtype(array) is DType.BF16:
                return float(array.reshape(-1)[0])
        shape = getattr(value, "shape", None)
        if shape is not None:
            text = ", ".join(map(str, shape))
            raise ArrayError(
                f"{name}: an array of shape [{text}] was given for a scalar of type {dtype}: pass one number"
            )
    what = type(value).__name__
    if value is None:
        what = "None"
    elif isinstance(value, str):
        what = f"the string {value!r}"
    elif isinstance(value, (list, tuple, dict, set)):
        what = f"a {what}"
    raise ArrayError(f"{name}: {what} was given for a scalar of type {dtype}: pass a number")


def integer_value(value: Any, name: str, what: str, low: int, high: int) -> int:
    """An integer of `low` to `high`, also from a float without a fraction. Raises ArrayError, which calls it `what`."""
    if not isinstance(value, (bool, int, float)):
        value = _plain_number(value, DType.I32, name)
    if isinstance(value, float) and not value.is_integer():
        raise ArrayError(f"{name}: {value!r} is no integer, and {name} is {what}")
    if not low <= int(value) <= high:
        raise ArrayError(f"{name}: {_short(int(value))} is beyond {what}, {low} to {high}")
    return int(value)


def _short(value: float) -> str:
    """A number as a message shows it: digits that nobody reads are left out (and Python refuses to print 5,000)."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length():,} bits"
    return repr(value)
