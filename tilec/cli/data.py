"""The data of `tilec run`: files, drawn numbers, and what the results look like."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilec.cli.terminal import Failure
from tilec.runtime.arrays import numpy_dtype
from tilec.types import DType

DRAWS = ("normal", "uniform", "arange", "zeros", "ones")


def load(path: str, name: str) -> np.ndarray:
    """The array in a .npy file. Raises Failure."""
    try:
        array = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise Failure(f"--input {name}: {path}: no such file; or one of {', '.join(DRAWS)}", 1) from None
    except (OSError, ValueError, EOFError) as error:
        raise Failure(f"--input {name}: {path} is no .npy file: {error}", 1) from None
    if not isinstance(array, np.ndarray):
        raise Failure(f"--input {name}: {path} holds several arrays: save one with numpy.save", 1)
    return array


def save(path: str, array: np.ndarray, name: str) -> None:
    """Writes an array as .npy; bf16 as f32, which holds its values and which NumPy reads anywhere."""
    plain = array.astype(np.float32) if array.dtype.kind == "V" else array
    try:
        with open(path, "wb") as file:
            np.save(file, plain, allow_pickle=False)
    except OSError as error:
        raise Failure(f"--output {name}: {path}: {(error.strerror or 'not writable').lower()}", 1) from None


def draw(how: str, shape: tuple[int, ...], dtype: DType, classes: int, seed: int) -> np.ndarray:
    """Numbers of a storage type: floats as drawn, integers below `classes`, bools half and half."""
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape, dtype=np.int64))
    target = numpy_dtype(dtype)
    if how in ("zeros", "ones"):
        return np.full(shape, how == "ones").astype(target)
    if dtype is DType.BOOL:
        return rng.integers(0, 2, shape).astype(target)
    if not dtype.is_float:
        limit = min(max(1, classes), 127 if dtype is DType.I8 else 255 if dtype is DType.U8 else 2**31 - 1)
        values = np.arange(size).reshape(shape) % limit if how == "arange" else rng.integers(0, limit, shape)
        return values.astype(target)
    if how == "arange":
        return np.arange(size, dtype=np.float32).reshape(shape).astype(target)
    values = rng.standard_normal(shape, np.float32) if how == "normal" else rng.random(shape, np.float32)
    return np.asarray(values).astype(target)


def summary(array: np.ndarray) -> dict[str, Any]:
    """Dtype, shape, and the range and mean of what is finite."""
    result: dict[str, Any] = {"dtype": str(array.dtype), "shape": list(array.shape)}
    values = array.astype(np.float64)
    finite = values[np.isfinite(values)]
    if finite.size:
        result |= {"min": float(finite.min()), "mean": float(finite.mean()), "max": float(finite.max())}
    if finite.size != values.size:
        result["not_finite"] = int(values.size - finite.size)
    result["first"] = [_plain(value) for value in array.reshape(-1)[:4]]
    return result


def _plain(value: Any) -> Any:
    number = value.item() if hasattr(value, "item") and value.dtype.kind in "iub" else float(value)
    return number if not isinstance(number, float) or np.isfinite(number) else str(number)


# Relative to the largest element: what a kernel adds up is not known here.
_TOLERANCES = {DType.F32: 1e-5, DType.F16: 2e-3, DType.BF16: 1.6e-2}


def compare(got: np.ndarray, expected: np.ndarray, dtype: DType) -> dict[str, Any]:
    """The largest difference, and whether it is one of rounding."""
    a, b = got.astype(np.float64), expected.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        difference = np.where(same, 0.0, np.abs(a - b))
    largest = float(difference.max()) if difference.size else 0.0
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 0.0
    allowed = _TOLERANCES.get(dtype, 0.0) * max(scale, 1e-30)
    return {"largest": largest if np.isfinite(largest) else str(largest), "allowed": allowed, "ok": largest <= allowed}


def classes_of(shapes: list[tuple[int, ...]]) -> int:
    """Below what integers are drawn: the length of the rows of the first tensor that has rows, for class indices."""
    return next((shape[-1] for shape in shapes if len(shape) >= 2 and shape[-1] > 1), 10)
