"""The library, the examples and the test kernels are read without a word from the compiler, warnings included."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch.nn import functional

from tilec.diag.report import Reporter
from tilec.sema.library import library
from tilec.sema.library_page import library_page
from tilec.sema.resolve import load_program
from tilec.source import Source

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("examples/**/*.ph"), *ROOT.glob("tests/kernels/*.ph")])

# The example of the losses' documentation, which the library's users start from
TOKEN_LOSS = """\
kernel token_loss(Logits: tensor<f32>[M, 512], Target: tensor<i32>[M, 1], Loss: tensor<f32>[M, 1]) {
  let r = ctx.block.x * 8
  var x = Logits[r :+ 8, :]
  cross_entropy(Loss[r :+ 8, :], x, Target[r :+ 8, :])
}
"""


def test_library_loads_whole():
    std = library()
    std.load_all()
    assert {"cross_entropy", "softmax", "layer_norm", "gelu"} <= std.names


def test_the_page_of_the_library_is_current():
    page = library_page()
    assert (ROOT / "docs" / "library.md").read_text(encoding="utf-8") == page
    assert all(f"`{name}(" in page for name in library().names)
    assert all(f"## {path.name}" in page for path in (ROOT / "std").glob("*.ph"))
    assert all(f"(std/{path.name})" in (ROOT / "README.md").read_text("utf-8") for path in (ROOT / "std").glob("*.ph"))


def test_every_loss_of_torch_is_in_the_library():
    """But for what is no function of a row: an alignment, a matrix product, and one that takes a Python function."""
    losses = {name for name in dir(functional) if name.endswith(("_loss", "entropy", "entropy_with_logits", "kl_div"))}
    others = {"ctc_loss", "linear_cross_entropy", "triplet_margin_with_distance_loss"}
    assert len(losses) > 20
    assert losses - others <= library().names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_is_read_without_diagnostics(path: Path):
    reporter = Reporter()
    program = load_program(Source(path.name, path.read_text(encoding="utf-8")), reporter)
    assert program.kernels
    assert [str(diagnostic) for diagnostic in reporter.diagnostics] == []


def test_token_loss_is_the_documented_kernel():
    assert (ROOT / "examples" / "token_loss.ph").read_text(encoding="utf-8").endswith(TOKEN_LOSS)
