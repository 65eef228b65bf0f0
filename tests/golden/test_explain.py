"""What `tilec explain` says of the training loss on a GPU, for the sizes of real models: a change of plan is seen in
review.

`pytest tests/golden --update-golden` writes the texts anew. No device is needed: the GPU's limits and rates are data.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tilec import driver
from tilec.options import Options
from tilec.plan.profile import H200
from tilec.types import DTYPES

TEXTS = Path(__file__).parent / "texts"
EXAMPLE = Path(__file__).parents[2] / "examples" / "train_loss.ph"
SHAPES = [(8192, 512), (8192, 2048), (8192, 32768), (8192, 50257), (4000, 131072), (2000, 262144), (4, 262144)]
CELLS = [(rows, columns, dtype) for rows, columns in SHAPES for dtype in ("f32", "f16", "bf16")]


@pytest.mark.parametrize(("rows", "columns", "dtype"), CELLS)
def test_explanation_is_the_golden_one(rows: int, columns: int, dtype: str, request: pytest.FixtureRequest):
    built = driver.build_kernel(driver.parse_file(EXAMPLE).program, "train_loss", {"T": DTYPES[dtype]}).kernel
    explanation = driver.explain(built, {"M": rows, "V": columns}, Options(limits=H200.limits), H200)
    path = TEXTS / f"explain-{rows}x{columns}-{dtype}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(explanation.text, encoding="utf-8")
    assert path.is_file(), f"no golden text: pytest tests/golden --update-golden writes {path.name}"
    assert explanation.text == path.read_text(encoding="utf-8"), "pytest tests/golden --update-golden accepts it"


def test_no_explanation_is_left_over():
    names = {path.stem for path in TEXTS.glob("explain-*.txt")}
    assert names == {f"explain-{rows}x{columns}-{dtype}" for rows, columns, dtype in CELLS}
