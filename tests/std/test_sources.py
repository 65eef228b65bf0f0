"""The library, the examples and the test kernels are read without a word from the compiler, warnings included."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilec.diag.report import Reporter
from tilec.sema.library import library
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_is_read_without_diagnostics(path: Path):
    reporter = Reporter()
    program = load_program(Source(path.name, path.read_text(encoding="utf-8")), reporter)
    assert program.kernels
    assert [str(diagnostic) for diagnostic in reporter.diagnostics] == []


def test_token_loss_is_the_documented_kernel():
    assert (ROOT / "examples" / "token_loss.ph").read_text(encoding="utf-8").endswith(TOKEN_LOSS)
