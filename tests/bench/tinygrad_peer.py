"""tinygrad's WEBGPU backend (Dawn) on the same work and the same driver: the cross-entropy and its gradient.

It runs as a process of its own, `python -m tests.bench.tinygrad_peer ROWS COLUMNS SECONDS`, since the Vulkan loader
picks its drivers once for a process. It needs the wheels `tinygrad` and `dawn-python`; without them the column stays
empty.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from tests.bench.measure import Contender, Timing, in_turn

_WARM = 4
"""Calls until everything is compiled and recorded."""


def tinygrad_library() -> Path | None:
    """Dawn's library in the wheel, None where either package is missing."""
    if importlib.util.find_spec("tinygrad") is None:
        return None
    found = importlib.util.find_spec("pydawn")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "lib" / f"libwebgpu_dawn_{platform.machine()}.so"
    return path if path.is_file() else None


def time_tinygrad(rows: int, columns: int, seconds: float, device: str) -> tuple[Timing, float] | None:
    """Its time, and the largest error of its gradient. None where it cannot run."""
    library = tinygrad_library()
    if library is None:
        return None
    is_swiftshader = "swiftshader" in device.casefold()
    # The runtime has told the loader about every software device (`announce_drivers`): here it sees this one alone.
    drivers = os.environ.get("VK_DRIVER_FILES", "").split(":")
    own = [one for one in drivers if one and ("swiftshader" in one.casefold()) == is_swiftshader]
    environment = {**os.environ, "DEV": "WEBGPU", "WEBGPU_PATH": str(library)}
    if own:
        environment |= {"VK_DRIVER_FILES": ":".join(own), "VK_ICD_FILENAMES": ":".join(own)}
    command = [sys.executable, "-m", "tests.bench.tinygrad_peer", str(rows), str(columns), str(seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"tinygrad: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    found = json.loads(done.stdout.splitlines()[-1])
    return Timing(found["wall"], found["processor"], found["thread"], found["runs"]), found["error"]


def _measure(rows: int, columns: int, seconds: float) -> dict[str, float]:
    import numpy as np
    from tinygrad import Device, Tensor, TinyJit  # pyright: ignore[reportMissingImports]

    from tests.bench.losses import draw_rows
    from tests.bench.peers import exact_training

    x, t = draw_rows(rows, columns)
    logits = Tensor(x).realize()
    logits.requires_grad = True
    target = Tensor(t[:, 0]).realize()

    @TinyJit
    def step(one: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
        one.grad = None
        loss = one.cross_entropy(classes, reduction="none")
        loss.sum().backward()
        assert one.grad is not None
        return loss.realize(), one.grad.realize()

    def run() -> None:
        step(logits, target)
        Device[Device.DEFAULT].synchronize()

    for _ in range(_WARM):
        run()
    gradient = step(logits, target)[1].numpy()
    error = float(np.abs(gradient - exact_training(x, t, 0.0, 0.0, 1.0)[1]).max())
    timing = in_turn({"tinygrad": Contender(run)}, seconds, least=5)["tinygrad"]
    clocks = {"wall": timing.wall, "processor": timing.processor, "thread": timing.thread}
    return {**clocks, "runs": timing.runs, "error": error}


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
