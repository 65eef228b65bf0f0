"""`tilec explain`: the long form of a diagnostic, or the schedule of a file's kernels."""

from __future__ import annotations

import argparse

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
    pairs,
)
from tilec.cli.terminal import Failure, print_json


def parser() -> argparse.ArgumentParser:
    result = command_parser(
        "explain",
        "Explains a diagnostic: what it means, a program that has it, and the fix. Without a code, lists all codes.\n"
        "For a .ph file, shows how its kernels will run: dispatches, sweeps, fences, where values live.",
        ["tilec explain E0312", "tilec explain", "tilec explain token_loss.ph --grad Logits"],
    )
    result.add_argument("code", nargs="?", metavar="CODE|FILE", help="a code such as E0312 or W0201, or a .ph file")
    result.add_argument("--kernel", metavar="NAME", help="only this kernel of the file")
    result.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="the size of a dim of the file")
    add_choice_options(result)
    add_gradient_options(result)
    add_json_option(result)
    return result


def _explain_file(options: argparse.Namespace) -> int:
    from tilec.driver import dump, parse_file

    loaded = parse_file(options.code)
    signatures = choose_kernels(loaded.signatures, options.kernel, options.code)
    program, signatures = derive_kernels(loaded.program, signatures, options)
    sizes = {name: integer(text, f"--dim {name}") for name, text in pairs(options.dim, "--dim").items()}
    chosen = dtypes(options.dtype)
    check_names(signatures, {"--dim": sizes, "--dtype": chosen, "--const": pairs(options.const, "--const")})
    plans = {}
    for signature in signatures:
        own = {name: size for name, size in sizes.items() if name in signature.dims}
        fixed = constants(options.const, signature)
        plans[signature.name] = dump(program, signature.name, "plan", chosen, fixed, own)
    if options.json:
        print_json(plans)
    else:
        print("\n".join(plans.values()).rstrip("\n"))
    return 0


def main(options: argparse.Namespace) -> int:
    from tilec.diag.catalog import ROWS
    from tilec.diag.render import explain

    if options.code is None:
        if options.json:
            print_json({code: row.message for code, row in ROWS.items()})
        else:
            for code, row in ROWS.items():
                print(f"{code}  {row.message}")
        return 0
    if options.code.endswith(".ph"):
        return _explain_file(options)
    code = options.code.strip().upper()
    if code not in ROWS:
        from difflib import get_close_matches

        near = get_close_matches(code, ROWS, n=3)
        hint = f"near it are {', '.join(near)}" if near else "`tilec explain` lists all"
        raise Failure(f"no diagnostic has the code {options.code}; {hint}")
    if options.json:
        row = ROWS[code]
        texts = {"message": row.message, "hint": row.hint, "explanation": row.explanation.strip()}
        print_json({"code": code, "severity": row.severity, **texts, "wrong": row.wrong, "right": row.right})
    else:
        print(explain(code).rstrip("\n"))
    return 0
