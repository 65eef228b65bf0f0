"""A page of Chromium runs what `tilec compile` writes, and gives what the specification allows. It knows the manifest
and nothing of the compiler: what it gets right, the files say.

`python -m tests.diff` compares everything there is; here is a part of it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.diff.catalog import Entry, draw, entries
from tests.diff.harness import PAGE, PAGE_VARIANT, Data, Execution, Subject, open_device
from tests.diff.ranges import Undecided
from tests.diff.web import Output, WebDevice, dawn_device, page_device
from tilec.cli.main import main
from tilec.errors import DeviceError
from tilec.options import Limits, Options
from tilec.runtime.formulas import guard_test, parse_formula
from tilec.sema.library import library

ROOT = Path(__file__).parents[2]
IN_NODE = Execution("in Node", known=False, device="dawn:swiftshader", shipped=True)
DAWN = Execution("Dawn on lavapipe", known=False, device="dawn:lavapipe")
LIBRARY = {entry.name: entry for entry in entries("std")}
EXAMPLES = {entry.name: entry for entry in entries("examples")}


def check(entry: Entry, *executions: Execution) -> None:
    subject, data = entry.make()
    outcome = subject.check(data, executions)
    assert outcome.silent <= 0.5 * outcome.lanes, "nothing is known of most elements"


# --- the files -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["page", "node"])
def host(request: pytest.FixtureRequest) -> WebDevice:
    return page_device() if request.param == "page" else dawn_device("swiftshader")


def shipped(folder: Path, *options: str) -> dict[str, str]:
    """What the command writes for the example."""
    assert main(["compile", str(ROOT / "examples/label_smoothing.ph"), "-o", str(folder), *options]) == 0
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


@pytest.mark.parametrize("columns", [96, 100])
def test_files_of_the_command_line_run(host: WebDevice, tmp_path: Path, columns: int):
    """With a variant for the size, and without one that fits."""
    files = shipped(tmp_path, "--dim", "V=96", "--dtype", "Logits=f16")
    assert json.loads(files["label_smoothing.json"])["variants"][0]["guards"]
    if columns == 96:  # the general text must not be what ran
        files["label_smoothing.wgsl"] = "never compiled"
    rng = np.random.default_rng(0)
    x = rng.standard_normal((19, columns)).astype(np.float16)
    target = rng.integers(-1, columns, 19).astype(np.int32)
    got = host.launch_shipped(
        files, "label_smoothing.json", {"Logits": x, "Target": target},
        {"Loss": Output(np.dtype(np.float32), (19,))}, {}, {"ignore_index": -1},
    )["Loss"]  # fmt: skip
    wide = x.astype(np.float64)
    lse = np.log(np.exp(wide).sum(1))
    right = 0.9 * (lse - wide[np.arange(19), np.maximum(target, 0)]) + 0.1 * (lse - wide.mean(1))
    np.testing.assert_allclose(got, np.where(target < 0, 0.0, right), rtol=2e-6, atol=2e-6)


def test_a_host_that_passes_what_does_not_fit_is_told(host: WebDevice, tmp_path: Path):
    files = shipped(tmp_path)
    x, target = np.zeros((4, 7), np.float32), np.zeros(5, np.int32)
    with pytest.raises(DeviceError, match="Target: M is 4 and 5"):
        host.launch_shipped(files, "label_smoothing.json", {"Logits": x, "Target": target}, {}, {}, {})
    files = {**files, "label_smoothing.wgsl": files["label_smoothing.wgsl"].replace("fn ", "fun ", 1)}
    with pytest.raises(DeviceError, match=r"could not launch: wgsl:\d+:\d+: "):
        host.launch_shipped(files, "label_smoothing.json", {"Logits": x, "Target": target[:4]}, {}, {}, {})


REQUIRED = """
fn is_even(n) = n % 2 == 0

