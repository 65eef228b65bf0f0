"""Kernels around one expression and its gradient, run by the interpreter, in double precision, and by torch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from tests.gradients.double import in_double
from tilec.driver import build_kernel, parse_file
from tilec.source import Source
from tilec.tile import interp, ir

ROWS = 4


@lru_cache(maxsize=512)
def build(text: str, name: str | None = None, constants: tuple = (), dtypes: tuple = ()) -> ir.Kernel:
    """A kernel of a source text, normalised, the verifier having looked at it after every pass."""
    loaded = parse_file(Source("test.ph", text))
    name = name or next(iter(loaded.signatures))
    return build_kernel(loaded.program, name, dict(dtypes), dict(constants), verify=True).kernel


@dataclass(frozen=True)
class Shape:
    """How an input is declared and read, for blocks of ROWS rows."""

    dims: tuple[str, ...]
    read: str

    def lanes(self, sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(sizes[dim] if dim in sizes else int(dim) for dim in self.dims)


SHAPES = {
    "tile": Shape(("M", "V"), f"[r :+ {ROWS}, :]"),
    "column": Shape(("M", "1"), f"[r :+ {ROWS}, :]"),
    "row": Shape(("V",), "[:]"),
    "scalar": Shape((), ""),
}
INPUTS = {"x": "tile", "y": "tile", "w": "row", "c": "column", "s": "scalar"}


def kernel_text(expression: str, wrt: str = "x", rows: bool = True, before: str = "") -> str:
    """`y = expression` of tiles x, y [R, V], a row w [V], a column c [R, 1], a scalar s, targets t; the gradient with
    respect to `wrt`. Without `rows` there is one block that takes everything."""
    start = f"ctx.block.x * {ROWS}" if rows else "0"
    spans = {name: SHAPES[kind].read for name, kind in INPUTS.items()}
    if not rows:
        spans = {name: span.replace(f"r :+ {ROWS}", ":") for name, span in spans.items()}
    out = SHAPES[INPUTS[wrt]]
    place = spans[wrt] if INPUTS[wrt] in ("tile", "column") else None
    reads = "".join(f"  let {name} = {name.upper()}{span}\n" for name, span in spans.items() if span)
    target = "r :+ 4" if rows else ":"
    parameters = (
        "X: tensor<f32>[M, V], Y: tensor<f32>[M, V], W: tensor<f32>[V], C: tensor<f32>[M, 1], T: tensor<i32>[M, 1], "
    )
    if place is None:
        dims = ", ".join(("ceildiv(M, 4)" if rows else "1", *(out.dims or ("1",))))
        index = "ctx.block.x" if rows else "0"
        place = f"[{index}, :]"
        value = "g[new, :]" if out.dims else "g"
    else:
        dims, value = ", ".join(out.dims), "g"
    return (
        f"kernel k({parameters}Out: tensor<f32>[{dims}], s: f32) {{\n  let r = {start}\n{reads}"
        f"  let t = T[{target}, :]\n{before}  let z = {expression}\n"
        f"  let g = grad(z, {wrt})\n  Out{place} = {value}\n}}\n"
    )


def draw(rng: np.random.Generator, rows: int, columns: int, scale: float = 1.0, positive: bool = False) -> dict:
    """Inputs by name."""
    sizes = {"M": rows, "V": columns}
    values: dict = {}
    for name, kind in INPUTS.items():
        value = rng.normal(size=SHAPES[kind].lanes(sizes)) * scale
        values[name] = (np.abs(value) + 0.1 if positive else value).astype(np.float32)
    values["t"] = rng.integers(0, columns, (rows, 1)).astype(np.int32)
    return values


def tensors_of(values: dict, dtype: type = np.float32) -> dict:
    tensors = {name.upper(): np.asarray(value, dtype) for name, value in values.items() if name not in ("s", "t")}
    return tensors | {"T": values["t"]}


def gradient(text: str, values: dict, wrt: str, *, double: bool = False) -> np.ndarray:
    """The gradient that the interpreter finds; per-block parts of what all blocks share are added."""
    kernel = build(text)
    rows, columns = values["x"].shape
    arguments = {"s": float(values["s"])}, {"M": rows, "V": columns}
    if double:
        with in_double():
            out = interp.run(kernel, tensors_of(values, np.float64), *arguments)["Out"]
    else:
        out = interp.run(kernel, tensors_of(values), *arguments)["Out"]
    shape = np.shape(values[wrt])
    return out if out.shape == shape else out.sum(axis=0).reshape(shape)


def by_torch(function, values: dict, wrt: str) -> np.ndarray:
    """The gradient of the sum in float64."""
    arguments = {
        name: torch.tensor(np.asarray(value), dtype=torch.float64 if np.asarray(value).dtype.kind == "f" else None)
        for name, value in values.items()
    }
    arguments["t"] = torch.as_tensor(values["t"], dtype=torch.int64)
    arguments[wrt].requires_grad_(True)
    function(**arguments).sum().backward()
    return arguments[wrt].grad.numpy()
