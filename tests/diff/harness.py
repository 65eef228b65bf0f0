"""Runs one kernel on given data by every execution there is, and says where one leaves the range of right results.

The right results are ranges (`ranges`): the specification interpreter with each operation's stated error carried along.
The other executions are the loop interpreter with its race checker under several plans, and the WGSL on devices. Every
text is judged by Tint, whoever calls this, not only under pytest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from tests.diff import backends, ranges, tint
from tests.diff.triples import Triple
from tests.diff.web import Output, WebDevice, dawn_device, page_device
from tests.plan.harness import from_words, storage_dtype, to_words
from tilec import driver
from tilec.cli.compile import Request, compile_request
from tilec.loop import interp as loop_interp
from tilec.options import Limits, Options
from tilec.runtime.cache import Build
from tilec.runtime.device import Device
from tilec.runtime.launch import Prepared, launch, options_for
from tilec.source import Source
from tilec.tile import ir
from tilec.types import DTYPES

Scalars = Mapping[str, "bool | int | float"]


class Disagreement(AssertionError):
    """An execution gave what no right implementation may give, or failed."""


@dataclass(frozen=True)
class Execution:
    """`device` None: the loop interpreter. `known`: the plan may rely on the dims' values. `device` "dawn:NAME" is Dawn
    on that driver, "chromium" a page. `own_limits`: the plan is for the options' limits, not for the device's.
    `shipped`: by the files that `tilec compile` writes and nothing else, with a variant for the dims if `known`."""

    name: str
    options: Options = field(default_factory=Options)
    known: bool = True
    device: str | None = None
    own_limits: bool = False
    shipped: bool = False


CPU = Options(limits=Limits(is_cpu=True))
LOOPS = (
    Execution("naive, dims unknown", Options(fusion=False, threads=64), known=False),
    Execution("naive, dims known", Options(fusion=False, threads=32)),
    Execution("grouped, dims unknown", Options(), known=False),
    Execution("grouped, dims known"),
    Execution("grouped for a CPU", CPU),
    Execution("grouped for a CPU, dims unknown", CPU, known=False),
    Execution("naive for a CPU", replace(CPU, fusion=False)),
    Execution("grouped, 32 threads", Options(threads=32)),
    Execution("grouped, 256 threads, dims unknown", Options(threads=256), known=False),
    Execution("grouped for a CPU, 64 threads", replace(CPU, threads=64)),
    Execution("subgroups of 4, 256 threads", Options(threads=256, limits=Limits(subgroup=4))),
    Execution("subgroups of 32, exp trusted", Options(limits=Limits(subgroup=32), trusted=("exp",)), known=False),
    Execution("subgroups for a CPU", replace(CPU, limits=Limits(is_cpu=True, subgroup=8), trusted=("exp",))),
    Execution("grouped, sweeps split, 16 threads", Options(threads=16, split=0)),
    Execution("rows in turn, 16 threads", Options(threads=16, rows=True)),
    Execution("rows in turn for a CPU", replace(CPU, rows=True)),
    Execution("grouped for a CPU, sweeps split, dims unknown", replace(CPU, split=0), known=False),
)
DEVICES = tuple(Execution(name, device=name) for name in (*backends.DEVICE_NAMES, f"dawn:{backends.DEVICE_NAMES[0]}"))
NAIVE_DEVICE = Execution("naive on a device", Options(fusion=False), known=False, device=backends.DEVICE_NAMES[0])
PAGE = Execution("a page of Chromium", known=False, device="chromium", shipped=True)
PAGE_VARIANT = Execution("a page of Chromium, dims known", device="chromium", shipped=True)
GENERAL_DEVICE = Execution("dims unknown on a device", known=False, device=backends.DEVICE_NAMES[0])


@cache
def open_device(name: str) -> Device:
    kind, _, driver_name = name.rpartition(":")
    if name == "chromium":
        return page_device()
    return dawn_device(driver_name) if kind == "dawn" else backends.open_device(name)


@dataclass(frozen=True, slots=True)
class Data:
    """What one launch gets: arrays in storage dtypes (of "out" tensors too), scalar parameters, every dim."""

    tensors: Mapping[str, np.ndarray]
    scalars: Scalars
    dims: Mapping[str, int]

    def __str__(self) -> str:
        shapes = ", ".join(f"{name}: {array.dtype}{list(array.shape)}" for name, array in self.tensors.items())
        return f"{shapes}; scalars {dict(self.scalars)}; dims {dict(self.dims)}"


@dataclass(frozen=True, slots=True)
class Gradient:
    """Of a subject: the derived kernel instead, with weights in a tensor. `loss` None: the only one there is."""

    wrt: tuple[str, ...]
    loss: str | None = None
    in_place: bool = False


class Subject:
    """A kernel for chosen dtypes and constants, with what was compiled of it. Raises CompileError for a bad program."""

    def __init__(
        self,
        text: str | Path,
        kernel: str | None = None,
        dtypes: Mapping[str, str] | None = None,
        constants: Scalars | None = None,
        name: str = "case.ph",
        gradient: Gradient | None = None,
    ) -> None:
        """`text`: a source text, or the path of a file."""
        self.text = text
        program = driver.parse_file(Source(name, text) if isinstance(text, str) else text).program
        name = kernel or next(iter(program.kernels))
        if gradient is not None:
            program, signature = driver.derive(
                program, name, gradient.wrt, gradient.loss, in_place=gradient.in_place, constants=constants
            )
            name = signature.name
        chosen = {parameter: DTYPES[dtype] for parameter, dtype in (dtypes or {}).items()}
        built = driver.build_kernel(program, name, chosen, constants, verify=True)
        self.kernel: ir.Kernel = built.kernel
        self.warnings = built.warnings
        self._request = Request(Build(), program, (), program.kernels[name], chosen, dict(constants or {}), [], ())
        self._compiled: dict[object, driver.Compiled] = {}
        self._files: dict[object, dict[str, str]] = {}

    def compiled(self, options: Options, dims: Mapping[str, int] | None) -> driver.Compiled:
        """Verified after every pass, and accepted by Tint."""
        options = replace(options, verify=True)
        key = options, None if dims is None else tuple(sorted(dims.items()))
        if key not in self._compiled:
            compiled = driver.compile_built(self.kernel, dims, options)
            tint.assert_valid(compiled.wgsl)
            self._compiled[key] = compiled
        return self._compiled[key]

    def files(self, dims: Mapping[str, int] | None) -> dict[str, str]:
        """What `tilec compile` writes for the kernel, with a variant for these dims."""
        key = None if dims is None else tuple(sorted(dims.items()))
        if key not in self._files:
            written, _ = compile_request(replace(self._request, dims=[] if dims is None else [dict(dims)]))
            for name, text in written.items():
                if name.endswith(".wgsl"):
                    tint.assert_valid(text)
            self._files[key] = written
        return self._files[key]

    # --- running ---------------------------------------------------------------------------------------------

    def expected(self, data: Data) -> dict[str, Triple]:
        """The ranges of right results, per tensor that is written. Raises ranges.Undecided."""
        given = {t.name: data.tensors[t.name] for t in self.kernel.tensors if t.access != "out"}
        return ranges.run(self.kernel, given, data.scalars, data.dims)

    def run(self, execution: Execution, data: Data) -> dict[str, np.ndarray]:
        if execution.device is None:
            return self._run_loops(execution, data)
        return self._run_shipped(execution, data) if execution.shipped else self._run_device(execution, data)

    def _all_scalars(self, data: Data) -> dict[str, bool | int | float]:
        defaults = {scalar.name: scalar.default for scalar in self.kernel.scalars if scalar.default is not None}
        return {**defaults, **self.kernel.constants, **data.scalars}

    def _run_loops(self, execution: Execution, data: Data) -> dict[str, np.ndarray]:
        program = self.compiled(execution.options, data.dims if execution.known else None).program
        scalars = self._all_scalars(data)
        words = {t.name: to_words(data.tensors[t.name], t.dtype) for t in self.kernel.tensors}
        words["scratch"] = loop_interp.make_scratch(program, data.dims, scalars)
        before = {t.name: words[t.name].copy() for t in self.kernel.tensors if t.access == "in"}
        loop_interp.run(program, words, loop_interp.evaluate_uniforms(program, data.dims, scalars))
        for name, array in before.items():
            if array.tobytes() != words[name].tobytes():
                raise Disagreement(f"the input {name} was written")
        return {t.name: from_words(words[t.name], data.tensors[t.name]) for t in self._written}

    def _run_device(self, execution: Execution, data: Data) -> dict[str, np.ndarray]:
        device = open_device(execution.device or "")
        options = execution.options
        if not execution.own_limits:
            given = {name: getattr(options, name) for name in ("fusion", "threads", "split", "rows")}
            options = replace(options_for(device), **given)
        compiled = self.compiled(options, data.dims if execution.known else None)
        prepared = Prepared(compiled, device, data.dims, self._all_scalars(data))
        arrays = {t.name: data.tensors[t.name] for t in self.kernel.tensors if t.access != "out"}
        return {name: array.numpy() for name, array in launch(prepared, arrays).items()}

    def _run_shipped(self, execution: Execution, data: Data) -> dict[str, np.ndarray]:
        web = open_device(execution.device or "")
        assert isinstance(web, WebDevice)
        return web.launch_shipped(
            self.files(data.dims if execution.known else None),
            f"{self.kernel.name}.json",
            {t.name: data.tensors[t.name] for t in self.kernel.tensors if t.access != "out"},
            {t.name: Output(data.tensors[t.name].dtype, data.tensors[t.name].shape) for t in self._written},
            {name: data.dims[name] for name in self.kernel.given_dims},
            data.scalars,
        )

    @property
    def _written(self) -> list[ir.TensorParameter]:
        return [tensor for tensor in self.kernel.tensors if tensor.access != "in"]

    # --- judging ---------------------------------------------------------------------------------------------

    def check(self, data: Data, executions: Iterable[Execution] = LOOPS + DEVICES) -> Outcome:
        """Runs everything and compares. Raises Disagreement; Undecided where nothing can be told."""
        expected = self.expected(data)
        for execution in executions:
            try:
                got = self.run(execution, data)
            except Exception as error:
                raise Disagreement(f"{execution.name}: {type(error).__name__}: {error}\n{data}\n{self.text}") from error
            for name, triple in expected.items():
                wrong = first_difference(triple, got[name])
                if wrong:
                    raise Disagreement(f"{execution.name}: {name}: {wrong}\n{data}\n{self.text}")
        lanes = sum(triple.value.size for triple in expected.values())
        silent = sum(int(triple.says_nothing.sum()) for triple in expected.values())
        return Outcome(lanes, silent)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many elements were compared, and of how many of those nothing was known."""

    lanes: int
    silent: int


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64) if array.dtype.kind not in "iub" else array


def first_difference(expected: Triple, got: np.ndarray) -> str:
    """What is wrong with a result, in words; empty if every element lies in its range."""
    if got.shape != expected.value.shape or got.dtype != expected.value.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {expected.value.dtype}{list(expected.value.shape)}"
    is_float = got.dtype.kind not in "iub"
    value, low, high = (wide(part) for part in (expected.value, expected.low, expected.high))
    there = wide(got)
    if is_float:
        triple = Triple(value, low, high)
        good = np.where(np.isnan(value), np.isnan(there), (there >= low) & (there <= high)) | triple.says_nothing
    else:
        good = (there >= low) & (there <= high)
    if good.all():
        return ""
    at = tuple(int(axis[0]) for axis in np.nonzero(~good))
    return (
        f"{np.count_nonzero(~good)} of {good.size} elements are wrong; at {list(at)} got {there[at]!r}, "
        f"right is {value[at]!r} ({low[at]!r} to {high[at]!r})"
    )


def zeros_for(kernel: ir.Kernel, dims: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Arrays of zeros for every tensor, to be filled."""
    return {
        tensor.name: np.zeros([extent.evaluate(dims) for extent in tensor.dims], storage_dtype(tensor.dtype))
        for tensor in kernel.tensors
    }
