"""Runs a debug build by every execution there is and compares what they tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.diff import tint
from tests.diff.harness import open_device
from tests.plan.harness import storage_dtype, to_words
from tilec import driver
from tilec.loop import interp as loop_interp
from tilec.options import Limits, Options
from tilec.runtime.debug import debug
from tilec.runtime.launch import Prepared, options_for
from tilec.runtime.log import empty_log, read_log
from tilec.source import Source
from tilec.tile import interp, ir
from tilec.tile.reports import LOG, Log
from tilec.types import DType

PLANS = {
    "naive": (Options(fusion=False, verify=True, threads=32), True),
    "grouped": (Options(verify=True), True),
    "grouped, dims unknown": (Options(verify=True), False),
    "for a CPU": (Options(verify=True, limits=Limits(is_cpu=True)), True),
}


def build(
    text: str, kernel: str | None = None, dtypes: Mapping[str, DType] | None = None, **constants: Any
) -> ir.Kernel:
    program = driver.parse_file(Source("case.ph", text)).program
    name = kernel or next(iter(program.kernels))
    return driver.build_kernel(program, name, dtypes, constants, verify=True, debug=True).kernel


def derive(text: str, wrt: Sequence[str], **how: Any) -> ir.Kernel:
    """The debug build of a gradient kernel."""
    program = driver.parse_file(Source("case.ph", text)).program
    derived, signature = driver.derive(program, next(iter(program.kernels)), wrt, **how)
    return driver.build_kernel(derived, signature.name, verify=True, debug=True).kernel


class Case:
    """A debug build with its arguments."""

    def __init__(self, kernel: ir.Kernel, arrays: Mapping[str, np.ndarray], **scalars: Any) -> None:
        """`scalars`: of parameters, and of dims that no array has."""
        self.kernel = kernel
        self.arrays = dict(arrays)
        self.dims = {name: scalars.pop(name) for name in kernel.dims if name in scalars}
        for tensor in kernel.tensors:
            for extent, size in zip(tensor.dims, self._shape(tensor.name), strict=False):
                if str(extent) in kernel.dims:
                    self.dims[str(extent)] = size
        defaults = {scalar.name: scalar.default for scalar in kernel.scalars}
        self.scalars = {**defaults, **kernel.constants, **scalars}
        integers = {**self.dims, **{name: value for name, value in self.scalars.items() if isinstance(value, int)}}
        x, y, z = (max(0, extent.evaluate(integers)) for extent in kernel.grid)
        self.grid = (x, y, z)

    def _shape(self, name: str) -> tuple[int, ...]:
        return self.arrays[name].shape if name in self.arrays else ()

    def interpreted(self) -> Log:
        log = Log()
        given = {name: array for name, array in self.arrays.items() if self.kernel.tensor(name).access != "out"}
        interp.run(self.kernel, given, self.scalars, self.dims, log=log)
        return log

    def _all_arrays(self) -> dict[str, np.ndarray]:
        return {
            tensor.name: self.arrays[tensor.name]
            if tensor.name in self.arrays
            else np.zeros([extent.evaluate(self.dims) for extent in tensor.dims], storage_dtype(tensor.dtype))
            for tensor in self.kernel.tensors
        }

    def on_loops(self, options: Options, known: bool, words: int = 1 << 16) -> Log:
        compiled = driver.compile_built(self.kernel, self.dims if known else None, options)
        tint.assert_valid(compiled.wgsl)
        program = compiled.program
        layout = program.log
        assert layout is not None
        arrays = self._all_arrays()
        buffers = {t.name: to_words(arrays[t.name], t.dtype) for t in self.kernel.tensors}
        buffers["scratch"] = loop_interp.make_scratch(program, self.dims, self.scalars)
        buffers[LOG] = empty_log(layout, words)
        loop_interp.run(program, buffers, loop_interp.evaluate_uniforms(program, self.dims, self.scalars))
        return read_log(layout, buffers[LOG], self.grid)

    def on_device(self, name: str) -> Log:
        device = open_device(name)
        compiled = driver.compile_built(self.kernel, self.dims, options_for(device))
        prepared = Prepared(compiled, device, self.dims, self.scalars)
        return debug(prepared, self.arrays, self.grid).log

    def check(self, devices: Sequence[str] = ()) -> Log:
        """Every execution tells the same. Gives what the specification tells."""
        expected = self.interpreted()
        for name, (options, known) in PLANS.items():
            assert_same(self.on_loops(options, known), expected, name)
        for name in devices:
            assert_same(self.on_device(name), expected, name)
        return expected


def assert_same(found: Log, expected: Log, name: str) -> None:
    assert found.lanes == expected.lanes, name
    assert len(found.records) == len(expected.records), name
    for one, other in zip(found.records, expected.records, strict=True):
        assert (one.site, one.block, one.index) == (other.site, other.block, other.index), name
        for left, right in zip(one.values, other.values, strict=True):
            assert type(left) is type(right), name
            assert _agree(left, right), f"{name}: {left!r} and {right!r} at {one.index} of block {one.block}"


def _agree(left: float, right: float) -> bool:
    if left == right or (left != left and right != right):
        return True
    return math.isclose(left, right, rel_tol=1e-5, abs_tol=1e-6)


def told(log: Log, kind: str) -> list[tuple[Any, ...]]:
    """Records of a kind as (text, block, index, values); of what is printed without how many there are."""
    most = 1 if kind == "print" else None
    return [(r.site.text, r.block, list(r.index), list(r.values)[:most]) for r in log.of_kind(kind)]
