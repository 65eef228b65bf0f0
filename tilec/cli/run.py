"""`tilec run`: one launch of a kernel on files or drawn numbers."""

from __future__ import annotations

import argparse
import io
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

from tilec.cli.options import (
    add_choice_options,
    add_gradient_options,
    add_json_option,
    check_names,
    choose_kernels,
    command_parser,
    constants,
    derive_kernels,
    dtypes,
    integer,
    number,
    pairs,
)
from tilec.cli.terminal import Failure, diagnostics_json, print_error, print_json, show_diagnostics
from tilec.text import printable


def parser() -> argparse.ArgumentParser:
    result = command_parser(
        "run",
        "Runs a kernel once and shows its results. Inputs are .npy files or drawn (normal, uniform, arange, zeros,\n"
        "ones), a scalar's input is its value. What is not given is drawn: floats normal, integers as class indices.",
        [
            "tilec run token_loss.ph --dim M=64",
            "tilec run token_loss.ph --input Logits=x.npy --input Target=t.npy --output Loss=loss.npy",
            "tilec run train.ph --kernel train_loss --dim M=64 --dim V=1003 --input alpha=0.1 --check",
            "tilec run token_loss.ph --dim M=64 --device numpy",
            "tilec run token_loss.ph --dim M=64 --grad Logits --check",
            "tilec run token_loss.ph --dim M=64 --debug",
            "tilec run token_loss.ph --dim M=4 --dim V=5 --device numpy --trace",
        ],
    )
    result.add_argument("file", metavar="FILE", help="a .ph file")
    result.add_argument("--kernel", metavar="NAME", help="which kernel, where the file has several")
    result.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="the size of a dim")
    result.add_argument("--input", action="append", default=[], metavar="NAME=DATA", help="a file, a draw or a number")
    result.add_argument("--output", action="append", default=[], metavar="NAME=FILE", help="write a result as .npy")
    result.add_argument("--device", metavar="DEVICE", help="numpy, or a name or index that `tilec devices` shows")
    result.add_argument("--check", action="store_true", help="compare with the NumPy interpreter")
    result.add_argument("--debug", action="store_true", help="assert and print; say where NaNs come from")
    result.add_argument("--trace", action="store_true", help="show every named value (needs --device numpy)")
    result.add_argument("--seed", type=int, default=0, help="of the drawn inputs (default 0)")
    result.add_argument(
        "--no-cache", action="store_true", help="compile anew, and keep nothing (as with TILEC_CACHE set to nothing)"
    )
    add_choice_options(result)
    add_gradient_options(result)
    add_json_option(result)
    return result


def main(options: argparse.Namespace) -> int:
    try:
        import numpy as np  # noqa: F401
    except ImportError:
        raise Failure('`tilec run` needs NumPy: pip install "tilec[cli]", or "tilec[gpu]" for devices', 1) from None
    import os

    from tilec.driver import parse_file
    from tilec.runtime.cache import Build
    from tilec.runtime.disk import choose_store
    from tilec.runtime.kernel import Kernel

    if options.trace and (options.device != "numpy" or options.json):
        raise Failure("--trace steps through the interpreter, for people: add --device numpy, without --json")
    if options.no_cache:
        os.environ["TILEC_CACHE"] = ""
    # Such as that there is no device: one line, not Python's two.
    warnings.showwarning = lambda message, *rest, **more: print_error(str(message))
    loaded = parse_file(options.file)
    signatures = choose_kernels(loaded.signatures, options.kernel, options.file)
    if len(signatures) > 1:
        raise Failure(f"{options.file} has several kernels: --kernel {', '.join(one.name for one in signatures)}")
    program, signatures = derive_kernels(loaded.program, signatures, options)
    [signature] = signatures
    given, saved = pairs(options.input, "--input"), pairs(options.output, "--output")
    sizes = {name: integer(text, f"--dim {name}") for name, text in pairs(options.dim, "--dim").items()}
    asked = dtypes(options.dtype)
    names = {"--input": given, "--output": saved, "--dim": sizes, "--dtype": asked}
    check_names(signatures, {**names, "--const": pairs(options.const, "--const")})
    kernel = Kernel(program, signature, build=Build(options.debug, choose_store(None)))
    fixed = constants(options.const, signature)
    if fixed:
        kernel = kernel.specialize(**fixed)
    if options.trace:
        kernel.write_steps = print
    if not options.json:
        show_diagnostics([*loaded.warnings, *kernel.check()])
    return _run(kernel, options, _Inputs(kernel, given, sizes, asked, options.seed), saved)


