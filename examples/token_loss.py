"""The main job: compile token_loss.ph, run it on the best device at hand, and check it against NumPy in float64.

    python examples/token_loss.py [--device NAME]     NAME: vulkan, swiftshader, numpy (the interpreter), an index, ...

Without a Vulkan driver it says how to get one and runs on the interpreter.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import tilec

ROWS = (1, 100, 1000, 8192)
COLUMNS = 512
SOURCE = Path(__file__).with_name("token_loss.ph")


def draw_logits(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits as a language model's last layer gives them, and the tokens that came next.

    Common tokens score higher everywhere (a Zipf law), each row favours a few, and the rows differ in scale. The token
    is drawn from the row's own probabilities.
    """
    rng = np.random.default_rng(rows)
    common = -np.log(np.arange(1, COLUMNS + 1))
    favoured = 8.0 * (rng.random((rows, COLUMNS)) < 0.01)
    logits = common + favoured + rng.uniform(0.5, 3.0, (rows, 1)) * rng.standard_normal((rows, COLUMNS))
    noise = rng.gumbel(size=logits.shape)
    return logits.astype(np.float32), np.argmax(logits + noise, axis=1, keepdims=True).astype(np.int32)


def cross_entropy(logits: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The same in NumPy, in float64: log(sum(exp(x))) - x[target], a row."""
    x = logits.astype(np.float64)
    top = x.max(axis=1, keepdims=True)
    return top + np.log(np.exp(x - top).sum(axis=1, keepdims=True)) - np.take_along_axis(x, target, axis=1)


def choose_device(asked: str | None) -> str | int:
    """What was asked for; else "numpy" with a line that says why, if there is no device, or the best one's index."""
    if asked is not None:
        return int(asked) if asked.isdecimal() else asked
    try:
        return tilec.device().info.index
    except tilec.DeviceError as error:
        print(f"{error}; running on the NumPy interpreter")
        return "numpy"


def main() -> int:
    """Prints a line for each number of rows; 1 if an error is larger than the bound, 0 otherwise."""
    parser = argparse.ArgumentParser(description="Cross-entropy of real-looking logits, checked against NumPy.")
    parser.add_argument(
        "--device", help="vulkan, swiftshader, numpy, an adapter's name or index; the best one if absent"
    )
    device = choose_device(parser.parse_args().device)
    name = "NumPy interpreter" if device == "numpy" else str(tilec.device(device).name)
    kernel = tilec.compile(SOURCE).token_loss
    print(f"{'rows':>6} {'columns':>8} {'mean loss':>10} {'max error':>10} {'ms a call':>10}  device")
    worst = 0.0
    for rows in ROWS:
        logits, target = draw_logits(rows)
        loss = kernel(logits, target, device=device).Loss
        start = time.perf_counter()
        repeats = 3
        for _ in range(repeats):
            kernel(logits, target, device=device)
        milliseconds = (time.perf_counter() - start) / repeats * 1e3
        error = float(np.max(np.abs(loss - cross_entropy(logits, target))))
        worst = max(worst, error)
        print(f"{rows:>6} {COLUMNS:>8} {loss.mean():>10.4f} {error:>10.1e} {milliseconds:>10.2f}  {name}")
    # f32 holds about 7 digits, and WGSL's exp and log are right to a few units in the last place.
    good = worst <= 2e-5
    print(f"{'agrees' if good else 'DISAGREES'} with NumPy in float64")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
