"""Every pass on every kernel of the examples and of the kernel tests: well-formed, and the same results.

A wrong program is pinned on the pass that broke it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from zlib import crc32

import ml_dtypes
import numpy as np
import pytest

from tilec.driver import build_kernel, parse_file
from tilec.tile import interp, ir
from tilec.tile.passes import PASSES
from tilec.tile.verify import verify
from tilec.tile.walk import walk
from tilec.types import DType

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("examples/*.ph"), *ROOT.glob("tests/kernels/*.ph")])
STORAGE = {
    DType.F32: np.float32,
    DType.F16: np.float16,
    DType.BF16: ml_dtypes.bfloat16,
    DType.I32: np.int32,
    DType.U32: np.uint32,
    DType.I8: np.int8,
    DType.U8: np.uint8,
    DType.BOOL: np.bool_,
    DType.I64: np.int64,
}
SPECIALS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e8]


@cache
def load(path):
    return parse_file(path)


def kernels():
    for path in FILES:
        for name in load(path).signatures:
            yield pytest.param(path, name, id=f"{path.stem}-{name}")


def arguments(kernel, random, specials):
    """Small dims, and arrays of mild numbers, some of them special."""
    dims = {name: int(size) for name, size in zip(kernel.dims, random.integers(3, 9, size=20), strict=False)}
    tensors = {}
    for tensor in kernel.tensors:
        shape = tuple(max(0, extent.evaluate(dims)) for extent in tensor.dims)
        if tensor.dtype.is_float:
            values = random.normal(size=shape) * 3
            if specials:
                values = np.where(random.random(shape) < 0.05, random.choice(SPECIALS, size=shape), values)
        else:
            values = random.integers(0 if tensor.dtype in (DType.U8, DType.U32, DType.BOOL) else -2, 7, size=shape)
        with np.errstate(over="ignore"):
            tensors[tensor.name] = np.asarray(values).astype(STORAGE[tensor.dtype])
    kinds = {DType.F32: 1.5, DType.I32: 2, DType.U32: 2, DType.BOOL: True}
    missing = [scalar for scalar in kernel.scalars if scalar.default is None and scalar.name not in kernel.constants]
    return tensors, {scalar.name: kinds[scalar.dtype] for scalar in missing}, dims


def as_numbers(array):
    return array.astype(np.float64) if array.dtype == ml_dtypes.bfloat16 or array.dtype.kind == "f" else array


@pytest.mark.parametrize(("path", "name"), list(kernels()))
@pytest.mark.parametrize("specials", [False, True], ids=["mild", "special"])
def test_every_pass_keeps_the_meaning(path, name, specials):
    kernel = build_kernel(load(path).program, name, verify=True).kernel
    if specials and any(isinstance(value, ir.While) for value in walk(kernel.body)):
        return  # an infinity never gets small: 65,536 rounds
    given = arguments(kernel, np.random.default_rng(crc32(name.encode()) + specials), specials)
    before = interp.run(kernel, *given)
    for one in PASSES:
        rewritten = one(kernel)
        verify(rewritten, one.__name__)
        after = before if rewritten is kernel else interp.run(rewritten, *given)
        for tensor, wanted in before.items():
            wanted, got = as_numbers(wanted), as_numbers(after[tensor])
            message = f"{one.__name__}: {tensor}"
            if one.__name__ == "raise_reductions":  # it may refine: a NaN or an infinity becomes what is meant
                if wanted.dtype.kind == "f":
                    got = np.where(np.isfinite(wanted), got, wanted)
                np.testing.assert_allclose(got, wanted, rtol=2e-3, atol=2e-5, err_msg=message)
            elif one.__name__ == "simplify_derived":  # it rounds differently
                np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6, err_msg=message)
            else:
                np.testing.assert_array_equal(got, wanted, err_msg=message)
        kernel, before = rewritten, after
    assert all(one(kernel) is kernel for one in PASSES), "the passes have more to do"
