"""The errors that reach a caller: all of them are `TilecError`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class TilecError(Exception):
    """What every error of the public API inherits from. Anything else that escapes is a bug of tilec."""


class CompileError(TilecError):
    """A program that is not accepted. `diagnostics` holds what was found, in source order.

    `render` turns the diagnostics into text with source lines and carets; without it each one is shown by `str`.
    The text is made when it is asked for, because a caller that only counts errors should not pay for it.
    """

    def __init__(self, diagnostics: Sequence[object], render: Callable[[Sequence[object]], str] | None = None) -> None:
        super().__init__()
        self.diagnostics = tuple(diagnostics)
        self._render = render

    def __str__(self) -> str:
        if self._render is not None:
            return self._render(self.diagnostics)
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)


class ArrayError(TilecError):
    """An array or scalar argument that does not fit: shape, dtype, dims that disagree, aliasing."""


class DeviceError(TilecError):
    """No usable device, a device that lacks what was asked for, or words of the driver."""


class DeviceLostError(DeviceError):
    """The driver gave the device up (a reset, a removed card). Opened anew it works again; its arrays are gone."""


class DebugError(TilecError):
    """An `assert` of a debug build that failed, with its line, the elements and the values there. `log` is what the
    launch told, `results` what it gave all the same."""

    def __init__(self, message: str, log: Any = None, results: Any = None) -> None:
        super().__init__(message)
        self.log = log
        self.results = results


class SandboxError(TilecError):
    """The sandbox cannot be set up here, or what was compiled in one cannot do what was asked."""


class InternalError(TilecError):
    """A failure inside the compiler: a bug of tilec, never of the program. `stage` names the pass or the room."""

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(f"internal error in {stage}: {message}")
        self.stage = stage