kernel run(X: tensor<f32>[M, V], a: f32 = 0.5, n: i32 = 2, up: f32 = inf) {
  let twice = V * 2
  require twice > 6, "V is too small"
  require a > 0.0 && a / 2.0 < 1.5, "a is out of range"
  require is_even(n) || up > 1e9, "n is odd"
  X[:, :] = min(X[:, :] + a, up)
}
"""


@pytest.mark.parametrize(
    ("columns", "scalars", "message"),
    [
        (4, {}, ""), (3, {}, "V is too small"), (4, {"a": 3.0}, "a is out of range"), (4, {"a": -1.0}, "out of range"),
        (4, {"n": 3}, ""), (4, {"n": 3, "up": 2.0}, "n is odd"),
    ],
)  # fmt: skip
def test_requirements_need_no_source(columns: int, scalars: dict[str, float], message: str):
    """What the source calls and names is written out; a default of infinity is one."""
    subject = Subject(REQUIRED)
    data = Data({"X": np.ones((2, columns), np.float32)}, scalars, {"M": 2, "V": columns})
    if message:
        with pytest.raises(DeviceError, match=message):
            subject.run(PAGE, data)
    else:
        np.testing.assert_array_equal(subject.run(PAGE, data)["X"], 1 + data.scalars.get("a", 0.5))


def test_formulas_mean_the_same_to_both(host: WebDevice):
    formulas = [
        f"{function}({sign}M + {shift}, {divisor})"
        for function in ("div", "mod", "ceildiv", "min", "max") for sign in ("", "-1 * ")
        for shift in (0, 3, -7) for divisor in ("N", "4", "Z", "M - 20")
    ]  # fmt: skip
    formulas += ["4 * M * N * N * N * N", "M - N - Z", "2 * (M + N) * ceildiv(M, 2)"]
    conditions = ["M % 4 == 1", "M >= 13 && N < 3000000", "(M * N) % 4 != 0", "Z < 0", "M <= 12 && Z == 0"]
    values = {"M": 13, "N": 2_000_003, "Z": 0}
    answer, _ = host.ask({"do": "evaluate", "formulas": formulas, "conditions": conditions, "values": values})
    right = [parse_formula(text, values, ()).evaluate(values) for text in formulas]
    assert [int(number) for number in answer["integers"]] == right
    assert answer["met"] == [guard_test([text])(values) for text in conditions]


SHARED_WORDS = """
kernel run(X: tensor<f16>[V], A: tensor<f32>[V]) {
  let i = ctx.block.x
  X[i :+ 1] = A[i :+ 1] + f32(V)
}
"""


def test_a_size_of_two_types_has_two_words(host: WebDevice):
    """As i32 and as u32: the manifest once gave both the offset of one."""
    subject = Subject(SHARED_WORDS)
    [variant] = json.loads(subject.files(None)["run.json"])["variants"]
    fields = variant["uniforms"]["fields"]
    assert {"i32", "u32"} <= {one["type"] for one in fields if one["name"] == "V"}
    assert [one["offset"] for one in fields] == [4 * place for place in range(len(fields))]
    data = draw(subject, {"V": 31}, 1)
    subject.check(data, [PAGE, IN_NODE])


def test_more_workgroups_than_an_axis_has():
    text = "kernel run(A: tensor<u32>[M, N]) {\n  let r = ctx.block.x\n  A[r :+ 1, :] += u32(r) * u32(N)\n}\n"
    subject = Subject(text)
    rows = 70_001
    data = Data({"A": np.ones((rows, 1), np.uint32)}, {}, {"M": rows, "N": 1})
    assert "65535" in subject.files(None)["run.json"]
    for execution in (PAGE, IN_NODE):
        np.testing.assert_array_equal(subject.run(execution, data)["A"][:, 0], 1 + np.arange(rows))


def test_the_text_is_the_standards():
    """Tint wants the directive that naga refuses: it is in what is emitted, and left out when wgpu compiles."""
    subject, data = EXAMPLES["softmax.softmax_rows"].make()
    options = Options(limits=Limits(subgroup=4))
    assert re.search(r"^enable subgroups;", subject.compiled(options, None).wgsl, re.MULTILINE)
    for name in ("swiftshader", "dawn:swiftshader", "chromium"):
        assert "subgroups" in open_device(name).features
        subject.check(data, [Execution(name, options, known=False, own_limits=True, device=name)])


# --- what is compared ----------------------------------------------------------------------------------------


def test_every_function_of_the_library_is_compared():
    texts = "\n".join(entry.text for entry in LIBRARY.values())
    missing = [name for name in library().names if not name.startswith("_") and not re.search(rf"\b{name}\(", texts)]
    assert missing == []


def test_every_example_is_compared_with_its_gradients():
    kernels = [
        f"{path.stem}.{name}"
        for path in (ROOT / "examples").rglob("*.ph")
        for name in re.findall(r"^kernel (\w+)", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert kernels
    assert set(kernels) <= EXAMPLES.keys()
    assert sum(" by " in name for name in EXAMPLES) >= 30


IN_SINGLE = [name for name in LIBRARY if not name.endswith((" f16", " bf16"))]


@pytest.mark.parametrize("name", IN_SINGLE)
def test_the_library_in_a_page(name: str):
    check(LIBRARY[name], PAGE)


@pytest.mark.parametrize("name", IN_SINGLE[::6])
def test_the_library_on_dawn(name: str):
    check(LIBRARY[name], DAWN)


EXAMPLES_HERE = (
    "train_loss.train_loss", "batch_loss.batch_loss", "quantize.quantize", "charlm.adamw", "column_mean.column_mean",
    "softmax.softmax_rows by X", "token_loss.token_loss by Logits in place", "sum_losses.mean_loss by Loss",
)  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES_HERE)
def test_examples_in_a_page(name: str):
    check(EXAMPLES[name], PAGE, PAGE_VARIANT)


# Software drivers compile longer texts for minutes.
SHORT = 14_000


def test_generated_programs():
    """On the page, and on Dawn; of some nothing can be told."""
    compared = 0
    for entry in entries("programs", 30):
        subject, data = entry.make()
        if len(subject.files(None)["run.wgsl"]) > SHORT:
            continue
        try:
            subject.check(data, [PAGE, DAWN] if compared % 3 == 0 else [PAGE])
        except Undecided:
            continue
        compared += 1
    assert compared >= 12
