"""Trains a linear softmax classifier on scikit-learn's handwritten digits through a tilec kernel.

    python examples/digits/train.py [--device NAME] [--steps 200]

NumPy does the two matrix products; a kernel derived from that of the loss turns the logits into the losses and, in
place, into the gradient of their mean.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import tilec

SOURCE = Path(__file__).with_name("digits.ph")
CLASSES = 10
GOAL = 0.95


def load_data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pixels in 0 .. 1 with a 1 appended for the bias, `[N, 65]`, and classes `[N, 1]`: three quarters to train on, the
    rest to test."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    pixels = np.concatenate([digits.data / 16.0, np.ones((len(order), 1))], axis=1).astype(np.float32)[order]
    classes = digits.target.astype(np.int32)[order, None]
    cut = len(order) * 3 // 4
    return pixels[:cut], classes[:cut], pixels[cut:], classes[cut:]


def train(steps: int, device: str | int | None) -> float:
    """Gradient descent with momentum; prints the mean loss as it falls and gives the accuracy on unseen digits."""
    chosen = {} if device is None else {"device": device}
    step = tilec.compile(SOURCE).classifier_loss.grad(wrt="Logits", in_place=True, upstream="scalar")
    pixels, classes, unseen, unseen_classes = load_data()
    weights = np.zeros((pixels.shape[1], CLASSES), np.float32)
    velocity = np.zeros_like(weights)
    for number in range(steps + 1):
        result = step(Logits=pixels @ weights, Target=classes, DLoss=1.0 / len(pixels), **chosen)
        if number % 20 == 0:
            print(f"step {number:4d}  loss {result.Loss.mean():.4f}")
        velocity = 0.9 * velocity - 0.5 * (pixels.T @ result.Logits)
        weights += velocity
    return float(np.mean(np.argmax(unseen @ weights, axis=1) == unseen_classes[:, 0]))


def main() -> int:
    """Trains and prints; 1 if the accuracy stays below the goal."""
    parser = argparse.ArgumentParser(description="A linear classifier of handwritten digits.")
    parser.add_argument(
        "--device", help="vulkan, swiftshader, numpy, an adapter's name or index; the best one if absent"
    )
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    device = int(options.device) if options.device and options.device.isdecimal() else options.device
    accuracy = train(options.steps, device)
    print(f"accuracy on unseen digits {accuracy:.3f} (goal {GOAL})")
    return 0 if accuracy >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
