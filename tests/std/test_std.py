"""Every function of the library against its NumPy twin and torch, on every execution, shape and dtype."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.reference.execution import DTYPES, EXECUTIONS, assert_within, bits, exact, rounded
from tests.reference.table import ACTIVATIONS, LOSSES, NORMS, ROWS, SOFTMAX, Row
from tests.std.harness import BLOCK, Case, draw_case, kernel_text, known_case

STD = Path(__file__).parents[2] / "std"
SHAPES = ((1, 1), (5, 7), (0, 16), (19, 1003), (3, 50257), (1, 262144))
BIG = (8192, 512)
REDUCING_ROWS = tuple(row for row in SOFTMAX + NORMS + LOSSES if row.function not in ("nll_loss", "batch_norm"))
LOGIT_ROWS = tuple(row for row in ROWS if row.logits)

torch.set_num_threads(1)


def shapes_for(row: Row, dtype: str) -> tuple[tuple[int, int], ...]:
    """Every loss sees every shape in every dtype. What only stores its result otherwise, by another name or in 16 bits,
    sees fewer: a new kernel costs a device half a second."""
    if row in LOSSES:
        return (*SHAPES, BIG) if dtype == "f32" else SHAPES
    if row in ACTIVATIONS:
        return ((1, 1), (37, 129)) if dtype == "f32" else ((37, 129),)
    if row.form == "statement" or dtype != "f32":
        return ((5, 7), (3, 50257))
    return (*SHAPES, BIG)


def _cases() -> list:
    """Executions vary fastest, so that a drawn case serves all of them."""
    return [
        pytest.param(row, dtype, shape, device, id=f"{row.label}-{dtype}-{shape[0]}x{shape[1]}-{device}")
        for row in ROWS
        for dtype in DTYPES
        for shape in shapes_for(row, dtype)
        for device in EXECUTIONS
    ]


@pytest.mark.parametrize(("row", "dtype", "shape", "execution"), _cases())
def test_function_agrees_with_twin_and_torch(row: Row, dtype: str, shape: tuple[int, int], execution: str):
    case, expected, torch_says, bound = known_case(row, dtype, shape)
    got = case.run(execution)
    assert got.dtype == (np.float32 if row.result == "column" else DTYPES[dtype])
    assert_within(got, expected, bound, f"{row.label} against NumPy")
    of_torch = row.torch_error * np.abs(case.exact()[0]) if row.torch_error else 0.0
    assert_within(got, torch_says, bound + of_torch, f"{row.label} against torch")


def by_row_and_execution(rows: tuple[Row, ...]):
    return pytest.mark.parametrize(
        ("row", "execution"),
        [pytest.param(row, device, id=f"{row.label}-{device}") for row in rows for device in EXECUTIONS],
    )


def with_first(case: Case, first: np.ndarray) -> Case:
    """The case with its first argument replaced."""
    return replace(case, values={**case.values, case.row.arguments[0].name: first})


@by_row_and_execution(LOGIT_ROWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_classes_are_as_if_they_were_not_there(row: Row, dtype: str, execution: str):
    case = draw_case(row, dtype, (13, 77))
    name = row.arguments[0].name
    logits = exact(case.values[name])
    masked = np.random.default_rng(1).uniform(size=logits.shape) < 0.4
    classes = case.values.get("Target")
    if classes is not None:
        np.put_along_axis(masked, classes, False, axis=1)
    masked[:, 5] = False
    masked[3] = True  # a row with no class left
    if classes is not None:
        masked[4, classes[4, 0]] = True  # a target that is masked
    case = with_first(case, rounded(np.where(masked, -np.inf, logits), dtype))
    expected = case.expected()
    got = case.run(execution)
    assert_within(got, expected, case.bound(), row.label)
    torch_says = case.by_torch()
    np.testing.assert_array_equal(np.isnan(torch_says), np.isnan(exact(got)))
    if row.function == "softmax":
        other = np.delete(np.arange(13), 3)
        assert np.all(exact(got)[other][masked[other]] == 0.0)
    if row.function == "cross_entropy":
        assert np.isnan(got[3, 0])
        assert np.isposinf(got[4, 0])


@by_row_and_execution(LOGIT_ROWS)
@pytest.mark.parametrize("shift", [1e4, -1e4, 1e6, 1e8])
def test_shifted_logits_keep_their_accuracy(row: Row, shift: float, execution: str):
    """The shifted logits round to f32; from those the result is as accurate as from small ones."""
    case = draw_case(row, "f32", (11, 301))
    case = with_first(case, rounded(exact(case.values[row.arguments[0].name]) + shift, "f32"))
    assert_within(case.run(execution), case.expected(), case.bound(), row.label)
    assert_within(case.run(execution), case.by_torch(), case.bound(), f"{row.label} against torch")


@by_row_and_execution(ROWS)
def test_a_nan_reaches_its_row_and_no_other(row: Row, execution: str):
    case = draw_case(row, "f32", (BLOCK + 3, 45))
    clean = case.run(execution)
    first = np.array(case.values[row.arguments[0].name])
    first[2] = np.nan
    got = with_first(case, first).run(execution)
    assert np.all(np.isnan(got[2]))
    others = np.delete(np.arange(BLOCK + 3), 2)
    np.testing.assert_array_equal(bits(got[others]), bits(clean[others]))


@by_row_and_execution(REDUCING_ROWS)
def test_one_nan_reaches_its_whole_row(row: Row, execution: str):
    case = draw_case(row, "f32", (3, 67))
    first = np.array(case.values[row.arguments[0].name])
    first[1, 40] = np.nan
    if row.function == "kl_div":
        case.values["Q"][1, 40] = 0.25  # where q is 0 the log-probability does not matter
    got = with_first(case, first).run(execution)
    np.testing.assert_array_equal(np.isnan(got).all(axis=1), [False, True, False])
    np.testing.assert_array_equal(np.isnan(got).any(axis=1), [False, True, False])


@by_row_and_execution(ACTIVATIONS)
def test_activations_at_special_values(row: Row, execution: str):
    """Infinities give the limit, NaN stays, and the sizes at which a formula changes over lose nothing."""
    edges = [0.0, -0.0, 0.5, -0.5, 0.999999, 1.0, 1.000001, 3.0, -3.0, 6.0, 14.9, 15.1, 19.9, 20.1, 88.0, 89.0, 100.0]
    far = [1e-30, -1e-30, 1e-7, -1e-7, 1e4, -1e4, 1e10, -1e10, 3e38, -3e38, np.inf, -np.inf, np.nan]
    domain = row.arguments[0]
    numbers = [value for value in edges + [-value for value in edges] + far if not abs(value) > domain.high]
    values = rounded(np.array([numbers]), "f32")
    case = draw_case(row, "f32", values.shape)
    case = with_first(case, values)
    assert_within(case.run(execution), case.expected(), case.bound(), row.label)


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_cross_entropy_ignores_nothing_by_itself(execution: str):
    """A class outside the columns picks 0, which leaves the log-sum-exp."""
    row = LOSSES[1]
    case = draw_case(row, "f32", (4, 9))
    case.values["Target"][:, 0] = [-1, 9, 100, -100]
    assert_within(case.run(execution), case.expected(), case.bound(), row.label)


def public_functions() -> list[tuple[str, str, str]]:
    """File, name and doc comment of every public function of the files that the table covers."""
    found = []
    for path in (STD / f"{name}.ph" for name in ("activation", "loss", "norm", "softmax")):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^((?:///[^\n]*\n)*)fn ([A-Za-z]\w*)\(", text, re.MULTILINE):
            found.append((path.name, match[2], match[1]))
    return found


def test_every_public_function_has_a_row_and_a_doc_comment():
    functions = public_functions()
    assert {name for _, name, _ in functions} == {row.function for row in ROWS}
    for file, name, doc in functions:
        for word in ("Domain", "quals", "torch."):
            assert word in doc, f"{file}: {name}: its doc comment lacks '{word}'"


def test_labels_are_unique():
    assert len({row.label for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_twin_agrees_with_torch(row: Row):
    """The two references agree, so that a disagreement of ours is ours."""
    case = draw_case(row, "f32", (23, 57))
    np.testing.assert_allclose(case.expected(), case.by_torch(), rtol=1e-11, atol=1e-13)
    assert "kernel run" in kernel_text(row)
