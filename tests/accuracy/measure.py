"""How far the library's losses and their gradients lie from float64, and how far WGSL lets them.

A result's error is counted in units in the last place of its storage type at the largest exact result of its row:
what an optimiser notices is an error beside its row, not beside an element that happens to cancel to almost nothing.
A loss below 1 counts as 1, and a gradient whose row lies below 1 / columns as that: rows that are learned already.
The bound, in the same units, is the far end of the range that `tests.diff.ranges` gives, which errs in every
operation as far as WGSL's accuracy rules (or tilec's own, where those are too loose) allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.diff.catalog import SHORT_ROWS, loss_data, loss_subject
from tests.diff.harness import PAGE, Data, Execution, first_difference, wide
from tests.diff.triples import Triple
from tests.reference.every import EVERY
from tests.reference.table import LOSSES as ROWS
from tests.reference.training_table import LOSSES, Loss
from tests.std.test_training import differentiated, interpret

DTYPES = ("f32", "f16", "bf16")
IMPLEMENTATIONS = ("lavapipe", "swiftshader", "dawn:lavapipe", "chromium")

_FRACTION_BITS = {"f32": 23, "f16": 10, "bf16": 7}
_LOWEST_EXPONENT = {"f32": -126, "f16": -14, "bf16": -126}


@dataclass(frozen=True, slots=True)
class Draw:
    """One set of drawn arguments; `ways` are those of `tests.std.odd`."""

    rows: int
    columns: int
    ways: frozenset[str]
    seed: int

    def __str__(self) -> str:
        return f"{self.rows} x {self.columns}, {', '.join(sorted(self.ways)) or 'plain'}"


# Kernels whose rows share a gradient are one block, of 8 rows.
DRAWS = (
    Draw(8, 130, frozenset({"zeros", "ties"}), 1),
    Draw(8, 67, frozenset({"shift by 1e4", "masked"}), 2),
    Draw(8, 33, frozenset({"shift by 1e6", "ignored"}), 3),
    Draw(8, 64, frozenset({"large", "zeros"}), 4),
    Draw(8, 5003, frozenset(), 5),
)


def losses() -> tuple[Loss, ...]:
    """The functions of the table: every loss of the library, once in each form that it has."""
    names = {row.function for row in ROWS}
    return tuple(loss for loss in EVERY if loss in LOSSES or loss.function in names)


def execution(name: str) -> Execution:
    """One text for all sizes, as the runtime makes it for the device; the page runs what is shipped."""
    return PAGE if name == "chromium" else Execution(name, known=False, device=name)


@dataclass
class Figures:
    """Of one result of one function in one type: the widest bound of each draw that told something, the largest error
    by implementation, both in units; the largest share that an error has of its own bound; elements compared."""

    bounds: list[float] = field(default_factory=list)
    errors: dict[str, float] = field(default_factory=dict)
    share: float = 0.0
    lanes: int = 0


@dataclass
class Report:
    """Forward and gradient figures of one function in one type, and what was wrong."""

    forward: Figures = field(default_factory=Figures)
    gradient: Figures = field(default_factory=Figures)
    failures: list[str] = field(default_factory=list)


def units(exact: np.ndarray, dtype: str) -> np.ndarray:
    """A unit in the last place at the largest finite number of each row, and at 1 / columns at least."""
    least = 1.0 / exact.shape[-1]
    size = np.where(np.isfinite(exact), np.abs(exact), 0.0).max(axis=-1, keepdims=True, initial=least)
    exponent = np.floor(np.log2(size))
    return np.exp2(np.maximum(exponent, _LOWEST_EXPONENT[dtype]) - _FRACTION_BITS[dtype])


def add(figures: Figures, triple: Triple, exact: np.ndarray, dtype: str, results: Mapping[str, np.ndarray]) -> str:
    """Counts one output in. Gives what is wrong with the range itself, in words: it must hold the exact result."""
    low, high = wide(triple.low), wide(triple.high)
    unit = np.broadcast_to(units(exact, dtype), exact.shape)
    with np.errstate(invalid="ignore"):
        known = np.isfinite(exact) & np.isfinite(low) & np.isfinite(high) & ~triple.says_nothing
        missed = known & ((exact < low - 0.5 * unit) | (exact > high + 0.5 * unit))
        bound = np.where(known, np.maximum(high - exact, exact - low) / unit, 0.0)
    figures.lanes += int(known.sum())
    if known.any():
        figures.bounds.append(float(bound.max(initial=0.0)))
    for name, got in results.items():
        with np.errstate(invalid="ignore"):
            error = np.where(known, np.abs(wide(got) - exact) / unit, 0.0)
            share = np.where(bound > 0.0, error / bound, 0.0)
        figures.errors[name] = max(figures.errors.get(name, 0.0), float(error.max(initial=0.0)))
        figures.share = max(figures.share, float(share.max(initial=0.0)))
    for place in np.argwhere(missed)[:1]:
        at = tuple(place)
        return f"exact is {exact[at]!r}, outside {low[at]!r} to {high[at]!r}"
    return ""


def exact_results(loss: Loss, data: Data) -> dict[str, np.ndarray]:
    """The result by the twin, and the slope in the first argument by the specification in double precision."""
    values: dict[str, Any] = {one.name: one.value for one in loss.inputs if one.kind == "scalar"}
    for name, array in data.tensors.items():
        if not name.startswith(("Slope", "Result")):
            values[name] = array if array.dtype.kind == "i" else array.astype(np.float64)
    with np.errstate(all="ignore"):
        result = loss.expected(*(values[one.name] for one in loss.inputs))
        slope = f"Slope{differentiated(loss)[0].name}"
        return {"Result": result, slope: interpret(loss, values)[slope]}


def measure(loss: Loss, dtype: str, implementations: tuple[str, ...], draws: tuple[Draw, ...] = DRAWS) -> Report:
    """All draws of one function in one type."""
    report = Report()
    subject = loss_subject(loss, dtype)
    for draw in draws:
        columns = min(draw.columns, SHORT_ROWS.get(loss.function, draw.columns))
        data = loss_data(loss, dtype, draw.seed, draw.rows, columns, draw.ways)
        expected, exact = subject.expected(data), exact_results(loss, data)
        results = {}
        for name in implementations:
            try:
                results[name] = subject.run(execution(name), data)
            except Exception as error:
                report.failures.append(f"{loss.name} {dtype} on {name}, {draw}: {type(error).__name__}: {error}")
        for output, right in exact.items():
            stored = {"float32": "f32", "float16": "f16"}.get(str(data.tensors[output].dtype), "bf16")
            figures = report.forward if output == "Result" else report.gradient
            got = {name: arrays[output] for name, arrays in results.items()}
            words = add(figures, expected[output], right, stored, got)
            if words:
                report.failures.append(f"{loss.name} {dtype}, {draw}: the range of {output} is wrong: {words}")
            for name, array in got.items():
                wrong = first_difference(expected[output], array)
                if wrong:
                    report.failures.append(f"{loss.name} {dtype} on {name}, {draw}: {output}: {wrong}")
    return report


def reports(
    implementations: tuple[str, ...], match: str = "", dtypes: tuple[str, ...] = DTYPES
) -> Iterator[tuple[Loss, str, Report]]:
    for dtype in dtypes:
        for loss in losses():
            if match in loss.name:
                yield loss, dtype, measure(loss, dtype, implementations)
