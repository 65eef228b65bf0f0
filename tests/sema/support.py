"""Builds kernels from text and runs them on the tile interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tilec.diag.report import Diagnostic, Reporter
from tilec.sema.infer import try_build_kernel
from tilec.sema.program import Program
from tilec.sema.resolve import load_program
from tilec.source import Source
from tilec.tile import interp, ir
from tilec.tile.verify import verify
from tilec.types import DTYPES, Extent, Symbol

STORAGE = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "u32": np.uint32, "i8": np.int8, "u8": np.uint8,
           "bool": np.bool_, "i64": np.int64}  # fmt: skip


def load(text: str) -> tuple[Program, Reporter]:
    reporter = Reporter()
    return load_program(Source("test.ph", text), reporter), reporter


def build(
    text: str, name: str | None = None, *, dtypes: Mapping[str, str] | None = None, **constants: Any
) -> ir.Kernel:
    """The kernel of the text (the only one, or by name), verified. Fails on any error."""
    kernel, found = attempt(text, name, dtypes=dtypes, **constants)
    assert kernel is not None, "\n".join(map(str, found))
    verify(kernel)
    return kernel


def attempt(
    text: str, name: str | None = None, *, dtypes: Mapping[str, str] | None = None, **constants: Any
) -> tuple[ir.Kernel | None, tuple[Diagnostic, ...]]:
    program, reporter = load(text)
    kernel = None
    chosen = {key: DTYPES[value] for key, value in (dtypes or {}).items()}
    for each in [name] if name else list(program.kernels):
        kernel = try_build_kernel(program, each, dtypes=chosen, constants=constants, reporter=reporter)
    return kernel, reporter.diagnostics


def codes(text: str, **constants: Any) -> list[str]:
    """The codes of everything reported for all kernels of the text."""
    return [diagnostic.code for diagnostic in attempt(text, **constants)[1]]


def run(text: str, tensors: Mapping[str, Any], *, name: str | None = None, dims: Mapping[str, int] | None = None,
        dtypes: Mapping[str, str] | None = None, constants: Mapping[str, Any] | None = None,
        **scalars: Any) -> dict[str, np.ndarray]:  # fmt: skip
    """What the kernel leaves in its outputs."""
    return run_kernel(build(text, name, dtypes=dtypes, **(constants or {})), tensors, dims, **scalars)


def run_kernel(
    kernel: ir.Kernel, tensors: Mapping[str, Any], dims: Mapping[str, int] | None = None, **scalars: Any
) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    known = dict(dims or {})
    for tensor in kernel.tensors:
        if tensor.name not in tensors:
            continue
        array = np.asarray(tensors[tensor.name], STORAGE[tensor.dtype.label])
        arrays[tensor.name] = array
        assert array.ndim == len(tensor.dims), tensor.name
        for extent, size in zip(tensor.dims, array.shape, strict=True):
            for symbol in kernel.dims:
                if extent == Extent.of(Symbol(symbol, "dim")):
                    assert known.setdefault(symbol, size) == size, symbol
    return interp.run(kernel, arrays, scalars, known)
