"""docs/accuracy.md is of the library and the data at hand, and an error above its bound is told."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.accuracy.measure import DRAWS, DTYPES, IMPLEMENTATIONS, exact_results, losses, measure, units
from tests.accuracy.page import page
from tests.diff.catalog import loss_data
from tests.diff.harness import Subject
from tests.reference.training_table import Loss
from tests.std.test_training import FILES
from tilec.sema.library import library

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/accuracy.md").read_text("utf-8")
# Whose figures are made anew, of part of the data
SAMPLE = ("cross_entropy_smooth", "huber_loss", "grpo_loss")


def rows_of(dtype: str) -> list[list[str]]:
    """The cells of a table of the page, its two head lines left out."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1 + DTYPES.index(dtype)]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def test_the_page_has_every_loss_in_every_type():
    for dtype in DTYPES:
        rows = rows_of(dtype)
        named = [re.match(r"`(\w+)`", row[0])[1] for row in rows]
        assert named == [loss.function for loss in losses()]
        assert all(len(row) == 4 + len(IMPLEMENTATIONS) for row in rows)
    assert "failed" not in PAGE


def test_the_page_describes_what_is_measured():
    """All but the figures is as the command writes it."""
    assert PAGE.startswith(page(IMPLEMENTATIONS, []))


def test_every_loss_of_the_library_is_one_of_them():
    names = {loss.function for loss in losses()}
    files = [(ROOT / "std" / f"{name}.ph").read_text("utf-8") for name in ("loss", *FILES)]
    public = {name for text in files for name in re.findall(r"^fn ([A-Za-z]\w*)\(", text, re.MULTILINE)}
    others = public - names
    assert not [name for name in others if name.endswith(("_loss", "entropy", "_div", "_nll", "_with_logits"))]
    assert names <= library().names


def figures(cell: str) -> list[float]:
    return [float(number) for number in cell.split(" / ")]


@pytest.mark.parametrize("name", SAMPLE)
def test_figures_are_those_of_today(name: str):
    """Part of the data give no larger errors than all of it gave."""
    loss = next(loss for loss in losses() if loss.name == name)
    report = measure(loss, "f32", ("swiftshader",), DRAWS[:3])
    assert report.failures == []
    row = rows_of("f32")[losses().index(loss)]
    shown = figures(row[3 + IMPLEMENTATIONS.index("swiftshader")])
    for largest, part in zip(shown, (report.forward, report.gradient), strict=True):
        assert part.errors["swiftshader"] <= 1.06 * largest  # the page has two digits


def test_an_error_above_its_bound_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    right = Subject.run

    def wrong(self, execution, data):
        results = right(self, execution, data)
        results["SlopeA"][3, 5] *= np.float32(1.001)
        return results

    monkeypatch.setattr(Subject, "run", wrong)
    loss = next(loss for loss in losses() if loss.name == "huber_loss")
    report = measure(loss, "f32", ("swiftshader",), DRAWS[:1])
    [failure] = report.failures
    assert "huber_loss f32 on swiftshader" in failure
    assert "SlopeA: 1 of 1040 elements are wrong" in failure
    assert report.gradient.share > 1


def test_a_range_that_misses_the_exact_result_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.accuracy.measure.exact_results", lambda loss, data: shifted(loss, data))
    loss = next(loss for loss in losses() if loss.name == "huber_loss")
    assert "the range of Result is wrong" in measure(loss, "f32", ("swiftshader",), DRAWS[:1]).failures[0]


def shifted(loss: Loss, data) -> dict[str, np.ndarray]:
    return {name: value * 1.01 for name, value in exact_results(loss, data).items()}


def test_units():
    rows = np.array([[0.75, -1.5], [1e-9, 0.0], [np.nan, 4.0]])
    np.testing.assert_array_equal(units(rows, "f32")[:, 0], [2.0**-23, 2.0**-24, 2.0**-21])
    np.testing.assert_array_equal(units(rows, "f16")[:, 0], [2.0**-10, 2.0**-11, 2.0**-8])
    np.testing.assert_array_equal(units(rows, "bf16")[:, 0], [2.0**-7, 2.0**-8, 2.0**-5])


def test_data_are_the_same_each_time():
    loss = losses()[0]
    one, two = (loss_data(loss, "f16", draw.seed, 8, 9, draw.ways) for draw in (DRAWS[3], DRAWS[3]))
    assert all(one.tensors[name].tobytes() == two.tensors[name].tobytes() for name in one.tensors)
