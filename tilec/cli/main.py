"""The command `tilec`: picks the command's module, and turns every failure into words and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tilec.cli.terminal import Failure, print_error, report

COMMANDS = {
    "compile": "compile a .ph file to WGSL and a manifest",
    "check": "report errors and warnings, write nothing",
    "run": "run a kernel on a device or on the interpreter",
    "devices": "list the devices of this machine and what is wrong with them",
    "explain": "explain a diagnostic's code in full, or how a file's kernels run and what they cost",
    "tune": "find the fastest plan of a kernel on a device, and remember it",
    "bench": "time a kernel on a device, beside a copy and other plans",
}

OK, DIAGNOSED, USAGE, INTERNAL = 0, 1, 2, 70

_HELP = """usage: tilec COMMAND [OPTIONS]

A compiler for a small tile language: .ph in, WebGPU shaders (WGSL) out.

commands:
{commands}

examples:
  tilec check token_loss.ph
  tilec compile token_loss.ph -o build
  tilec run token_loss.ph --dim M=64
  tilec explain E0312

`tilec COMMAND --help` shows a command's options and examples.
exit codes: 0 done, 1 the program, an array or the device was refused, 2 wrong usage, 70 a failure inside tilec
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code. Never raises for what a user can do."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(given)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader (`head`) has enough: point the stream at nothing, so that the flush at exit is silent too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return 130


def _run(given: list[str]) -> int:
    if not given or given[0] in ("-h", "--help", "help"):
        listed = "\n".join(f"  {name:9} {text}" for name, text in COMMANDS.items())
        print(_HELP.format(commands=listed), end="")
        return OK if given else USAGE
    if given[0] in ("-V", "--version"):
        from tilec import __version__

        print(f"tilec {__version__}")
        return OK
    name, rest = given[0], given[1:]
    if name not in COMMANDS:
        from tilec.diag.report import did_you_mean

        hint = did_you_mean(name, COMMANDS) or f"there is {', '.join(COMMANDS)}"
        print_error(f"no command is called `{name}`; {hint}")
        return USAGE
    return run_command(name, rest)


def run_command(name: str, rest: Sequence[str]) -> int:
    """Runs the command's `main(parsed)`, which returns an exit code."""
    from importlib import import_module

    command = import_module(f"tilec.cli.{name}")
    parser = command.parser()
    try:
        parsed = parser.parse_args(rest)
    except SystemExit as leaving:  # argparse has printed its message
        return int(leaving.code or 0)
    try:
        return command.main(parsed)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Failure as failure:
        print_error(str(failure))
        return failure.code
    except Exception as error:
        return report(error, as_json=getattr(parsed, "json", False))


if __name__ == "__main__":
    sys.exit(main())
