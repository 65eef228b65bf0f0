"""Every example runs on every execution and gives what NumPy gives; the scripts do what they say."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from torch.nn import functional

import tilec
from tests.reference import activation, loss_bounds, losses, norm, softmax
from tests.reference.bounds import DIVIDE, ROOT, SUM, U, row_sum
from tests.reference.execution import DTYPES, EXECUTIONS, assert_within, exact, rounded

EXAMPLES = Path(__file__).parents[2] / "examples"

each_execution = pytest.mark.parametrize("execution", EXECUTIONS)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


@cache
def example(name: str) -> Any:
    return tilec.compile(EXAMPLES / name)


def normal(shape: tuple[int, ...], dtype: str = "f32", scale: float = 1.0) -> np.ndarray:
    return rounded(scale * np.random.default_rng(list(shape)).standard_normal(shape), dtype)


@each_execution
@pytest.mark.parametrize("rows", [0, 1, 13, 1000])
def test_token_loss(rows: int, execution: str):
    logits = normal((rows, 512), scale=4.0)
    target = np.random.default_rng(rows).integers(0, 512, (rows, 1)).astype(np.int32)
    got = example("token_loss.ph").token_loss(logits, target, device=execution).Loss
    x = exact(logits)
    assert_within(got, losses.cross_entropy(x, target), loss_bounds.cross_entropy(x, target))


@each_execution
@each_dtype
def test_softmax(dtype: str, execution: str):
    x = normal((21, 300), dtype, 3.0)
    got = example("softmax.ph").softmax_rows(X=x, device=execution).Y
    assert got.dtype == x.dtype
    assert_within(got, softmax.softmax(exact(x)), loss_bounds.softmax(exact(x)))


@each_execution
@each_dtype
def test_layer_norm(dtype: str, execution: str):
    x, w, b = normal((9, 77), dtype, 2.0), normal((77,)), normal((1, 77))[0]
    got = example("layer_norm.ph").layer_norm_rows(X=x, W=w, B=b, device=execution).Y
    values = exact(x), exact(w), exact(b)
    assert_within(got, norm.layer_norm(*values), loss_bounds.layer_norm(*values))


@each_execution
@pytest.mark.parametrize("shape", [(1, 1), (301, 130), (1000, 3)])
def test_column_mean(shape: tuple[int, int], execution: str):
    x = exact(normal(shape))
    got = example("column_mean.ph").column_mean(X=normal(shape), device=execution).Mean
    assert_within(got, x.mean(axis=0, keepdims=True), (SUM + DIVIDE) * np.abs(x).mean(axis=0, keepdims=True))


@each_execution
@pytest.mark.parametrize("columns", [1, 500, 512, 513, 2000])
def test_chunked(columns: int, execution: str):
    x = normal((11, columns))
    got = example("chunked.ph").row_length(X=x, device=execution).Length
    squares = exact(x) ** 2
    expected = np.sqrt(squares.sum(axis=1, keepdims=True))
    # Each lane adds its few squares, one rounding each
    of_sum = row_sum(squares, 2 + columns / 512) / (2 * expected)
    assert_within(got, expected, of_sum + ROOT * expected)


@each_execution
@each_dtype
def test_in_place_relu(dtype: str, execution: str):
    x = normal((17, 33), dtype)
    before = x.copy()
    got = example("in_place_relu.ph").in_place_relu(X=x, device=execution).X
    assert_within(got, activation.relu(exact(x)), 0.0)
    np.testing.assert_array_equal(x, before)


@each_execution
@pytest.mark.parametrize("columns", [1, 7, 256])
def test_quantize_and_back(columns: int, execution: str):
    x = normal((10, columns))
    x[3] = 0.0
    module = example("quantize.ph")
    packed = module.quantize(X=x, device=execution)
    scale = np.maximum(np.abs(exact(x)).max(axis=1, keepdims=True) / 127.0, 1e-12)
    assert_within(packed.Scale, scale, DIVIDE * scale)
    assert packed.Q.dtype == np.int8
    # The quotient may round to either neighbour where it lies within its error of a half
    assert np.all(np.abs(packed.Q - exact(x) / scale) <= 0.5 + 127 * 2 * DIVIDE)
    back = module.dequantize(Q=packed.Q, Scale=packed.Scale, device=execution).X
    product = exact(packed.Q) * exact(packed.Scale)
    assert_within(back, product, U * np.abs(product))


@each_execution
@pytest.mark.parametrize("rows", [1, 1000, 70001])
def test_sum_losses(rows: int, execution: str):
    loss = np.abs(normal((rows,)))
    target = np.random.default_rng(rows).integers(-1, 3, rows).astype(np.int32)
    module = example("sum_losses.ph")
    total = exact(loss).sum(keepdims=True)
    assert_within(module.sum_losses(loss, device=execution).Total, total, SUM * total)
    valid = target >= 0
    mean = np.array([exact(loss)[valid].sum() / max(valid.sum(), 1)])
    assert_within(module.mean_loss(loss, target, device=execution).Mean, mean, (SUM + DIVIDE) * mean)


@each_execution
def test_optimizer(execution: str):
    """Against torch.optim in float64, three steps from the same start."""
    count = 2500
    module = example("optimizer.ph")
    gradients = [rounded(normal((count, 3))[:, step], "f32") for step in range(3)]
    for name, make, state in (
        ("sgd", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), ["Velocity"]),
        ("adamw", lambda p: torch.optim.AdamW(p, lr=0.1, betas=(0.9, 0.999), weight_decay=0.01), ["Mean", "Square"]),
    ):
        start = normal((count,))
        values = {"Param": start, **{key: np.zeros(count, np.float32) for key in state}}
        truth = torch.from_numpy(exact(start)).requires_grad_()
        optimizer = make([truth])
        for number, gradient in enumerate(gradients, 1):
            counted = {"step": number} if name == "adamw" else {}
            result = module[name](Grad=gradient, lr=0.1, **values, **counted, device=execution)
            values = {key: result[key] for key in values}
            truth.grad = torch.from_numpy(exact(gradient))
            optimizer.step()
        # A step is a quotient of two moments of few roundings; 1 - beta and the powers lose 3 digits to cancellation
        assert_within(values["Param"], truth.detach().numpy(), 3 * 0.1 * 3e-4 + 4e-7 * np.abs(exact(start)))


@each_execution
@each_dtype
def test_label_smoothing(dtype: str, execution: str):
    logits = normal((19, 101), dtype, 3.0)
    target = np.random.default_rng(5).integers(0, 101, 19)
    target[[2, 11]] = -100
    logits[11] = np.nan
    kernel = example("label_smoothing.ph").label_smoothing
    for smoothing in (0.1, 0.0):
        got = kernel(Logits=logits, Target=target, smoothing=smoothing, device=execution).Loss
        x = np.nan_to_num(exact(logits))
        expected = functional.cross_entropy(
            torch.from_numpy(x),
            torch.from_numpy(target),
            label_smoothing=float(np.float32(smoothing)),
            reduction="none",
        ).numpy()
        of_mean = SUM * np.abs(x).mean(axis=1) + 8 * U * (np.abs(x).max(axis=1) + expected)
        bound = loss_bounds.cross_entropy(x, np.maximum(target, 0)[:, None])[:, 0] * 2 + of_mean
        assert_within(got, expected, bound)


@each_execution
def test_digits_kernel(execution: str):
    logits, target = normal((37, 10), scale=3.0), np.arange(37).astype(np.int32)[:, None] % 10
    kernel = tilec.compile(EXAMPLES / "digits" / "digits.ph").classifier_loss
    step = kernel.grad(wrt="Logits", in_place=True, upstream="scalar")
    result = step(Logits=logits, Target=target, DLoss=1 / 32, device=execution)
    x = exact(logits)
    assert_within(result.Loss, losses.cross_entropy(x, target), loss_bounds.cross_entropy(x, target))
    gradient = (softmax.softmax(x) - (np.arange(10) == target)) / 32
    assert_within(result.Logits, gradient, loss_bounds.softmax(x) / 32 + 2 * U * np.abs(gradient))


def run_script(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )


@pytest.mark.parametrize("options", [(), ("--device", "numpy"), ("--device", "swiftshader")])
def test_main_job(options: tuple[str, ...]):
    ran = run_script(str(EXAMPLES / "token_loss.py"), *options)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = ran.stdout.strip().splitlines()
    assert lines[0].split() == ["rows", "columns", "mean", "loss", "max", "error", "ms", "a", "call", "device"]
    assert [line.split()[0] for line in lines[1:5]] == ["1", "100", "1000", "8192"]
    assert lines[-1] == "agrees with NumPy in float64"


def test_main_job_without_a_driver():
    """One line says how to get one, and the interpreter runs."""
    ran = run_script(str(EXAMPLES / "token_loss.py"), VK_DRIVER_FILES="/nowhere", VK_ICD_FILENAMES="/nowhere")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    first = ran.stdout.splitlines()[0]
    assert "setup_drivers.sh" in first
    assert first.endswith("running on the NumPy interpreter")
    assert "NumPy interpreter" in ran.stdout.splitlines()[2]


@each_execution
def test_digits_are_learned(execution: str):
    ran = run_script(str(EXAMPLES / "digits" / "train.py"), "--device", execution)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    falling = [float(line.split()[-1]) for line in lines if line.startswith("step")]
    assert len(falling) == 11
    assert all(later < earlier for earlier, later in pairwise(falling))
    assert float(lines[-1].split()[4]) >= 0.95


@cache
def charlm(name: str) -> Any:
    """A module of the character model, whose folder is no package."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / "charlm" / f"{name}.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@each_execution
