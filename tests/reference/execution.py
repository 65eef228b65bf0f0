"""Running kernels in tests: the executions, arrays of the storage types, and the comparison with a float64 twin."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

import tilec
from tests.reference.bounds import FLUSH

# The interpreter, and the software devices that the tests' set-up installs
EXECUTIONS = ("numpy", "llvmpipe", "swiftshader")

DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


@cache
def compiled(text: str, name: str = "inline.ph") -> Any:
    """The module of a source text, compiled once a process: its kernels keep their pipelines."""
    return tilec.compile(source=text, name=name)


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """Float64 values as an array of a storage type, rounded to nearest."""
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float64).astype(np.float32).astype(DTYPES[dtype])


def exact(values: np.ndarray) -> np.ndarray:
    """Any array in float64."""
    return np.asarray(values).astype(np.float64)


def bits(values: np.ndarray) -> np.ndarray:
    """An array's bits, to compare results that must be the same."""
    return np.asarray(values).view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[values.dtype.itemsize])


def assert_within(got: np.ndarray, expected: np.ndarray, bound: np.ndarray | float, what: str = "") -> None:
    """Every element is what some number within `bound` of the expected one rounds to in the result's storage type;
    integers and flags are the expected ones."""
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, expected {expected.shape}"
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(exact(got), expected, err_msg=what)
        return
    bound = np.broadcast_to(np.nan_to_num(bound, nan=0.0, posinf=0.0), expected.shape) + FLUSH
    with np.errstate(over="ignore", invalid="ignore"):
        low = np.nextafter((expected - bound).astype(np.float32), np.float32(-np.inf)).astype(got.dtype)
        high = np.nextafter((expected + bound).astype(np.float32), np.float32(np.inf)).astype(got.dtype)
    values = exact(got)
    good = (values >= exact(low)) & (values <= exact(high))
    special = ~np.isfinite(expected)
    good = np.where(special, (values == expected) | (np.isnan(values) & np.isnan(expected)), good)
    if good.all():
        return
    index = tuple(int(axis[0]) for axis in np.nonzero(~good))
    error = abs(values[index] - expected[index])
    raise AssertionError(
        f"{what}: {np.count_nonzero(~good)} of {good.size} elements are off; at {index} got {values[index]!r}, "
        f"expected {expected[index]!r}, error {error:.3g}, allowed {bound[index]:.3g} before rounding to {got.dtype}"
    )
