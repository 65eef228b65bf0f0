"""The library and its derived gradients on devices, in every storage type, on drawn shapes and odd values: each result
lies where the interpreter on ranges says that an implementation may answer from."""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diff import backends
from tests.diff.catalog import dtypes_of, loss_data, loss_subject
from tests.diff.harness import Execution, Outcome
from tests.reference.every import EVERY
from tests.reference.training_table import Loss
from tests.std.odd import WAYS


def execution(loss: Loss, dtype: str) -> Execution:
    """One text for all sizes, on one device or the other: a new text costs a device half a second."""
    name = backends.DEVICE_NAMES[crc32(f"{loss.name} {dtype}".encode()) % len(backends.DEVICE_NAMES)]
    return Execution(f"on {name}", known=False, device=name)


def check(loss: Loss, dtype: str, seed: int, rows: int, columns: int, ways: frozenset[str]) -> Outcome:
    data = loss_data(loss, dtype, seed, rows, columns, ways)
    return loss_subject(loss, dtype).check(data, [execution(loss, dtype)])


PAIRS = [
    pytest.param(loss, dtype, id=f"{loss.name}-{dtype}")
    for loss in EVERY
    for dtype in dtypes_of(loss)
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
