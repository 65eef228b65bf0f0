"""The process: started with nothing it does not need, spoken to in lines of JSON, ended in time."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tilec.errors import SandboxError
from tilec.runtime.sandbox import confine
from tilec.runtime.sandbox.limits import Sandbox

PROGRAM = "from tilec.runtime.sandbox import child; child.main()"
"""What the process runs after `confine.begin`."""

_BOOT = """\
import sys
sys.path += sys.argv[4:]
from tilec.runtime.sandbox import confine
confine.begin(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
"""

_KEPT_VARIABLES = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What Python itself may need to start."""

_MOST_DIGITS = 20


class Exceeded(Exception):
    """A limit was reached: its text says which, as the end of a sentence."""


class Broken(Exception):
    """The process ended, or said what it should not."""


class Process:
    """One process. Everything that it does is over by the deadline, whatever it does."""

    def __init__(self, limits: Sandbox, program: str = PROGRAM) -> None:
        self.limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._unsent: queue.Queue[bytes | None] = queue.Queue()
        # Its folder: what a process of root is shut into, and where one that could write would.
        self._folder = tempfile.mkdtemp(prefix="tilec-sandbox-")
        try:
            self._process = subprocess.Popen(
                _command(limits, program),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._folder,
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
                close_fds=True,
                start_new_session=sys.platform != "win32",
            )
        except (OSError, ValueError) as error:
            self._remove_folder()
            raise SandboxError(f"the sandbox is a process of its own, and none can be started: {error}") from None
        # Threads, since a pipe can be waited for with a deadline in no other way on every system.
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError), self._process.stdout as stream:
            while True:
                line = stream.readline(self.limits.answer_bytes + 1)
                self._lines.put(line)
                if not line.endswith(b"\n"):
                    return
        self._lines.put(b"")

    def _write(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError), self._process.stdin as stream:
            while (line := self._unsent.get()) is not None:
                stream.write(line)
                stream.flush()

    def send(self, message: Mapping[str, Any]) -> None:
        """Passes a message on; does not wait until it is read."""
        self._unsent.put(json.dumps(message).encode() + b"\n")

    def receive(self) -> Mapping[str, Any]:
        """The next message. Raises Exceeded and Broken."""
        try:
            line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            raise Exceeded(f"{self.limits.seconds:g} seconds") from None
        if len(line) > self.limits.answer_bytes:
            raise Exceeded(f"{self.limits.answer_bytes:,} bytes of output")
        if not line.endswith(b"\n"):
            raise self._ended()
        try:
            message = json.loads(line, parse_int=_integer)
        except (ValueError, RecursionError):
            raise Broken("it answered what is no JSON") from None
        if not isinstance(message, dict):
            raise Broken("it answered what is no message")
        return message

    def _ended(self) -> Exception:
        """Why there is no more to read."""
        while not self._is_over():
            if time.monotonic() >= self._deadline:
                return Exceeded(f"{self.limits.seconds:g} seconds")
            time.sleep(0.002)
        self._kill()
        code = self._process.wait()
        if sys.platform != "win32" and code == -signal.SIGXCPU:
            return Exceeded(f"{self.limits.processor_seconds} seconds of the processor")
        return Broken(f"it ended without an answer ({_exit_text(code)})")

    def _is_over(self) -> bool:
        """Whether the process has ended. Its number stays its own, so that what it started can still be ended by it."""
        if hasattr(os, "waitid"):
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        return self._process.poll() is not None

    def _kill(self) -> None:
        """Ends the process and those of its group."""
        if self._process.returncode is None:
            with contextlib.suppress(OSError):
                if sys.platform != "win32":
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()

    def end(self) -> None:
        """Ends the process and what it may have started, and forgets it."""
        self._unsent.put(None)
        self._kill()
        self._process.wait()
        self._remove_folder()

    def _remove_folder(self) -> None:
        with contextlib.suppress(OSError):
            os.rmdir(self._folder)


def _command(limits: Sandbox, program: str) -> list[str]:
    """Python without the user's settings and without what is installed: tilec and lark are found where they are."""
    import lark

    if not sys.executable:
        raise SandboxError("the sandbox is a process of its own, and this Python does not know its executable")
    package = Path(confine.__file__).resolve().parents[3]
    homes = dict.fromkeys([str(package), str(Path(lark.__file__).resolve().parents[1])])
    numbers = [str(int(limits.memory_bytes)), str(int(limits.processor_seconds)), str(float(limits.seconds))]
    return [sys.executable, "-I", "-S", "-B", "-c", _BOOT + program, *numbers, *homes]


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number of too many digits")
    return int(text)


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {-code}, {signal.Signals(-code).name}"
    return f"signal {-code}"