def test_charlm_steps(execution: str):
    """"charlm.ph": three steps as torch takes them in float64, whose autograd knows nothing of derived kernels."""
    device = None if execution == "numpy" else tilec.device(execution)
    classes, context, width, rows = 7, 3, 20, 33
    model = charlm("model").Model(classes, context, width, device)
    names = ("w1", "b1", "w2", "b2")
    truth = [torch.from_numpy(exact(model._matrix(name))).requires_grad_() for name in names]
    optimizer = torch.optim.AdamW(truth, lr=0.01, betas=(0.9, 0.99), weight_decay=0.1)
    rng = np.random.default_rng(2)
    for _ in range(3):
        contexts = rng.integers(0, classes, (rows, context)).astype(np.int32)
        targets = rng.integers(0, classes, rows).astype(np.int32)
        before = model.loss(contexts, targets)
        loss = model.train(contexts, targets, 0.01)
        w1, b1, w2, b2 = truth
        one_hot = functional.one_hot(torch.from_numpy(contexts).long(), classes).reshape(rows, -1).double()
        hidden = functional.silu(one_hot @ w1 + b1)
        expected = functional.cross_entropy(hidden @ w2 + b2, torch.from_numpy(targets).long())
        assert loss == before
        assert abs(loss - expected.item()) < 1e-5
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
    for name, own in zip(names, truth, strict=True):
        # Steps of 0.01 times a quotient that is right to 4 digits, of moments of gradients that are not near 0
        np.testing.assert_allclose(model._matrix(name), own.detach().numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", [("--steps", "40"), ("--steps", "3", "--device", "numpy")], ids=str)
def test_charlm_learns(options: tuple[str, ...], tmp_path: Path):
    curve = tmp_path / "loss.svg"
    ran = run_script(str(EXAMPLES / "charlm" / "train.py"), *options, "--curve", str(curve))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    last = ran.stdout.rstrip().splitlines()[-1].split()
    guess, reached = float(last[5].rstrip(",")), float(last[11])
    text = (EXAMPLES / "charlm" / "text.txt").read_text(encoding="utf-8")
    assert guess == round(float(np.log(len(set(text)))), 3)
    assert reached < (guess - 0.9 if "40" in options else guess)
    assert ran.stdout.count("step ") >= 3
    sample = ran.stdout.partition("\n2 April. ")[2].partition("\n\nloss of")[0]
    assert len(sample) == 400
    assert set(sample) <= set(text)
    picture = ElementTree.parse(curve).getroot()
    (line,) = picture.iter("{http://www.w3.org/2000/svg}polyline")
    assert len(line.get("points").split()) == int(options[1])


def test_charlm_text_is_what_its_script_writes():
    text = (EXAMPLES / "charlm" / "text.txt").read_text(encoding="utf-8")
    assert text == charlm("make_text").text()
    assert 30_000 < len(text) < 60_000


def test_every_example_is_tested():
    """Here, or where the tests are of what it shows."""
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py")]
    for path in EXAMPLES.rglob("*.ph"):
        assert any(f'"{path.name}"' in text for text in texts), f"{path.name} has no test"
