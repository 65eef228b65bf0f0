"""Trains a language model of single characters on the log of a lighthouse, through tilec's kernels.

    python examples/charlm/train.py [--device NAME] [--steps 1500] [--curve charlm.svg]

The loss and its gradient come from one kernel, which writes the gradient over the logits; the hidden layer's gradient
is derived too, and AdamW is a kernel of the same file. NumPy multiplies the matrices.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from model import Model, Text, windows
from picture import loss_curve

import tilec

TEXT = Path(__file__).with_name("text.txt")
CONTEXT, WIDTH, BATCH = 16, 160, 256
RATE, WARM_UP = 1e-2, 20
MISREAD = 0.1
UNSEEN_CHECKS = 10


class Progress:
    """A bar in a terminal; elsewhere a line for each tenth."""

    def __init__(self, total: int) -> None:
        self._total, self._is_terminal, self._tenth = total, sys.stdout.isatty(), -1

    def show(self, step: int, words: str) -> None:
        if self._is_terminal:
            filled = 30 * step // self._total
            end = "\n" if step == self._total else ""
            print(f"\r[{'#' * filled}{'.' * (30 - filled)}] step {step}/{self._total}  {words}", end=end, flush=True)
        elif 10 * step // self._total > self._tenth:
            self._tenth = 10 * step // self._total
            print(f"step {step:5d}/{self._total}  {words}", flush=True)


def open_device(name: str | None) -> tilec.Device | None:
    """The device asked for, or the best; None for the interpreter."""
    if name == "numpy":
        return None
    if name is not None:
        return tilec.device(int(name) if name.isdecimal() else name)
    try:
        return tilec.device()
    except tilec.DeviceError as error:
        print(f"{error}; running on the NumPy interpreter")
        return None


def train(steps: int, device: tilec.Device | None, curve: Path) -> tuple[float, float]:
    """Trains, prints and draws; gives the loss of a uniform guess and the one reached on unseen text."""
    text = Text(TEXT.read_text(encoding="utf-8"))
    guess = float(np.log(len(text.characters)))
    model = Model(len(text.characters), CONTEXT, WIDTH, device)
    rng = np.random.default_rng(0)
    unseen = windows(text.unseen, CONTEXT, np.arange(CONTEXT, len(text.unseen)))
    print(f"{len(text.train):,} characters of {len(text.characters)} kinds to train on, {len(text.unseen):,} unseen")
    progress = Progress(steps)
    losses: list[tuple[int, float]] = []
    checks = [(0, model.loss(*unseen))]
    for step in range(1, steps + 1):
        # A warm start, then down to a tenth along half a cosine wave.
        rate = RATE * min(1.0, step / WARM_UP) * (0.55 + 0.45 * np.cos(np.pi * step / steps))
        contexts, targets = windows(text.train, CONTEXT, rng.integers(CONTEXT, len(text.train), BATCH))
        # Some characters are misread, so that the model's own slips do not put it off when it writes.
        slips = rng.random(contexts.shape) < MISREAD
        contexts[slips] = rng.integers(0, len(text.characters), slips.sum())
        losses.append((step - 1, model.train(contexts, targets, float(rate))))
        if UNSEEN_CHECKS * step // steps > UNSEEN_CHECKS * (step - 1) // steps:
            checks.append((step, model.loss(*unseen)))
        progress.show(step, f"loss {losses[-1][1]:.3f}  on unseen text {checks[-1][1]:.3f}")
    reached = checks[-1][1]
    curve.write_text(loss_curve("Next-character loss of the lighthouse log", losses, checks, guess), encoding="utf-8")
    print(f"wrote {curve}")
    start = "2 April. "
    sample = model.sample(text.encode(f"all night.\n{start}")[-CONTEXT:], 400, temperature=0.7)
    print(f"\n{start}{text.decode(sample)}\n")
    print(f"loss of a uniform guess {guess:.3f}, loss reached on unseen text {reached:.3f} nats a character")
    return guess, reached


def main() -> int:
    """Trains and prints; 1 if a uniform guess would have done as well."""
    parser = argparse.ArgumentParser(description="A language model of single characters.")
    parser.add_argument(
        "--device", help="vulkan, swiftshader, numpy, an adapter's name or index; the best one if absent"
    )
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--curve", type=Path, default=Path("charlm.svg"), help="where to draw the loss (an SVG file)")
    options = parser.parse_args()
    guess, reached = train(max(1, options.steps), open_device(options.device), options.curve)
    return 0 if reached < guess else 1


if __name__ == "__main__":
    raise SystemExit(main())
