"""`tilec compile`: WGSL and a manifest for each kernel of a file, or the text of one stage."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilec.cli.options import (
    add_choice_options,
    add_gradient_options,
    add_json_option,
    add_sandbox_options,
    check_names,
    choose_kernels,
    command_parser,
    constants,
    derive_kernels,
    dtypes,
    has_type,
    integer,
    pairs,
    sandboxed_compiler,
)
from tilec.cli.terminal import Failure, diagnostics_json, print_json, show_diagnostics
from tilec.text import json_text, printable

if TYPE_CHECKING:
    from tilec.driver import Loaded
    from tilec.runtime.cache import Build
    from tilec.sema.program import KernelSignature, Program


def parser() -> argparse.ArgumentParser:
    result = command_parser(
        "compile",
        "Writes KERNEL.wgsl, one entry point a dispatch, and the manifest KERNEL.json. Sizes given with --dim make\n"
        "further variants KERNEL.1.wgsl, ..., which the manifest guards; KERNEL.wgsl is right for all sizes.",
        [
            "tilec compile token_loss.ph -o build",
            "tilec compile token_loss.ph -o - --dtype Logits=f16",
            "tilec compile train.ph --kernel train_loss --dim V=32768,50257 --const alpha=0.0",
            "tilec compile token_loss.ph --grad Logits --in-place",
            "tilec compile train.ph --emit tile@raise_reductions",
        ],
    )
    result.add_argument("file", metavar="FILE", help="a .ph file")
    result.add_argument("-o", "--output", default=".", metavar="DIR", help="where to write (default .); - prints WGSL")
    result.add_argument("--kernel", metavar="NAME", help="only this kernel")
    result.add_argument(
        "--dim", action="append", default=[], metavar="NAME=SIZE[,SIZE]",
        help="a variant for this size of a dim (for each of several sizes)",
    )  # fmt: skip
    add_choice_options(result)
    add_gradient_options(result)
    result.add_argument(
        "--features", action="append", default=[], metavar="NAME", help="a WebGPU feature that the code may use"
    )
    result.add_argument("--emit", metavar="STAGE", help="print a stage: ast, tile, tile@PASS, plan, loop or wgsl")
    result.add_argument(
        "--debug", action="store_true",
        help="a debug build: what it asserts and prints goes into a log, which the manifest describes",
    )  # fmt: skip
    add_sandbox_options(result)
    add_json_option(result)
    return result


@dataclass(frozen=True, slots=True)
class Request:
    """What the options ask for, for one kernel."""

    build: Build
    program: Program
    warnings: Sequence[Any]
    """What reading the program warned about."""
    signature: KernelSignature
    dtypes: dict[str, Any]
    constants: dict[str, bool | int | float]
    dims: list[dict[str, int]]
    features: tuple[str, ...]


def main(options: argparse.Namespace) -> int:
    from tilec.driver import STAGES, parse_file
    from tilec.runtime.cache import Build

    if options.emit is not None and options.emit.partition("@")[0] not in STAGES:
        raise Failure(f"--emit takes {', '.join(STAGES)} or tile@PASS, not `{options.emit}`")
    compiler = sandboxed_compiler(options, options.file, debug=options.debug)
    if compiler is None:
        return _main(parse_file(options.file), options, Build(options.debug))
    if options.emit is not None:
        raise Failure("--emit shows what stays in the sandbox: leave one of the two out")
    with compiler.session():
        return _main(compiler.load(), options, Build(options.debug, sandbox=compiler))


def _main(loaded: Loaded, options: argparse.Namespace, build: Build) -> int:
    signatures = choose_kernels(loaded.signatures, options.kernel, options.file)
    program, signatures = derive_kernels(loaded.program, signatures, options, build)
    chosen, sizes = dtypes(options.dtype), pairs(options.dim, "--dim")
    check_names(signatures, {"--dtype": chosen, "--dim": sizes, "--const": pairs(options.const, "--const")})
    requests = [
        Request(
            build,
            program,
            loaded.warnings,
            signature,
            {name: dtype for name, dtype in chosen.items() if has_type(signature, name)},
            constants(options.const, signature),
            _combinations(sizes, signature.dims),
            tuple(itertools.chain.from_iterable(text.split(",") for text in options.features)),
        )
        for signature in signatures
    ]
    if options.emit is not None:
        return _emit(requests, options.emit)
    return _compile(requests, options)


def _combinations(sizes: Mapping[str, str], dims: Sequence[str]) -> list[dict[str, int]]:
    """Every combination of the sizes given for the kernel's dims; none if there are none."""
    own = {
        name: [integer(one, f"--dim {name}") for one in text.split(",")]
        for name, text in sizes.items()
        if name in dims
    }
    return [dict(zip(own, values, strict=True)) for values in itertools.product(*own.values())] if own else []


def _emit(requests: Sequence[Request], what: str) -> int:
    from tilec.driver import dump
    from tilec.options import Options

    for request in requests:
        dims = request.dims[0] if request.dims else None
        text = dump(
            request.program, request.signature.name, what, request.dtypes, request.constants, dims,
            Options(features=request.features), request.build.debug,
        )  # fmt: skip
        print(printable(text.rstrip("\n"), keep="\n"))
    return 0


def _compile(requests: Sequence[Request], options: argparse.Namespace) -> int:
    found: list[Any] = list(requests[0].warnings)
    written: dict[str, str] = {}
    kernels = []
    for request in requests:
        files, warnings = compile_request(request)
        found += warnings
        kernels.append({"kernel": request.signature.name, "files": [*files]})
        written |= files
    if not options.json:
        show_diagnostics(list({str(one): one for one in found}.values()))
    if options.output == "-":
        texts = [text for file, text in written.items() if file.endswith(".wgsl")]
        if options.json:
            print_json({"ok": True, "kernels": kernels, "files": written, "diagnostics": diagnostics_json(found)})
        else:
            print("\n".join(texts).rstrip("\n"))
        return 0
    _write(Path(options.output), written)
    if options.json:
        found_json = diagnostics_json(found)
        print_json({"ok": True, "kernels": kernels, "directory": options.output, "diagnostics": found_json})
    else:
        print(f"wrote {', '.join(written)} to {options.output}")
    return 0


def compile_request(request: Request) -> tuple[dict[str, str], tuple[Any, ...]]:
    """The texts of one kernel's files by name, its manifest last, and the warnings."""
    from tilec import __version__
    from tilec.export.manifest import manifest
    from tilec.options import Options

    name = request.signature.name
    variants_of, built = request.build.variants(request.program, request.signature, request.dtypes, request.constants)
    options = Options(features=request.features)
    general = variants_of.general(options)
    guarded: dict[tuple[str, ...], Any] = {}
    for dims in request.dims:
        compiled = variants_of.general(options, dims)
        if compiled.guards:
            guarded.setdefault(compiled.guards, compiled)
    variants = [(f"{name}.{number}.wgsl", one) for number, one in enumerate(guarded.values(), 1)]
    variants.append((f"{name}.wgsl", general))
    document = manifest(
        built.kernel,
        [(file, one.program, one.emitted) for file, one in variants],
        request.program.closure(),
        version=__version__,
        features=request.features,
    )
    # The unconditional one first: it is what a reader looks for.
    files = {file: one.wgsl for file, one in reversed(variants)}
    files[f"{name}.json"] = json_text(document) + "\n"
    return files, built.warnings


def _write(directory: Path, files: Mapping[str, str]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8", newline="\n")
