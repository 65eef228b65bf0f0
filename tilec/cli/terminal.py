"""What commands print: diagnostics with colour on a terminal only, or JSON, and failures in one line."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, TextIO

from tilec.text import json_text, printable

_LAYOUT = "\n"

class Failure(Exception):
    """Ends a command with a message and an exit code: 2 for wrong usage."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


def has_color(stream: TextIO) -> bool:
    """Whether to colour what goes to the stream: a terminal that can, and NO_COLOR is not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_error(message: str) -> None:
    """One line on standard error."""
    print(f"tilec: {printable(message, keep=_LAYOUT)}", file=sys.stderr)


def print_json(value: Any) -> None:
    """A JSON document on standard output."""
    print(json_text(value))


def diagnostics_json(diagnostics: Sequence[Any]) -> list[dict[str, object]]:
    """Diagnostics as JSON values; plain texts become messages."""
    from tilec.diag.render import to_json
    from tilec.diag.report import Diagnostic

    return [to_json(one) if isinstance(one, Diagnostic) else {"message": str(one)} for one in diagnostics]


def show_diagnostics(diagnostics: Sequence[Any]) -> None:
    """Diagnostics with source lines and carets, on standard error."""
    if diagnostics:
        from tilec.diag.render import render_all

        print(render_all(diagnostics, has_color(sys.stderr)), file=sys.stderr)


def report(error: Exception, as_json: bool = False) -> int:
    """Tells the user what went wrong and returns the exit code: 1 for a refusal, 70 for a bug of tilec."""
    from tilec.errors import CompileError, InternalError, TilecError

    if isinstance(error, CompileError):
        if as_json:
            print_json({"ok": False, "diagnostics": diagnostics_json(error.diagnostics)})
        elif all(isinstance(one, str) for one in error.diagnostics):
            for one in error.diagnostics:
                print_error(str(one))
        else:
            show_diagnostics(error.diagnostics)
        return 1
    is_diagnosed = isinstance(error, (TilecError, OSError)) and not isinstance(error, InternalError)
    message = _message(error) if is_diagnosed else f"{_internal(error)}; this is a bug of tilec, not of your program"
    if as_json:
        print_json({"ok": False, "error": message, "internal": not is_diagnosed})
    else:
        print_error(message)
    if not is_diagnosed and os.environ.get("TILEC_TRACEBACK"):
        traceback.print_exception(error)
    return 1 if is_diagnosed else 70


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or 'not accessible').lower()}"
    return str(error)


def _internal(error: Exception) -> str:
    text = str(error)
    return text if text.startswith("internal error") else f"internal error: {type(error).__name__}: {text}"
