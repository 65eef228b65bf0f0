"""Source files from disk."""

from __future__ import annotations

from pathlib import Path

from tilec.diag import catalog
from tilec.diag.report import Reporter
from tilec.source import Source, Span
from tilec.syntax.parse import MAXIMUM_SIZE


def read_source(
    path: str | Path, reporter: Reporter, *, name: str | None = None, is_std: bool = False
) -> Source | None:
    """The text of a file, named `name` (its path otherwise). None after a report: nothing of its content is shown."""
    shown = name if name is not None else str(path)
    nowhere = Span(Source(shown, ""), 0, 0)
    try:
        with open(path, "rb") as file:
            content = file.read(4 * MAXIMUM_SIZE + 1)
    except (OSError, ValueError) as error:
        reporter.error(catalog.CANNOT_READ, nowhere, path=shown, reason=_reason(error))
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reporter.error(catalog.NOT_UTF8, nowhere, path=shown, offset=error.start)
        return None
    if len(text) > MAXIMUM_SIZE:
        size = str(len(text)) if len(content) <= 4 * MAXIMUM_SIZE else f"more than {len(text)}"
        reporter.error(catalog.SOURCE_TOO_LARGE, nowhere, size=size, limit=MAXIMUM_SIZE)
        return None
    return Source(shown, text, is_std)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if isinstance(error, PermissionError):
        return "not permitted"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "not a file name"
