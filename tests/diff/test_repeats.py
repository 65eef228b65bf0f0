"""The same bits every time: a short version of `python -m tests.diff --repeat 100`."""

from __future__ import annotations

import itertools

import pytest

from tests.diff.catalog import Sizes, entries
from tests.diff.harness import Subject
from tests.diff.repeats import different_results

# Rows that several workgroups share, and as many rows as several workgroups take
WIDE = Sizes(rows=67, columns=3001)
CHOSEN = (
    "cross_entropy-expression-X-Target f16", "softmax_entropy f32", "layer_norm-expression-X-W-Bias f32",
    "load_balance_loss f32", "batch_loss.batch_loss", "sum_losses.mean_loss", "column_mean.column_mean",
    "quantize.quantize", "softmax.softmax_rows by X in place",
)  # fmt: skip
ENTRIES = {entry.name: entry for group in ("std", "examples") for entry in entries(group, sizes=WIDE)}


@pytest.mark.parametrize("name", CHOSEN)
def test_the_same_bits_a_hundred_times(name: str):
    subject, data = ENTRIES[name].make()
    assert different_results(subject, data, "lavapipe", 100) == 1


def test_a_result_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch):
    subject, data = ENTRIES["sum_losses.mean_loss"].make()
    right, turns = subject.run, itertools.count()

    def sometimes(self: Subject, *arguments):
        results = right(*arguments)
        if next(turns) == 3:
            results["Mean"].view("u4")[0] ^= 1
        return results

    monkeypatch.setattr(Subject, "run", sometimes)
    assert different_results(subject, data, "lavapipe", 5) == 2
