"""The tile interpreter in double precision, so that central differences of it are slopes to nine digits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tilec.ops import reference
from tilec.tile import interp_memory
from tilec.types import DType


class _Double:
    """NumPy with float64 for float32."""

    float32 = np.float64

    def __getattr__(self, name: str) -> object:
        return getattr(np, name)


@contextmanager
def in_double() -> Iterator[None]:
    """Inside, f32 tensors and values are float64."""
    tables = (reference.NUMPY_DTYPES, interp_memory._STORAGE)
    single = np.dtype(np.float32)
    reference.np = _Double()
    for table in tables:
        table[DType.F32] = np.dtype(np.float64)
    try:
        yield
    finally:
        reference.np = np
        for table in tables:
            table[DType.F32] = single
