"""Runs a tile kernel through a plan on the loop interpreter and compares it with the tile interpreter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilec.facts import Facts
from tilec.loop import interp as loop_interp
from tilec.loop.lower import lower
from tilec.ops.reference import NUMPY_DTYPES
from tilec.options import Options
from tilec.plan.make import make_plan
from tilec.tile import interp as tile_interp
from tilec.tile import ir
from tilec.types import DType

STORAGE = {
    **NUMPY_DTYPES,
    DType.F16: np.float16,
    DType.I8: np.int8,
    DType.U8: np.uint8,
    DType.BOOL: np.bool_,
    DType.I64: np.int64,
}


def storage_dtype(dtype: DType) -> np.dtype:
    if dtype is DType.BF16:
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(STORAGE[dtype])


def to_words(array: np.ndarray, dtype: DType) -> np.ndarray:
    """The array as the words of its buffer, padded to 16 bytes."""
    raw = np.ascontiguousarray(array).tobytes()
    raw += b"\0" * (-len(raw) % 16 or (16 if not raw else 0))
    element = {DType.F32: np.float32, DType.I32: np.int32}.get(dtype, np.uint32)
    return np.frombuffer(bytearray(raw), element)


def from_words(words: np.ndarray, like: np.ndarray) -> np.ndarray:
    return np.frombuffer(words.tobytes()[: like.nbytes], like.dtype).reshape(like.shape)


def dims_of(kernel: ir.Kernel, tensors: Mapping[str, np.ndarray], given: Mapping[str, int]) -> dict[str, int]:
    """The kernel's dims from its arrays (those that stand alone) and those given."""
    dims = dict(given)
    for parameter in kernel.tensors:
        for extent, size in zip(parameter.dims, tensors[parameter.name].shape, strict=True):
            if str(extent) in kernel.dims:
                dims[str(extent)] = size
    return dims


def run_plan(
    kernel: ir.Kernel,
    tensors: Mapping[str, np.ndarray],
    scalars: Mapping[str, float] | None = None,
    *,
    fusion: bool = True,
    known: bool = True,
    dims: Mapping[str, int] | None = None,
    options: Options | None = None,
) -> dict[str, np.ndarray]:
    """Every tensor after the kernel ran on the loop interpreter with the race checker."""
    dims = dims_of(kernel, tensors, dims or {})
    scalars = dict(scalars or {})
    plan = make_plan(kernel, Facts(dims if known else {}), options or Options(fusion=fusion))
    program = lower(kernel, plan)
    words = {p.name: to_words(tensors[p.name], p.dtype) for p in kernel.tensors}
    words["scratch"] = loop_interp.make_scratch(program, dims, scalars)
    loop_interp.run(program, words, loop_interp.evaluate_uniforms(program, dims, scalars))
    return {p.name: from_words(words[p.name], tensors[p.name]) for p in kernel.tensors}


def check(
    kernel: ir.Kernel,
    tensors: Mapping[str, np.ndarray],
    scalars: Mapping[str, float] | None = None,
    *,
    rtol: float = 2e-5,
    atol: float = 1e-6,
    dims: Mapping[str, int] | None = None,
) -> None:
    """Naive and grouped, with known and unknown dims, all give what the tile interpreter gives."""
    values = dims_of(kernel, tensors, dims or {})
    expected = tile_interp.run(kernel, dict(tensors), dict(scalars or {}), values)
    for fusion in (False, True):
        for known in (True, False):
            got = run_plan(kernel, tensors, scalars, fusion=fusion, known=known, dims=dims)
            for name, array in expected.items():
                np.testing.assert_allclose(
                    got[name].astype(np.float64), array.astype(np.float64), rtol=rtol, atol=atol,
                    err_msg=f"{name} fusion={fusion} known={known}",
                )  # fmt: skip
