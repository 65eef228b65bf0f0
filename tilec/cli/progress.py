"""A progress bar on a terminal; nothing where the stream is no terminal."""

from __future__ import annotations

import shutil
from types import TracebackType
from typing import TextIO

_BAR = 24


class Progress:
    """One line that is written over; gone at the end. `stream` None: nothing is shown."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None

    def show(self, what: str, share: float) -> None:
        """`share` of the work is done, and `what` is next."""
        if self._stream is None:
            return
        full = round(_BAR * min(1.0, max(0.0, share)))
        line = f"[{'#' * full}{'.' * (_BAR - full)}] {what}"
        width = shutil.get_terminal_size().columns - 1
        self._stream.write(f"\r{line[:width].ljust(width)}")
        self._stream.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
            self._stream.flush()
