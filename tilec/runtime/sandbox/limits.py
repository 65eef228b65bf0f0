"""What a compilation in a sandbox may use."""

from __future__ import annotations

from dataclasses import dataclass

_MOST_SECONDS = 10**9
_MOST_BYTES = 1 << 50


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Limits for one compilation: reading a program with its kernels, or compiling a kernel for a launch.

    seconds: by the clock, from the start of the process; then it is ended. Holds on every system.
    processor_seconds: of the processor. Holds on Linux and macOS.
    memory_bytes: of address space, the interpreter's own 100 MB or so included. Holds on Linux only: macOS takes the
    limit and does not keep it, Windows has none.
    answer_bytes: of one answer, as JSON text. Holds on every system.
    """

    seconds: float = 60.0
    processor_seconds: int = 60
    memory_bytes: int = 1 << 30
    answer_bytes: int = 16 << 20

    def __post_init__(self) -> None:
        for name in ("seconds", "processor_seconds", "memory_bytes", "answer_bytes"):
            value, most = getattr(self, name), _MOST_SECONDS if name.endswith("seconds") else _MOST_BYTES
            if not 0 <= value <= most:
                raise ValueError(f"{name} must be a number from 0 to {most:,}, not {value!r}")
