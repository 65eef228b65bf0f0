"""5,000 damaged sources, always the same; `python -m tests.fuzz --source` runs others."""

from __future__ import annotations

import pytest

from tests.fuzz.hostile import Tally, attempt
from tests.fuzz.mutate import draw

INPUTS, CHUNK = 5000, 250


@pytest.mark.parametrize("first", range(0, INPUTS, CHUNK))
def test_damaged_sources_end_in_text_or_a_diagnostic(first: int) -> None:
    tally = Tally()
    for seed in range(first, first + CHUNK):
        text = draw(seed)
        fault = attempt(text, seed, tally)
        assert fault is None, f"number {seed}: {fault.words}\n{text}"
    assert tally.inputs == CHUNK
    assert tally.parsed > CHUNK // 10
    assert tally.compiled > 0