class _Inputs:
    """Arguments for a call: what was given, and drawn numbers for the rest."""

    def __init__(
        self, kernel: Any, given: Mapping[str, str], sizes: dict[str, int], asked: Mapping[str, Any], seed: int
    ) -> None:
        from tilec.cli.data import DRAWS, classes_of, draw, load
        from tilec.runtime.arguments import choose_dtypes, declared_shape, solve_dims

        files = {
            name: load(text, name)
            for name, text in given.items()
            if kernel.signature.parameter(name).kind == "tensor" and text not in DRAWS
        }
        chosen = choose_dtypes(kernel.signature, files, kernel._asked_dtypes(asked))
        built = self.built = kernel._variants(chosen).kernel
        shapes = {t.name: declared_shape(files[t.name], t) for t in built.tensors if t.name in files}
        missing = [name for name in built.dims if name not in sizes and not _is_said(name, built, shapes)]
        if missing:
            raise Failure(f"the size {missing[0]} is not known: --dim {missing[0]}=64, or --input with a .npy file")
        self.dims = solve_dims(built, shapes, sizes)
        inputs = [t for t in built.tensors if t.access != "out"]
        classes = classes_of([tuple(d.evaluate(self.dims) for d in t.dims) for t in inputs])
        self.values: dict[str, Any] = dict(self.dims)
        for place, tensor in enumerate(inputs):
            shape = tuple(dim.evaluate(self.dims) for dim in tensor.dims)
            if tensor.name in files:
                self.values[tensor.name] = files[tensor.name]
            else:
                how = given.get(tensor.name, "normal")
                self.values[tensor.name] = draw(how, shape, tensor.dtype, classes, seed + place)
        self.dtypes = {name: dtype.label for name, dtype in chosen.items()}
        for scalar in built.scalars:
            if scalar.name in built.constants:
                continue
            if scalar.name in given:
                self.values[scalar.name] = _scalar(given[scalar.name], scalar.name)
            elif scalar.default is None:
                raise Failure(f"the scalar {scalar.name} has no default: --input {scalar.name}=1.0")


def _is_said(name: str, built: Any, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    return any(str(dim) == name for tensor in built.tensors if tensor.name in shapes for dim in tensor.dims)


def _scalar(text: str, name: str) -> bool | int | float:
    try:
        return number(text)
    except ValueError:
        raise Failure(f"--input {name}: `{text}` is no number") from None


def _run(kernel: Any, options: argparse.Namespace, inputs: _Inputs, saved: Mapping[str, str]) -> int:
    from tilec.cli.data import compare, save, summary

    device = int(options.device) if (options.device or "").isdigit() else options.device
    start = time.perf_counter()
    with _told(options) as told:
        result = kernel(args=inputs.values, device=device, dtypes=inputs.dtypes)._asdict()
    seconds = time.perf_counter() - start
    for name in saved:
        if name not in result:
            raise Failure(f"--output {name}: the kernel does not write it; it writes {', '.join(result)}")
        save(saved[name], result[name], name)
    checks: dict[str, Any] = {}
    if options.check:
        kernel.write_steps = None
        with _told(options, to=io.StringIO()):
            expected = kernel(args=inputs.values, device="numpy", dtypes=inputs.dtypes)._asdict()
        types = {tensor.name: tensor.dtype for tensor in inputs.built.tensors}
        checks = {name: compare(array, expected[name], types[name]) for name, array in result.items()}
    is_ok = all(check["ok"] for check in checks.values())
    where = _where(device)
    if options.json:
        results = {name: summary(array) | ({"check": checks[name]} if checks else {}) for name, array in result.items()}
        diagnostics = diagnostics_json(kernel.check())
        facts: dict[str, Any] = {"ok": is_ok, "kernel": kernel.name, "device": where, "dims": inputs.dims}
        facts |= {"seconds": seconds, **({"told": told.getvalue().splitlines()} if options.debug else {})}
        print_json({**facts, "results": results, "diagnostics": diagnostics})
    else:
        sizes = ", ".join(f"{name}={size}" for name, size in inputs.dims.items())
        print(f"{kernel.name}({sizes}) on {where}, {seconds * 1000:.1f} ms with compiling")
        for name, array in result.items():
            show(name, summary(array), checks.get(name))
    return 0 if is_ok else 1


@contextmanager
def _told(options: argparse.Namespace, to: io.StringIO | None = None) -> Iterator[io.StringIO]:
    """What a debug build prints and warns of, kept where standard output is for something else."""
    kept = to or io.StringIO()
    if to is None and not (options.json and options.debug):
        yield kept
        return
    with redirect_stdout(kept), warnings.catch_warnings():
        warnings.showwarning = lambda message, *rest, **more: print(printable(str(message), keep="\n"))
        yield kept


def _where(device: Any) -> str:
    from tilec.errors import DeviceError
    from tilec.runtime.device import device as open_device

    if device == "numpy":
        return "the NumPy interpreter"
    try:
        return open_device(device).name
    except DeviceError:
        return "the NumPy interpreter"


def show(name: str, facts: Mapping[str, Any], check: Mapping[str, Any] | None) -> None:
    """Prints a line on a result, and one on how it compares."""
    spread = ", ".join(f"{key} {facts[key]:.6g}" for key in ("min", "mean", "max") if key in facts)
    odd = f", {facts['not_finite']} not finite" if "not_finite" in facts else ""
    first = ", ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in facts["first"])
    shape = ", ".join(map(str, facts["shape"]))
    print(f"  {name}: {facts['dtype']}[{shape}]  {spread}{odd}  first {first or 'nothing'}")
    if check is not None:
        verdict = "agrees with" if check["ok"] else "DIFFERS from"
        amounts = f"largest difference {float(check['largest']):.3g}, allowed {check['allowed']:.3g}"
        print(f"    {verdict} the interpreter: {amounts}")
