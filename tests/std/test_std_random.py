"""Every function of the library on drawn shapes, dtypes and values: special ones, masked and shifted logits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.execution import DTYPES, EXECUTIONS, assert_within, exact, rounded
from tests.reference.table import ACTIVATIONS, ROWS, Row
from tests.std.harness import Case, draw_case

SHIFTS = (0.0, 1e4, -1e4, 1e6)
SPECIALS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 2.0**-126, 3.0e38, -3.0e38, 65504.0, 1e-8, -88.5, 88.5)


def with_specials(case: Case, rng: np.random.Generator) -> Case:
    """Some elements of the tiles replaced by special values, as far as they lie in the argument's domain."""
    values = dict(case.values)
    for argument in case.row.arguments:
        if argument.kind == "tile":
            chosen = np.array([v for v in SPECIALS if np.isnan(v) or argument.low <= v <= argument.high])
            tile = exact(values[argument.name])
            there = rng.uniform(size=tile.shape) < 0.3
            values[argument.name] = rounded(np.where(there, rng.choice(chosen, tile.shape), tile), case.dtype)
    return replace(case, values=values)


def with_odd_logits(case: Case, rng: np.random.Generator, shift: float) -> Case:
    """Rows shifted, a few classes masked (a whole row perhaps), a NaN row now and then."""
    name = case.row.arguments[0].name
    logits = exact(case.values[name]) + shift * (rng.uniform(size=(len(case.values[name]), 1)) < 0.5)
    masked = rng.uniform(size=logits.shape) < rng.choice([0.0, 0.2, 0.9])
    logits = np.where(masked, -np.inf, logits)
    logits[rng.uniform(size=len(logits)) < 0.1] = np.nan
    return replace(case, values={**case.values, name: rounded(logits, case.dtype)})


def with_nan_rows(case: Case, rng: np.random.Generator) -> Case:
    """A NaN in some rows of the first argument."""
    name = case.row.arguments[0].name
    values = np.array(case.values[name])
    values[rng.uniform(size=len(values)) < 0.2] = np.nan
    return replace(case, values={**case.values, name: values})


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
@settings(max_examples=8, derandomize=True, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    rows=st.integers(0, 20),
    columns=st.sampled_from([1, 7, 64, 130]),
    dtype=st.sampled_from(list(DTYPES)),
    shift=st.sampled_from(SHIFTS),
)
def test_drawn_values(row: Row, execution: str, seed: int, rows: int, columns: int, dtype: str, shift: float):
    rng = np.random.default_rng(seed)
    case = draw_case(row, dtype, (rows, columns), seed)
    if row in ACTIVATIONS:
        case = with_specials(case, rng)
    elif row.logits:
        # f16 ends at 65504
        case = with_odd_logits(case, rng, min(shift, 1e4) if dtype == "f16" else shift)
    else:
        case = with_nan_rows(case, rng)
    assert_within(case.run(execution), case.expected(), case.bound(), row.label)
