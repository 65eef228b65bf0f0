"""`tilec check`: errors and warnings of files, nothing written."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from tilec.cli.options import add_choice_options, add_json_option, command_parser, constants, dtypes, has_type
from tilec.cli.terminal import diagnostics_json, print_json, show_diagnostics


def parser() -> argparse.ArgumentParser:
    result = command_parser(
        "check",
        "Reports the errors and warnings of .ph files. Exit code 1 if there is an error.",
        ["tilec check token_loss.ph", "tilec check kernels/*.ph --json", "tilec check loss.ph --dtype Logits=f16"],
    )
    result.add_argument("files", nargs="+", metavar="FILE", help="a .ph file")
    add_choice_options(result)
    add_json_option(result)
    return result


def main(options: argparse.Namespace) -> int:
    found: list[Any] = []
    kernels: list[str] = []
    for file in options.files:
        names, diagnostics = _check(file, options)
        kernels += names
        found += diagnostics
    errors = [one for one in found if getattr(one, "severity", "error") == "error"]
    if options.json:
        print_json({"ok": not errors, "kernels": kernels, "diagnostics": diagnostics_json(found)})
        return 1 if errors else 0
    show_diagnostics(found)
    if not errors:
        print(f"ok: {', '.join(kernels) or 'no kernel'}")
    return 1 if errors else 0


def _check(file: str, options: argparse.Namespace) -> tuple[list[str], Sequence[Any]]:
    """The kernels of a file and everything found in it."""
    from tilec.driver import build_kernel, parse_file
    from tilec.errors import CompileError

    try:
        loaded = parse_file(file)
    except CompileError as error:
        return [], error.diagnostics
    chosen = dtypes(options.dtype)
    found: list[Any] = list(loaded.warnings)
    for name, signature in loaded.signatures.items():
        fixed = constants(options.const, signature)
        if any(p.is_const and p.default is None and p.name not in fixed for p in signature.parameters):
            continue  # checked where its constants are given
        own = {key: dtype for key, dtype in chosen.items() if has_type(signature, key)}
        try:
            found += build_kernel(loaded.program, name, own, fixed).warnings
        except CompileError as error:
            found += error.diagnostics
    return list(loaded.signatures), list({str(one): one for one in found}.values())
