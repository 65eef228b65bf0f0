"""A kernel of a file with types, sizes, scalars and drawn samples, for the commands that measure."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tilec.cli.options import (
    add_choice_options,
    add_gradient_options,
    check_names,
    choose_kernels,
    constants,
    derive_kernels,
    dtypes,
    has_type,
    integer,
    number,
    pairs,
)
from tilec.cli.terminal import Failure

if TYPE_CHECKING:
    import numpy as np

    from tilec.runtime.prepared import Prepared
    from tilec.tile.ir import Kernel

_SAMPLE_ELEMENTS = 1 << 20


def add_target_options(parser: argparse.ArgumentParser) -> None:
    """A file, a kernel of it, sizes, scalars, types and the device."""
    parser.add_argument("file", metavar="FILE", help="a .ph file")
    parser.add_argument("--kernel", metavar="NAME", help="which kernel, where the file has several")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="the size of a dim")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=NUMBER", help="a scalar's value")
    parser.add_argument("--device", metavar="DEVICE", help="a name or index that `tilec devices` shows")
    add_choice_options(parser)
    add_gradient_options(parser)


class Target:
    """What is measured: a built kernel with all that a launch needs but a plan."""

    def __init__(self, options: argparse.Namespace) -> None:
        from tilec.driver import build_kernel, parse_file
        from tilec.runtime.arguments import check_requirements
        from tilec.runtime.device import device as open_device

        loaded = parse_file(options.file)
        signatures = choose_kernels(loaded.signatures, options.kernel, options.file)
        if len(signatures) > 1:
            raise Failure(f"{options.file} has several kernels: --kernel {', '.join(one.name for one in signatures)}")
        self.program, signatures = derive_kernels(loaded.program, signatures, options)
        [signature] = signatures
        given = pairs(options.input, "--input")
        sizes = {name: integer(text, f"--dim {name}") for name, text in pairs(options.dim, "--dim").items()}
        chosen = dtypes(options.dtype)
        names = {"--input": given, "--dim": sizes, "--dtype": chosen}
        check_names(signatures, {**names, "--const": pairs(options.const, "--const")})
        self.dtypes = {name: dtype for name, dtype in chosen.items() if has_type(signature, name)}
        self.constants = constants(options.const, signature)
        self.kernel: Kernel = build_kernel(self.program, signature.name, self.dtypes, self.constants).kernel
        missing = [name for name in self.kernel.dims if name not in sizes]
        if missing:
            raise Failure(f"the size {missing[0]} is not known: --dim {missing[0]}=64")
        self.dims = {name: sizes[name] for name in self.kernel.dims}
        self.scalars = _scalars(self.kernel, given)
        check_requirements(self.kernel, self.dims, self.scalars)
        name = options.device
        self.device = open_device(int(name) if name is not None and name.isdecimal() else name)

    @property
    def title(self) -> str:
        """Such as `token_loss(M=64, V=512), Logits f16`."""
        sizes = ", ".join(f"{name}={size}" for name, size in self.dims.items())
        types = "".join(f", {name} {dtype}" for name, dtype in self.dtypes.items())
        return f"{self.kernel.name}({sizes}){types}"

    def samples(self) -> dict[str, np.ndarray]:
        """For each tensor that is read, elements to repeat: whole rows, drawn as `tilec run` does."""
        from tilec.cli.data import classes_of, draw

        inputs = [tensor for tensor in self.kernel.tensors if tensor.access != "out"]
        shapes = [tuple(dim.evaluate(self.dims) for dim in tensor.dims) for tensor in inputs]
        classes = classes_of(shapes)
        found = {}
        for seed, (tensor, shape) in enumerate(zip(inputs, shapes, strict=True)):
            row, size = shape[-1] if len(shape) > 1 else 1, 1
            for extent in shape:
                size *= extent
            rows = max(1, _SAMPLE_ELEMENTS // max(1, row))
            found[tensor.name] = draw("normal", (min(size, rows * row),), tensor.dtype, classes, seed)
        return found


def _scalars(kernel: Kernel, given: Mapping[str, str]) -> dict[str, Any]:
    from tilec.runtime.scalars import scalar_value

    found = dict(kernel.constants)
    for scalar in kernel.scalars:
        if scalar.name in kernel.constants:
            continue
        if scalar.name in given:
            try:
                value = number(given[scalar.name])
            except ValueError:
                raise Failure(f"--input {scalar.name}: `{given[scalar.name]}` is no number") from None
            found[scalar.name] = scalar_value(value, scalar.dtype, scalar.name)
        elif scalar.default is None:
            raise Failure(f"the scalar {scalar.name} has no default: --input {scalar.name}=1.0")
        else:
            found[scalar.name] = scalar.default
    tensors = {tensor.name for tensor in kernel.tensors}
    for name in given:
        if name in tensors:
            raise Failure(f"--input {name}: tensors are drawn; only scalars can be given")
    return found


def distinct(
    target: Target, plans: Mapping[str, Any], report: Callable[[str, int, int], None]
) -> tuple[dict[str, Prepared], dict[str, str]]:
    """The plans that give different code, prepared, and why others were refused, by name; `report(name, number, of)`
    is told before each."""
    from tilec.driver import compile_built
    from tilec.errors import CompileError, DeviceError
    from tilec.runtime.prepared import Prepared

    found: dict[str, Prepared] = {}
    texts: set[str] = set()
    refused: dict[str, str] = {}
    for place, (name, options) in enumerate(plans.items()):
        report(name, place, len(plans))
        try:
            compiled = compile_built(target.kernel, target.dims, options)
            if compiled.wgsl not in texts:
                found[name] = Prepared(compiled, target.device, target.dims, target.scalars)
            texts.add(compiled.wgsl)
        except (CompileError, DeviceError) as error:
            if not found:
                raise
            refused[name] = str(error).splitlines()[0]
    return found, refused
