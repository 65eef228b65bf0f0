"""Options that several commands share, and what their texts mean."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tilec.cli.terminal import Failure
from tilec.types import DTYPES, DType

if TYPE_CHECKING:
    from tilec.runtime.cache import Build
    from tilec.runtime.sandbox.compiler import SandboxedCompiler
    from tilec.sema.program import KernelSignature, Program


def command_parser(name: str, description: str, examples: Sequence[str]) -> argparse.ArgumentParser:
    """A parser whose help ends with examples."""
    listed = "\n".join(f"  {example}" for example in examples)
    return argparse.ArgumentParser(
        prog=f"tilec {name}",
        description=description,
        epilog=f"examples:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_choice_options(parser: argparse.ArgumentParser) -> None:
    """The options that choose types and constants."""
    parser.add_argument(
        "--dtype", action="append", default=[], metavar="NAME=TYPE",
        help="the storage type of a parameter or type variable, such as Logits=f16",
    )  # fmt: skip
    parser.add_argument(
        "--const", action="append", default=[], metavar="NAME=VALUE",
        help="fix a scalar parameter, such as alpha=0.0: the code has it as a literal",
    )  # fmt: skip


def add_gradient_options(parser: argparse.ArgumentParser) -> None:
    """The options that ask for the gradient kernel of a kernel."""
    parser.add_argument(
        "--grad", action="append", default=[], metavar="NAME",
        help="the kernel that also computes the gradient of its losses' weighted sum with respect to this tensor",
    )  # fmt: skip
    parser.add_argument("--loss", metavar="NAME", help="with --grad: the losses, where several tensors are written")
    parser.add_argument("--in-place", action="store_true", help="with --grad: write the gradient over the tensor")
    parser.add_argument(
        "--upstream", choices=("tensor", "scalar"), help="with --grad: a weight for each loss (default), or one for all"
    )


def add_sandbox_options(parser: argparse.ArgumentParser) -> None:
    """The options that ask for a sandbox, and what it may use."""
    parser.add_argument(
        "--sandbox", action="store_true", help="compile in a process of its own, with limits: for strangers' sources"
    )
    parser.add_argument("--seconds", type=float, metavar="N", help="with --sandbox: time by the clock (default 60)")
    parser.add_argument("--memory", type=int, metavar="MIB", help="with --sandbox: address space (default 1024)")


def sandboxed_compiler(options: argparse.Namespace, file: str, *, debug: bool) -> SandboxedCompiler | None:
    """The sandbox that the options ask for. Raises Failure."""
    if not options.sandbox:
        for name in ("seconds", "memory"):
            if getattr(options, name) is not None:
                raise Failure(f"--{name} belongs to --sandbox")
        return None
    from pathlib import Path

    from tilec.runtime.sandbox.compiler import SandboxedCompiler
    from tilec.runtime.sandbox.limits import Sandbox

    given = {} if options.seconds is None else {"seconds": options.seconds}
    if options.memory is not None:
        given["memory_bytes"] = options.memory << 20
    try:
        return SandboxedCompiler(Path(file), Sandbox(**given), debug=debug)
    except ValueError as error:
        raise Failure(str(error)) from None


def derive_kernels(
    program: Program,
    signatures: Sequence[KernelSignature],
    options: argparse.Namespace,
    build: Build | None = None,
) -> tuple[Program, list[KernelSignature]]:
    """The gradient kernels that `--grad` asks for, or the kernels as they are. Raises Failure."""
    if not options.grad:
        for name in ("loss", "in_place", "upstream"):
            if getattr(options, name):
                raise Failure(f"--{name.replace('_', '-')} belongs to --grad NAME")
        return program, list(signatures)
    if len(signatures) > 1:
        raise Failure(f"--grad takes one kernel: --kernel {', '.join(one.name for one in signatures)}")
    from tilec.driver import derive

    [forward] = signatures
    fixed = constants(options.const, forward)
    program, signature = derive(
        program, forward.name, options.grad, options.loss, in_place=options.in_place,
        upstream=options.upstream or "tensor", constants=fixed,
        built=build.build(program, forward, {}, fixed).kernel if build is not None and options.loss is None else None,
    )  # fmt: skip
    return program, [signature]


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """`NAME=VALUE` texts as a mapping. Raises Failure."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise Failure(f"{option} takes NAME=VALUE, not `{text}`")
        if name in found:
            raise Failure(f"{option} is given twice for {name}")
        found[name] = value
    return found


