"""A kernel around one function of the library, its arguments, and what its twin and torch say of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
import torch

from tests.reference.execution import compiled, exact, rounded
from tests.reference.table import Argument, Row

BLOCK = 8


def kernel_text(row: Row) -> str:
    """The source of a kernel `run` that applies the row's function to blocks of rows."""
    parameters = [_parameter(argument) for argument in row.arguments]
    span = f"[r :+ {BLOCK}, :]"
    result = "tensor<f32>[M, 1]" if row.result == "column" else "tensor<T>[M, C]"
    values = [_value(argument, span) for argument in row.arguments]
    if row.form == "statement":
        body = f"{row.function}(Result{span}, {', '.join(values)})"
    else:
        body = f"Result{span} = {row.function}({', '.join(values)})"
    scalars = [_parameter(argument) for argument in row.arguments if argument.kind == "scalar"]
    tensors = [parameter for parameter in parameters if parameter not in scalars]
    signature = ", ".join([*tensors, f"Result: {result}", *scalars])
    return f"kernel run<T: f32|f16|bf16>({signature}) {{\n  let r = ctx.block.x * {BLOCK}\n  {body}\n}}\n"


def _parameter(argument: Argument) -> str:
    types = {"tile": "tensor<T>[M, C]", "classes": "tensor<i32>[M, 1]", "feature": "tensor<f32>[C]", "scalar": "f32"}
    return f"{argument.name}: {types[argument.kind]}"


def _value(argument: Argument, span: str) -> str:
    return {
        "tile": f"{argument.name}{span}",
        "classes": f"{argument.name}{span}",
        "feature": f"{argument.name}[:]",
    }.get(argument.kind, argument.name)


@dataclass(frozen=True, slots=True)
class Case:
    """The arguments of one launch, as the kernel gets them."""

    row: Row
    dtype: str
    values: dict[str, np.ndarray | float]

    def exact(self) -> list[np.ndarray | float]:
        """The arguments in float64 (classes as they are)."""
        return [
            self.values[argument.name] if argument.kind in ("scalar", "classes") else exact(self.values[argument.name])
            for argument in self.row.arguments
        ]

    def expected(self) -> np.ndarray:
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            return self.row.twin(*self.exact())

    def bound(self) -> np.ndarray:
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            return self.row.bound(*self.exact())

    def by_torch(self) -> np.ndarray:
        arguments = [torch.from_numpy(value) if isinstance(value, np.ndarray) else value for value in self.exact()]
        return self.row.torch(*arguments).numpy()

    def run(self, execution: str) -> np.ndarray:
        before = {name: np.copy(value) for name, value in self.values.items()}
        result = compiled(kernel_text(self.row)).run(**self.values, device=execution).Result
        for name, value in self.values.items():
            assert np.asarray(value).tobytes() == before[name].tobytes(), f"{name} was modified"
        return result


def draw_case(row: Row, dtype: str, shape: tuple[int, int], seed: int = 0) -> Case:
    """Arguments of the row's domain; the same ones for the same row, shape and seed."""
    rng = np.random.default_rng([crc32(row.label.encode()), *shape, seed])
    values: dict[str, np.ndarray | float] = {}
    for argument in row.arguments:
        match argument.kind:
            case "scalar":
                values[argument.name] = argument.value
            case "classes":
                values[argument.name] = rng.integers(0, shape[1], (shape[0], 1)).astype(np.int32)
            case "feature":
                values[argument.name] = rounded(argument.draw(rng, (1, shape[1]))[0], "f32")
            case _:
                values[argument.name] = rounded(argument.draw(rng, shape), dtype)
    return Case(row, dtype, values)


@lru_cache(maxsize=4)
def known_case(row: Row, dtype: str, shape: tuple[int, int]) -> tuple[Case, np.ndarray, np.ndarray, np.ndarray]:
    """A drawn case with the twin's result, torch's and the bound: kept for the executions that follow each other."""
    case = draw_case(row, dtype, shape)
    return case, case.expected(), case.by_torch(), case.bound()
