"""`tilec explain`: the long form of a diagnostic."""

from __future__ import annotations

import argparse

from tilec.cli.options import add_json_option, command_parser
from tilec.cli.terminal import Failure, print_json


def parser() -> argparse.ArgumentParser:
    result = command_parser(
        "explain",
        "Explains a diagnostic: what it means, a program that has it, and the fix. Without a code, lists all codes.",
        ["tilec explain E0312", "tilec explain"],
    )
    result.add_argument("code", nargs="?", metavar="CODE", help="a code such as E0312 or W0201")
    add_json_option(result)
    return result


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