def integer(text: str, what: str) -> int:
    """A size: a whole number of at least 0."""
    try:
        value = int(text.replace("_", ""), 10)
    except ValueError:
        raise Failure(f"{what}: `{text}` is no whole number") from None
    if not 0 <= value < 2**31:
        raise Failure(f"{what}: {value} is no size (0 to {2**31 - 1})")
    return value


def dtypes(texts: Iterable[str]) -> dict[str, DType]:
    """`--dtype` options."""
    found = {}
    for name, text in pairs(texts, "--dtype").items():
        if text not in DTYPES:
            raise Failure(f"--dtype {name}: no type is called `{text}`; there is {', '.join(DTYPES)}")
        found[name] = DTYPES[text]
    return found


def number(text: str) -> bool | int | float:
    """A scalar as it is written in the language, with a sign; `inf` and `nan` too. Raises ValueError."""
    if text in ("true", "false"):
        return text == "true"
    plain = text.replace("_", "")
    try:
        return int(plain, 0)
    except ValueError:
        return float(plain)


def constants(texts: Iterable[str], signature: KernelSignature) -> dict[str, bool | int | float]:
    """`--const` options for a kernel; those that name no scalar of it are left out. Raises Failure and ArrayError."""
    from tilec.runtime.scalars import scalar_value

    found = {}
    for name, text in pairs(texts, "--const").items():
        parameter = signature.parameter(name)
        if parameter is None or parameter.kind != "scalar":
            continue
        try:
            found[name] = scalar_value(number(text), parameter.alternatives[0], name)
        except ValueError:
            raise Failure(f"--const {name}: `{text}` is no number") from None
    return found


def has_type(signature: KernelSignature, name: str) -> bool:
    """Whether `--dtype NAME=...` is meant for this kernel."""
    return name in signature.type_variables or signature.parameter(name) is not None


def choose_kernels(kernels: Mapping[str, KernelSignature], name: str | None, file: str) -> list[KernelSignature]:
    """The kernel of that name, or all of them. Raises Failure."""
    if name is None:
        if not kernels:
            raise Failure(f"{file} has no kernel", 1)
        return list(kernels.values())
    if name not in kernels:
        from tilec.diag.report import did_you_mean

        hint = did_you_mean(name, kernels) or f"there is {', '.join(kernels) or 'none'}"
        raise Failure(f"{file} has no kernel `{name}`; {hint}")
    return [kernels[name]]


def check_names(signatures: Sequence[KernelSignature], given: Mapping[str, Iterable[str]]) -> None:
    """Refuses names that no chosen kernel has. `given` maps an option to the names that it was given."""
    known = {
        "--dim": {dim for one in signatures for dim in one.dims},
        "--dtype": {
            name
            for one in signatures
            for name in (*one.type_variables, *(p.name for p in one.parameters if p.kind == "tensor"))
        },
        "--const": {p.name for one in signatures for p in one.parameters if p.kind == "scalar"},
        "--input": {p.name for one in signatures for p in one.parameters},
        "--output": {p.name for one in signatures for p in one.parameters if p.kind == "tensor"},
    }
    for option, names in given.items():
        for name in names:
            if name not in known[option]:
                from tilec.diag.report import did_you_mean

                hint = did_you_mean(name, known[option]) or f"there is {', '.join(sorted(known[option])) or 'none'}"
                raise Failure(f"{option} {name}: no such name in {', '.join(one.name for one in signatures)}; {hint}")
