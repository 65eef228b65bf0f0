"""What executions are compared on: every function of the library, every example with its gradients, the test kernels,
and generated programs, each with data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from tests.diff.harness import Data, Gradient, Subject, zeros_for
from tests.fuzz.attempts import cases_of
from tests.fuzz.generate import draw_program
from tests.fuzz.parts import RandomChoices
from tests.kernels.cases_tensors import CASES
from tests.reference.every import EVERY
from tests.reference.table import ACTIVATIONS
from tests.reference.training_table import Loss
from tests.std.odd import draw_odd
from tests.std.test_training import dims_of, kernel_text
from tests.std.test_training_steps import CALLS, CASTS, CLIP, PARAMETERS
from tilec import driver
from tilec.errors import ArrayError, CompileError
from tilec.types import DType

ROOT = Path(__file__).parents[2]
GROUPS = ("std", "examples", "kernels", "programs")
DTYPES = ("f32", "f16", "bf16")

# A shader of WebGPU's default limits binds no more.
MOST_TENSORS = 8
# Its time grows with the square of the columns.
SHORT_ROWS = {"multilabel_margin_loss": 257}
# Stored in 16 bits they are what they are in 32
ELEMENTWISE = {row.function for row in ACTIVATIONS}

FLAGS = """
kernel run(X: tensor<f32>[M, C], T: tensor<i32>[M, 1], Counted: tensor<bool>[M, 1], Hit: tensor<f32>[M, 1],
           Accuracy: tensor<f32>[1]) {
  let x = X[:, :]
  let t = T[:, :]
  Counted[:, :] = is_class(x, t)
  Hit[:, :] = top1_hit(x, t)
  Accuracy[0] = token_accuracy(x, t)
}
"""


@dataclass(frozen=True, eq=False)
class Entry:
    """One kernel and its data, made when they are wanted. `text`: its source."""

    group: str
    name: str
    text: str
    make: Callable[[], tuple[Subject, Data]]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of what is drawn; flat tensors have eight rows' worth."""

    rows: int = 19
    columns: int = 130

    @property
    def dims(self) -> dict[str, int]:
        wide = dict.fromkeys(("V", "C", "D"), self.columns)
        return {"M": self.rows, **wide, "H": self.columns // 2 + 1, "N": 8 * self.columns - 37}


def entries(group: str, programs: int = 100, sizes: Sizes = Sizes()) -> Iterator[Entry]:
    """All of a group; `programs`: how many are generated. Test kernels and programs have sizes of their own."""
    match group:
        case "std":
            yield from _losses(sizes)
            yield from _steps(sizes)
        case "examples":
            yield from _examples(sizes)
        case "kernels":
            yield from _kernels()
        case "programs":
            yield from (_program(seed) for seed in range(programs))


# --- the library ---------------------------------------------------------------------------------------------


@cache
def loss_subject(loss: Loss, dtype: str) -> Subject:
    """The function, and its gradient in as many arguments as there is room for."""
    return Subject(kernel_text(loss, is_stored=True, most=MOST_TENSORS), "run", {"E": dtype})


def loss_data(loss: Loss, dtype: str, seed: int, rows: int, columns: int, ways: frozenset[str]) -> Data:
    """Drawn arguments, odd in the given ways (see `odd`)."""
    # What f16 cannot hold would be infinite, and all results NaN.
    values = draw_odd(loss, seed, rows, columns, ways - {"shift by 1e6"} if dtype == "f16" else ways)
    dims = dims_of(loss, values)
    tensors = zeros_for(loss_subject(loss, dtype).kernel, dims)
    scalars = {}
    for name, value in values.items():
        if name in tensors:
            if dtype == "f16" and name not in ("T", "Target"):
                value = np.where(np.isfinite(value), np.clip(value, -65504.0, 65504.0), value)
            tensors[name] = value.astype(tensors[name].dtype)
        else:
            scalars[f"{name.lower()}0"] = value
    return Data(tensors, scalars, dims)


def dtypes_of(loss: Loss) -> tuple[str, ...]:
    return DTYPES[:1] if loss.function in ELEMENTWISE else DTYPES


def _losses(sizes: Sizes) -> Iterator[Entry]:
    for loss in EVERY:
        for dtype in dtypes_of(loss):

            def make(loss: Loss = loss, dtype: str = dtype) -> tuple[Subject, Data]:
                seed = crc32(loss.name.encode()) % 1000
                columns = min(sizes.columns, SHORT_ROWS.get(loss.function, sizes.columns))
                data = loss_data(loss, dtype, seed, sizes.rows, columns, frozenset({"zeros"}))
                return loss_subject(loss, dtype), data

            yield Entry("std", f"{loss.name} {dtype}", kernel_text(loss, is_stored=True, most=MOST_TENSORS), make)


def _steps(sizes: Sizes) -> Iterator[Entry]:
    """Optimisers' steps, casts and flags, which have no gradient."""
    texts = {"gradient_norm": CLIP, "casts": CASTS, "flags": FLAGS}
    for name, call in CALLS.items():
        text = f"kernel run({PARAMETERS}) {{\n  let i = ctx.block.x * 256\n  {call}\n}}\n"
        texts[name] = text if "V[" in text else text.replace("V: tensor<f32>[N], ", "")
    for name, text in texts.items():
        yield _drawn("std", name, text, "run", sizes)


# --- files of kernels ----------------------------------------------------------------------------------------

# What the parameters of examples stand for, by name, where any number would not do
_SCALARS: Mapping[str, float | int] = {"lr": 0.125, "step": 3, "V": 7, "most": 0.5, "temperature": 0.5}
_POSITIVE = ("V", "Square", "Scale")


def draw(subject: Subject, dims: Mapping[str, int], seed: int) -> Data:
    """Normal numbers, classes of which some are none, and scalars that suit their names."""
    rng = np.random.default_rng(seed)
    tensors = zeros_for(subject.kernel, dims)
    columns = max((array.shape[-1] for array in tensors.values() if array.ndim == 2), default=7)
    for tensor in subject.kernel.tensors:
        array = tensors[tensor.name]
        if tensor.access == "out":
            continue
        if tensor.name in ("T", "Target"):
            array[...] = np.where(rng.random(array.shape) < 0.1, -100, rng.integers(0, columns, array.shape))
        elif tensor.dtype.is_float:
            values = 3.0 * rng.standard_normal(array.shape)
            array[...] = (np.abs(values) if tensor.name in _POSITIVE else values).astype(array.dtype)
        else:
            array[...] = rng.integers(0 if tensor.dtype is DType.BOOL else -100, 2, array.shape).astype(array.dtype)
    scalars: dict[str, bool | int | float] = {}
    for scalar in subject.kernel.scalars:
        value = _SCALARS.get(scalar.name, scalar.default if scalar.default is not None else 0.5)
        scalars[scalar.name] = float(np.float32(value)) if scalar.dtype is DType.F32 else int(value)
    return Data(tensors, scalars, {name: dims[name] for name in subject.kernel.dims})


def _drawn(
    group: str, name: str, text: str | Path, kernel: str, sizes: Sizes, gradient: Gradient | None = None
) -> Entry:
    def make() -> tuple[Subject, Data]:
        subject = Subject(text, kernel, gradient=gradient)
        return subject, draw(subject, sizes.dims, crc32(name.encode()))

    return Entry(group, name, text if isinstance(text, str) else text.read_text(encoding="utf-8"), make)


def _examples(sizes: Sizes) -> Iterator[Entry]:
    for path in sorted((ROOT / "examples").rglob("*.ph")):
        program = driver.parse_file(path).program
        for kernel in program.kernels:
            name = f"{path.stem}.{kernel}"
            yield _drawn("examples", name, path, kernel, sizes)
            for gradient in gradients_of(path, kernel):
                title = f"{name} by {gradient.wrt[0]}{' in place' if gradient.in_place else ''}"
                yield _drawn("examples", title, path, kernel, sizes, gradient)


@cache
def gradients_of(path: Path, kernel: str) -> tuple[Gradient, ...]:
    """The gradients that the kernel has, of every output in every float input."""
    tensors = Subject(path, kernel).kernel.tensors
    losses = [one.name for one in tensors if one.access == "out" and one.dtype.is_float]
    inputs = [one.name for one in tensors if one.access == "in" and one.dtype.is_float]
    found = []
    for loss in losses:
        for name in inputs:
            for in_place in (False, True):
                gradient = Gradient((name,), loss, in_place)
                try:
                    Subject(path, kernel, gradient=gradient)
                except (ArrayError, CompileError):
                    continue
                found.append(gradient)
    return tuple(found)


def _kernels() -> Iterator[Entry]:
    """The kernels of tests/kernels on the second of their sizes."""
    for case in CASES:
        for dtype in case.dtypes:

            def make(case: Any = case, dtype: str = dtype) -> tuple[Subject, Data]:
                rng = np.random.default_rng(crc32(case.kernel.encode()))
                return _given(ROOT / "tests/kernels" / case.file, case.kernel, dtype, {
                    **case.draw(rng, case.sizes[min(1, len(case.sizes) - 1)], dtype), **case.scalars[0],
                })  # fmt: skip

            text = (ROOT / "tests/kernels" / case.file).read_text(encoding="utf-8")
            found = re.search(rf"^kernel {case.kernel}\b.*?^\}}", text, re.MULTILINE | re.DOTALL)
            assert found is not None
            yield Entry("kernels", f"{case.kernel} {dtype}", found[0], make)


def _given(path: Path, kernel: str, dtype: str, given: Mapping[str, Any]) -> tuple[Subject, Data]:
    """A kernel on arguments as a caller passes them, whose arrays choose the types and sizes."""
    signature = driver.parse_file(path).program.kernels[kernel]
    labels = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
    chosen = {}
    for parameter in signature.parameters:
        if parameter.kind != "tensor" or len(parameter.alternatives) < 2:
            continue
        name = str(given[parameter.name].dtype) if parameter.name in given else ""
        types = [one.label for one in parameter.alternatives]
        wanted = labels.get(name, name.replace("int", "i").replace("ui", "u")) or dtype
        if wanted in types:
            chosen[parameter.type_variable or parameter.name] = wanted
    subject = Subject(path, kernel, chosen)
    dims = {name: value for name, value in given.items() if name in subject.kernel.dims}
    for tensor in subject.kernel.tensors:
        if tensor.name in given:
            dims |= {str(dim): size for dim, size in zip(tensor.dims, given[tensor.name].shape, strict=True)}
    dims = {name: dims[name] for name in subject.kernel.dims}
    tensors = zeros_for(subject.kernel, dims)
    for name in tensors.keys() & given.keys():
        tensors[name] = np.asarray(given[name]).astype(tensors[name].dtype)
    scalars = {one.name: given.get(one.name, one.default) for one in subject.kernel.scalars}
    return subject, Data(tensors, scalars, dims)


# --- generated programs --------------------------------------------------------------------------------------


def _program(seed: int) -> Entry:
    [case] = cases_of(draw_program(RandomChoices(seed)), seed, 1)

    def make() -> tuple[Subject, Data]:
        subject = case.subject()
        return subject, case.data(subject)

    return Entry("programs", f"seed {seed}", case.text, make)
