"""Shapes and values for a program: plain ones, and special ones on purpose."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.diff.harness import Data, Subject, zeros_for
from tests.fuzz.parts import Program
from tilec.types import DType

SIZES = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100, 127, 130, 257]
LONG = [300, 512, 1003, 2049]
MOST_ELEMENTS = 6000
MOST_BLOCKS = 40

STYLES = ("small", "normal", "ties", "special", "shifted", "wide")
"""small: few bits, so that sums are exact; ties: whole numbers that repeat; special: NaN, infinities, subnormals and
zeros of both signs among normal numbers; shifted: near 1e4 or 1e6; wide: magnitudes from 1e-3 to 1e3."""

_SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 2.0**-126, 6e-8, 65504.0, -65504.0]


def draw_dims(program: Program, rng: np.random.Generator) -> dict[str, int]:
    """Sizes of which no tensor gets too large."""
    sizes = SIZES if rng.random() < 0.85 else SIZES + LONG
    while True:
        dims = {name: int(rng.choice(sizes)) for name in program.dims}
        if rng.random() < 0.03:
            dims[str(rng.choice(program.dims))] = 0
        blocks = [-(-dims[name] // size) for name, size in program.blocks.items()]
        if np.prod([float(size) for size in dims.values()]) <= MOST_ELEMENTS and np.prod(blocks) <= MOST_BLOCKS:
            return dims


def draw_data(subject: Subject, roles: Mapping[str, str], dims: Mapping[str, int], style: str, seed: int) -> Data:
    """Arrays and scalars; the same arguments give the same data. `roles` by parameter: "index", or anything."""
    rng = np.random.default_rng(seed)
    arrays = zeros_for(subject.kernel, dims)
    for parameter in subject.kernel.tensors:
        if parameter.access != "out":
            array = arrays[parameter.name]
            array[...] = _values(parameter.dtype, roles.get(parameter.name), array.shape, dims, style, rng).astype(
                array.dtype
            )
    scalars: dict[str, bool | int | float] = {}
    for scalar in subject.kernel.scalars:
        match scalar.dtype:
            case DType.F32:
                scalars[scalar.name] = float(np.float32(rng.choice([0.0, 0.5, -1.25, 2.0, 0.1])))
            case DType.BOOL:
                scalars[scalar.name] = bool(rng.random() < 0.5)
            case _:
                scalars[scalar.name] = int(rng.integers(0, 6))
    return Data(arrays, scalars, dict(dims))


def _values(
    dtype: DType,
    role: str | None,
    shape: tuple[int, ...],
    dims: Mapping[str, int],
    style: str,
    rng: np.random.Generator,
) -> np.ndarray:
    if dtype.is_float:
        return _floats(shape, dtype, style, rng)
    if dtype is DType.BOOL:
        return rng.random(shape) < 0.5
    if role == "index":
        most = int(rng.choice([*dims.values(), 8]))
        return np.clip(rng.integers(-2, most + 2, shape), 0 if dtype in (DType.U8, DType.U32) else -100, 120)
    low, high = {DType.I8: (-128, 127), DType.U8: (0, 255), DType.U32: (0, 2**32 - 1)}.get(dtype, (-(2**31), 2**31 - 1))
    if style in ("special", "wide") and rng.random() < 0.5:
        if dtype is DType.I64:
            low, high = -(2**40), 2**40
        return rng.integers(low, high, shape, endpoint=True)
    return rng.integers(max(low, -9), min(high, 20), shape, endpoint=True)


def _floats(shape: tuple[int, ...], dtype: DType, style: str, rng: np.random.Generator) -> np.ndarray:
    match style:
        case "small":
            return rng.integers(-16, 17, shape) / 8.0
        case "ties":
            return rng.integers(-2, 3, shape).astype(np.float64)
        case "special":
            there = rng.random(shape) < rng.choice([0.02, 0.2])
            special = rng.choice(
                [value for value in _SPECIAL if dtype is not DType.F16 or abs(value) != 2.0**-126], shape
            )
            with np.errstate(over="ignore"):
                return np.where(there, special, rng.standard_normal(shape)).astype(np.float32)
        case "shifted":
            shift = 1e4 if dtype is DType.F16 else rng.choice([1e4, -1e4, 1e6])
            return (shift + rng.standard_normal(shape) * 4.0).astype(np.float32)
        case "wide":
            return (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(np.float32)
    return rng.standard_normal(shape).astype(np.float32)


def draw_dtypes(program: Program, seed: int) -> dict[str, str]:
    """A storage type for each tensor that has a choice, by parameter or type variable."""
    rng = np.random.default_rng(seed)
    chosen: dict[str, str] = {}
    for tensor in program.tensors:
        key = tensor.type_variable or tensor.name
        if key not in chosen and len(tensor.dtypes) > 1:
            chosen[key] = str(rng.choice(list(tensor.dtypes)))
    return chosen


def draw_constants(program: Program, seed: int) -> dict[str, bool | int | float]:
    """Values for `const` parameters."""
    rng = np.random.default_rng(seed)
    values: dict[str, list[bool | int | float]] = {
        "f32": [0.5, 0.0, -1.0], "i32": [2, 0, 5], "u32": [3, 0], "bool": [True, False],
    }  # fmt: skip
    return {
        scalar.name: values[scalar.dtype][int(rng.integers(len(values[scalar.dtype])))]
        for scalar in program.scalars
        if scalar.is_const
    }
