"""Tint, Chrome's shader compiler, as a validator: `validate(wgsl)` gives its messages, empty when it accepts."""

from __future__ import annotations

import atexit
import functools
import json
import subprocess
import threading
from pathlib import Path

_SCRIPT = Path(__file__).with_name("tint_validate.mjs")
_lock = threading.Lock()


@functools.cache
def validate(wgsl: str) -> tuple[str, ...]:
    """Tint's messages for one text, each `line:column: error: words`; warnings count too. Made once per text."""
    with _lock:
        server = _server()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(wgsl) + "\n")
        server.stdin.flush()
        # Dawn prints warnings of its own between the answers, which start with a record separator.
        for line in server.stdout:
            if "\x1e" in line:
                return tuple(json.loads(line.partition("\x1e")[2]))
        _server.cache_clear()
    raise RuntimeError("the Tint server ended; is .drivers/node there? run `bash scripts/setup_drivers.sh tint`")


def assert_valid(wgsl: str) -> None:
    """Fails with Tint's messages and the numbered text where Tint refuses it; warnings alone pass."""
    messages = validate(wgsl)
    if any("error: " in message for message in messages):
        numbered = "\n".join(f"{number:4} {line}" for number, line in enumerate(wgsl.split("\n"), 1))
        raise AssertionError("Tint refuses the shader:\n" + "\n".join(messages) + "\n" + numbered)


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        ["node", str(_SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    atexit.register(server.kill)
    return server
