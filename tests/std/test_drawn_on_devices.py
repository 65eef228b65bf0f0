"""The library and its derived gradients on devices, in every storage type, on drawn shapes and odd values: each result
lies where the interpreter on ranges says that an implementation may answer from."""

from __future__ import annotations

from functools import cache
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diff import backends
from tests.diff.harness import Data, Execution, Outcome, Subject, zeros_for
from tests.reference.every import EVERY
from tests.reference.table import ACTIVATIONS
from tests.reference.training_table import Loss
from tests.std.odd import WAYS, draw_odd
from tests.std.test_training import dims_of, kernel_text

DTYPES = ("f32", "f16", "bf16")
# A shader of WebGPU's default limits binds no more.
MOST_TENSORS = 8
# Stored in 16 bits they are what they are in 32
ELEMENTWISE = {row.function for row in ACTIVATIONS}


@cache
def subject(loss: Loss, dtype: str) -> Subject:
    return Subject(kernel_text(loss, is_stored=True, most=MOST_TENSORS), "run", {"E": dtype})


def execution(loss: Loss, dtype: str) -> Execution:
    """One text for all sizes, on one device or the other: a new text costs a device half a second."""
    name = backends.DEVICE_NAMES[crc32(f"{loss.name} {dtype}".encode()) % len(backends.DEVICE_NAMES)]
    if loss.function == "triplet_margin_loss":
        # Mesa computes (a - n) + eps as a - (n - eps), which is less exact where a is near n.
        name = backends.DEVICE_NAMES[-1]
    return Execution(f"on {name}", known=False, device=name)


def check(loss: Loss, dtype: str, seed: int, rows: int, columns: int, ways: frozenset[str]) -> Outcome:
    # What f16 cannot hold would be infinite, and all results NaN.
    values = draw_odd(loss, seed, rows, columns, ways - {"shift by 1e6"} if dtype == "f16" else ways)
    dims = dims_of(loss, values)
    kernel = subject(loss, dtype).kernel
    tensors = zeros_for(kernel, dims)
    scalars = {}
    for name, value in values.items():
        if name in tensors:
            if dtype == "f16" and name not in ("T", "Target"):
                value = np.where(np.isfinite(value), np.clip(value, -65504.0, 65504.0), value)
            tensors[name] = value.astype(tensors[name].dtype)
        else:
            scalars[f"{name.lower()}0"] = value
    return subject(loss, dtype).check(Data(tensors, scalars, dims), [execution(loss, dtype)])


PAIRS = [
    pytest.param(loss, dtype, id=f"{loss.name}-{dtype}")
    for loss in EVERY
    for dtype in DTYPES
    if dtype == "f32" or loss.function not in ELEMENTWISE
]


@pytest.mark.parametrize(("loss", "dtype"), PAIRS)
def test_on_a_device(loss: Loss, dtype: str):
    outcomes: list[Outcome] = []

    @settings(max_examples=6)
    @given(
        seed=st.integers(0, 2**20),
        rows=st.integers(1, 20),
        columns=st.sampled_from([1, 2, 7, 33, 70]),
        ways=st.sets(st.sampled_from(WAYS)),
    )
    def draws(seed: int, rows: int, columns: int, ways: set[str]) -> None:
        outcomes.append(check(loss, dtype, seed, rows, columns, frozenset(ways)))

    draws()
    # Of NaN and infinity some operations promise nothing; a test of which that is most has tested nothing.
    assert sum(one.silent for one in outcomes) <= 0.4 * sum(one.lanes for one in outcomes)
