"""The WGSL of some kernels, as texts to read: what changes in them is seen in review.

`pytest tests/golden --update-golden` writes them anew. Each is accepted by Tint and by naga, and runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.diff import tint
from tests.diff.harness import Execution, Subject
from tests.fuzz.inputs import draw_data
from tilec.options import Options

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TEXTS = HERE / "texts"

ON_DEVICES = tuple(
    Execution(f"the golden text on {name}", known=False, device=name, own_limits=True)
    for name in ("lavapipe", "dawn:lavapipe")
)


@dataclass(frozen=True)
class Golden:
    """A kernel of a file (or of a text), storage types, and the dims that its code may rely on. `sizes`: what it runs
    on; `roles`: which tensors hold indices."""

    name: str
    source: str
    sizes: dict[str, int]
    dtypes: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    known: bool = False
    kernel: str = ""

    def subject(self) -> Subject:
        text = self.source if self.source.startswith("kernel") else ROOT / self.source
        return Subject(text, self.kernel or self.name.partition("-")[0], self.dtypes)


def loss(call: str, second: str = "Y: tensor<f32>[M, C]") -> str:
    body = f"  let r = ctx.block.x * 8\n  L[r :+ 8, new] = {call}"
    return f"kernel loss(X: tensor<f32|f16|bf16>[M, C], {second}, L: tensor<f32>[M]) {{\n{body}\n}}\n"


M, V = {"M": 13}, {"M": 13, "V": 130}
INDEX = {"T": "index", "Target": "index"}
GOLDEN = [
    Golden("token_loss", "examples/token_loss.ph", V, roles=INDEX),
    Golden("token_loss-resident", "examples/token_loss.ph", {"M": 13, "V": 512}, roles=INDEX, known=True),
    Golden("train_loss", "examples/train_loss.ph", V, roles=INDEX),
    Golden("train_loss-few_rows", "examples/train_loss.ph", {"M": 2, "V": 40000}, roles=INDEX, known=True),
    Golden("train_loss-rows_in_turn", "examples/train_loss.ph", {"M": 1100, "V": 1030}, roles=INDEX, known=True),
    Golden("softmax_rows-rows_in_turn", "examples/softmax.ph", {"M": 1100, "C": 131}, {"T": "bf16"}, known=True),
    Golden("softmax_rows", "examples/softmax.ph", {"M": 13, "C": 130}),
    Golden("softmax_rows-f16", "examples/softmax.ph", {"M": 13, "C": 130}, {"T": "f16"}, known=True),
    Golden("layer_norm_rows", "examples/layer_norm.ph", {"M": 13, "D": 70}),
    Golden("label_smoothing", "examples/label_smoothing.ph", V, roles=INDEX),
    Golden("column_mean", "examples/column_mean.ph", {"M": 300, "C": 40}),
    Golden("in_place_relu", "examples/in_place_relu.ph", {"M": 13, "C": 33, "N": 600}),
    Golden("sum_losses", "examples/sum_losses.ph", {"M": 300}),
    Golden("row_length", "examples/chunked.ph", {"M": 13, "C": 700}),
    Golden("sgd", "examples/optimizer.ph", {"N": 700}),
    Golden("quantize", "examples/quantize.ph", {"M": 13, "C": 70}),
    Golden("nearest", "tests/kernels/control.ph", {"M": 13, "D": 20, "K": 5}),
    Golden("until_limit", "tests/kernels/control.ph", {"M": 13, "C": 200}),
    Golden("smooth_rows", "tests/kernels/layout.ph", {"M": 13, "C": 130}),
    Golden("rotary", "tests/kernels/layout.ph", {"M": 13, "D": 20}, {"T": "bf16"}),
    Golden("middle_mean", "tests/kernels/reductions.ph", {"A": 5, "B": 7, "C": 9}),
    Golden("class_counts", "tests/kernels/reductions.ph", {"M": 300, "C": 20}, roles=INDEX),
    Golden("scale_rows-shared_words", "tests/kernels/storage.ph", {"M": 13, "C": 9}, {"X": "f16"}),
    Golden("scale_rows-own_words", "tests/kernels/storage.ph", {"M": 13, "C": 64}, {"X": "f16"}, known=True),
    Golden("loss-cross_entropy", loss("cross_entropy(X[r :+ 8, :], T[r :+ 8, new])", "T: tensor<i32>[M]"),
           {"M": 13, "C": 70}, roles=INDEX),
    Golden("loss-mse_loss", loss("mse_loss(X[r :+ 8, :], Y[r :+ 8, :])"), {"M": 13, "C": 70}),
    Golden("loss-binary_cross_entropy",
           loss("binary_cross_entropy_with_logits(X[r :+ 8, :], Y[r :+ 8, :])"), {"M": 13, "C": 70}),
]  # fmt: skip

each_kernel = pytest.mark.parametrize("golden", GOLDEN, ids=[golden.name for golden in GOLDEN])


@each_kernel
def test_text_is_the_golden_one(golden: Golden, request: pytest.FixtureRequest):
    compiled = golden.subject().compiled(Options(), golden.sizes if golden.known else None)
    tint.assert_valid(compiled.wgsl)
    path = TEXTS / f"{golden.name}.wgsl"
    if request.config.getoption("--update-golden"):
        TEXTS.mkdir(exist_ok=True)
        path.write_text(compiled.wgsl, encoding="utf-8")
    assert path.is_file(), f"no golden text: pytest tests/golden --update-golden writes {path.name}"
    assert compiled.wgsl == path.read_text(encoding="utf-8"), "pytest tests/golden --update-golden accepts the new text"


@each_kernel
def test_golden_kernels_run(golden: Golden):
    """naga and Dawn compile the very text, and its results are right."""
    subject = golden.subject()
    data = draw_data(subject, golden.roles, _every_dim(subject, golden), "normal", len(golden.name))
    executions = [Execution(one.name, one.options, golden.known, one.device, own_limits=True) for one in ON_DEVICES]
    subject.check(data, executions)


def _every_dim(subject: Subject, golden: Golden) -> dict[str, int]:
    missing = set(subject.kernel.dims) - set(golden.sizes)
    assert not missing, f"sizes for {missing}"
    return {name: golden.sizes[name] for name in subject.kernel.dims}


def test_no_golden_text_is_left_over():
    names = {path.stem for path in TEXTS.glob("*.wgsl")}
    assert names == {golden.name for golden in GOLDEN}
